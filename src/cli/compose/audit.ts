/** `--audit FILE`: opens the file, knows the secrets, and reports a full disk. Loaded only with the flag. */
import { Redactor } from "../../core/redact.js";
import { parseJson } from "../../core/parse-json.js";
import { isRecord } from "../../core/json-object.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { secretValues } from "../../core/secrets.js";
import { secretsIn } from "./message-secrets.js";
import { Audit } from "../../transports/audit.js";
import { VERSION } from "../version.js";

/** `wire` names the dialects. Throws a fault that names the file when it is not writable. */
export function openAudit(path: string, wire: Record<string, string>, { settings }: Pick<Loaded, "settings">, env: Env): Promise<Audit> {
  const argv = process.argv.slice(2);
  const { apiKey } = settings;
  const redactor = new Redactor([...secretValues(env), ...secretsIn({ args: argv }, env), ...(apiKey === undefined ? [] : [apiKey])]);
  return Audit.open(path, redactor.value({ format: 1, version: VERSION, ...wire, argv }), {
    secretsIn: (message) => [...secretsIn(message, env), ...secretsIn(within(message), env)],
    onFailure: (why) => console.error(`parley: the audit file ${path} has gaps: ${why}`),
  });
}

/** JSON inside of a text, which redaction would not parse: a record of a line protocol, and links among the variables of a turn. */
function within(message: unknown): unknown[] {
  if (!isRecord(message)) return [];
  const { text, turn } = message;
  const variables = isRecord(turn) ? Object.values(turn) : [];
  return [text, ...variables].flatMap((value) => (typeof value === "string" && /^\s*[[{]/.test(value) ? [parseJson(value)?.json] : []));
}
