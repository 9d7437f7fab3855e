/** Credentials for Google Cloud, found in the same places and order as by Google's own tools. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf, systemCode } from "../../../core/errors.js";
import { configFault } from "../access.js";

type Environment = Readonly<Record<string, string | undefined>>;

export type GoogleCredentials = { quotaProject?: string | undefined } & (
  | { kind: "service account"; email: string; key: KeyObject; keyId: string | undefined; tokenUri: string; secrets: string[] }
  | { kind: "user"; clientId: string; clientSecret: string; refreshToken: string; tokenUri: string; secrets: string[] }
  | { kind: "machine"; tokenUri: string; secrets: string[] }
);

/** The named file; else gcloud's own file; else the machine's account, on a machine of Google's. */
export async function findCredentials(env: Environment): Promise<GoogleCredentials> {
  const named = env["GOOGLE_APPLICATION_CREDENTIALS"];
  if (named) return credentialsIn(named, await textOf(named, `GOOGLE_APPLICATION_CREDENTIALS names '${named}'`));
  const usual = join(gcloudFolder(env), "application_default_credentials.json");
  const text = await readFile(usual, "utf8").catch(ignoreMissing);
  if (text !== undefined) return credentialsIn(usual, text);
  const machine = await machineAccount(env);
  if (machine !== undefined) return machine;
  throw configFault(
    "GOOGLE_APPLICATION_CREDENTIALS not set; name a credentials file with it, or run 'gcloud auth application-default login'",
    "apiKey",
  );
}

// --- files ---

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const filled = v.pipe(v.string(), v.nonEmpty());
const uri = v.optional(v.pipe(v.string(), v.url()), TOKEN_URI);

const ServiceAccount = v.looseObject({
  type: v.literal("service_account"),
  client_email: filled,
  private_key: filled,
  private_key_id: v.optional(v.string()),
  token_uri: uri,
});
const User = v.looseObject({
  type: v.literal("authorized_user"),
  client_id: filled,
  client_secret: filled,
  refresh_token: filled,
  token_uri: uri,
  quota_project_id: v.optional(v.string()),
});
const File = v.pipe(v.string(), v.parseJson(), v.looseObject({ type: v.string() }));

/** Messages never repeat the content of the file. */
function credentialsIn(path: string, text: string): GoogleCredentials {
  const file = v.safeParse(File, text);
  if (!file.success) throw configFault(`'${path}' is not a credentials file of Google Cloud: it is no JSON with a type`);
  switch (file.output.type) {
    case "service_account":
      return serviceAccount(path, checked(ServiceAccount, path, file.output));
    case "authorized_user":
      return user(checked(User, path, file.output));
    default:
      throw configFault(
        `The credentials in '${path}' are of the type '${file.output.type.slice(0, 40)}', which cannot be used here; ` +
          "use the key file of a service account, or run 'gcloud auth application-default login'",
      );
  }
}

function checked<T extends v.GenericSchema>(schema: T, path: string, file: unknown): v.InferOutput<T> {
  const parsed = v.safeParse(schema, file);
  if (parsed.success) return parsed.output;
  throw configFault(`The credentials in '${path}' are incomplete: ${v.getDotPath(parsed.issues[0]) ?? "a field"} is missing or wrong`);
}

function serviceAccount(path: string, file: v.InferOutput<typeof ServiceAccount>): GoogleCredentials {
  const { client_email: email, private_key_id: keyId, token_uri: tokenUri, private_key: key } = file;
  try {
    return { kind: "service account", email, key: createPrivateKey(key), keyId, tokenUri, secrets: [key] };
  } catch {
    throw configFault(`The private_key in '${path}' is not a key in PEM format; download the key file again`);
  }
}

function user(file: v.InferOutput<typeof User>): GoogleCredentials {
  const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken, token_uri: tokenUri } = file;
  const secrets = [clientSecret, refreshToken];
  return { kind: "user", clientId, clientSecret, refreshToken, tokenUri, secrets, quotaProject: file.quota_project_id };
}

async function textOf(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const why = systemCode(error) === "ENOENT" ? "which does not exist" : `which cannot be read: ${messageOf(error)}`;
    throw configFault(`${what}, ${why}`);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
  throw configFault(`The credentials of gcloud cannot be read: ${messageOf(error)}`);
}

function gcloudFolder(env: Environment): string {
  if (env["CLOUDSDK_CONFIG"]) return env["CLOUDSDK_CONFIG"];
  if (process.platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "gcloud");
  return join(env["HOME"] || homedir(), ".config", "gcloud");
}

// --- the machine's own account ---

/** Only on a machine of Google's: elsewhere the request would wait for nothing. */
async function machineAccount(env: Environment): Promise<GoogleCredentials | undefined> {
  if (env["METADATA_SERVER_DETECTION"] === "none") return undefined;
  const named = env["GCE_METADATA_HOST"];
  if (!named && !isServerless(env) && !(await isGoogleMachine())) return undefined;
  const host = named || "metadata.google.internal";
  return { kind: "machine", tokenUri: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`, secrets: [] };
}

function isServerless(env: Environment): boolean {
  return ["K_SERVICE", "CLOUD_RUN_JOB", "FUNCTION_NAME"].some((name) => env[name]);
}

async function isGoogleMachine(): Promise<boolean> {
  const vendor = await readFile("/sys/class/dmi/id/bios_vendor", "utf8").catch(() => "");
  return vendor.includes("Google");
}
