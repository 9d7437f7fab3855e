/** `parley login` and `parley logout`: the key of a provider is kept, or forgotten. */
import { nearest } from "../../core/text/nearest-word.js";
import { isProviderName, PROVIDERS, type ProviderInfo } from "../../core/providers/providers.js";
import { homeOf } from "../../os/files/home.js";
import { forgetKey, keepKey } from "../../settings/credentials.js";
import { loadSettings, type Env } from "../../settings/settings.js";
import { given, usage, type Parsed } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";
import { askHidden } from "./ask-hidden.js";

export async function login(parsed: Parsed, env: Env): Promise<number> {
  const { settings } = await loadSettings({ flags: {}, env, cwd: workingFolder() });
  const provider = await named(parsed, "login", Object.keys(settings.providers));
  const variable = settings.providers[provider]?.apiKeyEnv ?? infoOf(provider).keyVariable;
  const key = checked(await keyFor(provider));
  const where = await keepKey(settings.home, provider, key, given(parsed, "keyring") ? "keyring" : "file");
  process.stdout.write(`The key of ${provider} is kept in ${where}. 'parley logout ${provider}' forgets it.\n`);
  if (variable !== undefined && env[variable]) process.stderr.write(`parley: ${variable} is set here, and counts before it\n`);
  return 0;
}

export async function logout(parsed: Parsed, env: Env): Promise<number> {
  const [provider] = parsed.positionals;
  if (provider === undefined) throw usage("Which provider? parley logout PROVIDER");
  const isForgotten = await forgetKey(homeOf(env, workingFolder()), provider);
  if (!isForgotten) process.stderr.write(`parley: No key of '${provider}' is kept; 'parley doctor' tells which are\n`);
  else process.stdout.write(`The key of ${provider} is forgotten.\n`);
  return isForgotten ? 0 : 1;
}

/** The providers that take a key, in the order of the table. */
function withKeys(own: readonly string[]): string[] {
  return [...Object.entries(PROVIDERS).flatMap(([name, { keyVariable }]) => (keyVariable === undefined ? [] : [name])), ...own];
}

/** Providers that prove in another way who asks. */
const WITHOUT_KEYS: Readonly<Record<string, string>> = {
  bedrock: "Bedrock takes AWS's own credentials: set AWS_PROFILE, or run 'aws configure'",
  vertex: "Vertex AI takes Google's own credentials: run 'gcloud auth application-default login'",
  local: "A model server of your own needs no key; one that does is a provider of the config, with apiKeyEnv",
  rehearsal: "The rehearsal model needs no key",
};

async function named({ positionals: [provider] }: Parsed, command: string, own: readonly string[]): Promise<string> {
  const known = withKeys(own);
  if (provider === undefined) throw usage(`Which provider? parley ${command} PROVIDER, one of ${known.join(", ")}`);
  if (known.includes(provider)) return provider;
  const other = Object.hasOwn(WITHOUT_KEYS, provider) ? WITHOUT_KEYS[provider] : undefined;
  if (other !== undefined) throw usage(other);
  const meant = nearest(provider, known);
  throw usage(`There is no provider '${provider}'${meant === undefined ? "" : `; did you mean '${meant}'?`} (known: ${known.join(", ")})`);
}

function infoOf(provider: string): ProviderInfo {
  return isProviderName(provider) ? PROVIDERS[provider] : {};
}

async function keyFor(provider: string): Promise<string> {
  if (process.stdin.isTTY) return askHidden(`The key of ${provider} (it is not shown): `);
  const chunks: string[] = [];
  let size = 0;
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const text = String(chunk);
    size += text.length;
    if (size > LONGEST) throw usage(`More than ${LONGEST} characters came on stdin, and no key is as long`);
    chunks.push(text);
  }
  return chunks.join("");
}

const LONGEST = 16_384;

function checked(text: string): string {
  const key = text.trim();
  if (key === "") throw usage("There is no key: type it at a terminal, or pipe it in");
  if (/[^\x21-\x7e]/.test(key)) throw usage("The key holds a blank, a line break or another character that no key has; copy it again");
  return key;
}
