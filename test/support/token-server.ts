/**
 * Google's token endpoint on loopback, with the credentials that it knows: a service account whose signature it checks, a user's
 * refresh token, and the account of the machine. It refuses what Google would refuse.
 */
import { generateKeyPairSync, verify, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { onTestFinished } from "vitest";

export interface TokenServer {
  url: string;
  /** One for each token that was asked for, granted or not. */
  grants: ("service account" | "user" | "machine")[];
  /** Files of credentials. */
  serviceAccount: string;
  user: string;
  privateKey: string;
  refreshToken: string;
  close(): Promise<void>;
}

/** `tokens` are given out one after the other, the last one again and again. */
export async function tokenServer(tokens: readonly string[], options: { expiresIn?: number; down?: number } = {}): Promise<TokenServer> {
  const { expiresIn = 3600, down } = options;
  const grants: TokenServer["grants"] = [];
  const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKey = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const refreshToken = "1//refresh-token-0123456789";

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  const url = `http://127.0.0.1:${address.port}`;
  const folder = mkdtempSync(join(tmpdir(), "parley-test-"));
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  const serviceAccount = join(folder, "service-account.json");
  const account = { type: "service_account", project_id: "other", private_key_id: "key-1", private_key: privateKey, client_email: EMAIL };
  writeFileSync(
    serviceAccount,
    JSON.stringify({ ...account, client_id: "1", token_uri: `${url}/token`, universe_domain: "googleapis.com" }),
  );
  const user = join(folder, "user.json");
  writeFileSync(user, JSON.stringify({ type: "authorized_user", ...CLIENT, refresh_token: refreshToken, token_uri: `${url}/token` }));
  return { url, grants, serviceAccount, user, privateKey, refreshToken, close };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const problem = problemOf(request, form);
    const status = down ?? (problem === undefined ? 200 : 400);
    response.writeHead(status, { "content-type": "application/json" });
    if (status !== 200) return void response.end(JSON.stringify({ error: "invalid_grant", error_description: problem ?? "Down" }));
    const access_token = tokens[Math.min(grants.length, tokens.length) - 1];
    response.end(JSON.stringify({ access_token, expires_in: expiresIn, token_type: "Bearer" }));
  }

  function problemOf(request: IncomingMessage, form: URLSearchParams): string | undefined {
    if (request.method === "GET" && request.url === "/computeMetadata/v1/instance/service-accounts/default/token") {
      grants.push("machine");
      return request.headers["metadata-flavor"] === "Google" ? undefined : "Missing Metadata-Flavor:Google header";
    }
    if (request.method !== "POST" || request.url !== "/token") return `There is no ${request.method} ${request.url}`;
    if (request.headers["content-type"] !== "application/x-www-form-urlencoded") return "No form";
    if (form.get("grant_type") === "refresh_token") {
      grants.push("user");
      const expected = { grant_type: "refresh_token", ...CLIENT, refresh_token: refreshToken };
      return sameFields(form, expected) ? undefined : "Bad refresh token";
    }
    grants.push("service account");
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return "Unknown grant type";
    return assertionProblem(form.get("assertion") ?? "", keys.publicKey, `${url}/token`);
  }

  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  }
}

const EMAIL = "agent@project-1.iam.gserviceaccount.com";
const CLIENT = { client_id: "client-1", client_secret: "client-secret-0123456789" };

const Header = v.strictObject({ alg: v.literal("RS256"), typ: v.literal("JWT"), kid: v.literal("key-1") });
const Claims = v.strictObject({
  iss: v.literal(EMAIL),
  scope: v.literal("https://www.googleapis.com/auth/cloud-platform"),
  aud: v.string(),
  iat: v.number(),
  exp: v.number(),
});

function assertionProblem(assertion: string, key: KeyObject, audience: string): string | undefined {
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  if (!verify("RSA-SHA256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))) return "Invalid JWT Signature.";
  const read = v.safeParse(v.tuple([Header, Claims]), [decoded(header), decoded(claims)]);
  if (!read.success) return `Invalid JWT: ${read.issues[0].message}`;
  const [, { aud, iat, exp }] = read.output;
  if (aud !== audience) return `Invalid JWT: aud is ${aud}`;
  const now = Date.now() / 1000;
  return iat > now + 5 || exp <= now || exp - iat > 3600 ? "Invalid JWT: iat and exp" : undefined;
}

function decoded(part: string): unknown {
  return JSON.parse(Buffer.from(part, "base64url").toString());
}

function sameFields(form: URLSearchParams, expected: Record<string, string>): boolean {
  return [...form].length === Object.keys(expected).length && Object.entries(expected).every(([name, value]) => form.get(name) === value);
}
