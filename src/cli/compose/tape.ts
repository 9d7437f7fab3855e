/** `--tape FILE`: opens the file, knows the secrets, and reports a full disk. Loaded only with the flag. */
import { Redactor } from "../../core/secrets/redact.js";
import { messageSecrets, secretsIn } from "../../core/secrets/message-secrets.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { Tape } from "../../transports/tape.js";
import { knownSecrets } from "./known-secrets.js";
import { VERSION } from "../version.js";

/** `wire` names the side and the dialects. Throws a fault that names the file when it is not writable. */
export function openTape(path: string, wire: Record<string, string>, loaded: Pick<Loaded, "settings">, env: Env): Promise<Tape> {
  const argv = process.argv.slice(2);
  const redactor = new Redactor([...knownSecrets(loaded, env), ...secretsIn({ args: argv }, env)]);
  return Tape.open(path, redactor.value({ format: 2, version: VERSION, ...wire, argv }), {
    secretsIn: (message) => messageSecrets(message, env),
    onFailure: (why) => console.error(`parley: the tape ${path} has gaps: ${why}`),
  });
}
