/** `--audit FILE`: which file, what is known to be secret, and who hears when the disk is full. Loaded only where it is asked for. */
import { Redactor } from "../core/redact.js";
import type { Env, Loaded } from "../engine/config.js";
import { secretValues } from "../engine/environment.js";
import { secretsIn } from "../engine/message-secrets.js";
import { Audit } from "../transports/audit.js";
import { VERSION } from "./version.js";

/** `wire` names the dialects. Throws a fault that names the file when it cannot be written. */
export function openAudit(path: string, wire: Record<string, string>, { settings }: Pick<Loaded, "settings">, env: Env): Promise<Audit> {
  const argv = process.argv.slice(2);
  const { apiKey } = settings;
  const redactor = new Redactor([...secretValues(env), ...secretsIn({ args: argv }, env), ...(apiKey === undefined ? [] : [apiKey])]);
  return Audit.open(path, redactor.value({ format: 1, version: VERSION, ...wire, argv }), {
    secretsIn: (message) => secretsIn(message, env),
    onFailure: (why) => console.error(`parley: the audit file ${path} has gaps: ${why}`),
  });
}
