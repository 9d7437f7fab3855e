/**
 * Remedies for failures that several rooms meet, in one place. The message of a missing key is short, because the protocols of others have it
 * so; people get the remedy behind it.
 */
import { type Fault, systemCode, systemReason } from "./errors.js";
import { PROVIDERS } from "./providers/providers.js";

/** The message of a fault, and the remedy where the message has none. */
export function withRemedy({ code, message, param }: Fault): string {
  const [, variable] = (code === "config" && param === "apiKey" && /^(\w+) not set$/.exec(message)) || [];
  return variable === undefined ? message : `${message}; ${keyRemedy(variable)}`;
}

function keyRemedy(variable: string): string {
  const provider = Object.entries(PROVIDERS).find(([, { keyVariable }]) => keyVariable === variable)?.[0] ?? "PROVIDER";
  return `set it, or keep the key with 'parley login ${provider}'; --provider rehearsal needs none`;
}

/** The remedy for a model server that could not be reached. */
export function connectionRemedy(thrown: unknown): string | undefined {
  const code = systemCode(thrown) ?? "";
  if (code === "ECONNREFUSED") return "nothing listens there: start the model server, or correct the address (--base-url)";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "check the address (--base-url) and the network; HTTPS_PROXY names a proxy";
  if (CERTIFICATE.test(code)) return "NODE_EXTRA_CA_CERTS names a file of certificates to trust, too";
  return UNREACHABLE.has(code) ? "check the network; HTTPS_PROXY names a proxy" : undefined;
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;
const UNREACHABLE: ReadonlySet<string> = new Set(["ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** The words for an error of the system, with its path and the remedy. `home` is PARLEY_HOME, which can be moved. */
export function systemTrouble(error: Error, home?: string): string {
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  const remedy =
    path !== undefined && home !== undefined && isWithin(path, home)
      ? "set PARLEY_HOME to a folder that you can write to"
      : REMEDIES[systemCode(error) ?? ""];
  return [path === undefined ? systemReason(error) : `${path}: ${systemReason(error)}`, ...(remedy === undefined ? [] : [remedy])].join(
    "; ",
  );
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`);
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: "check the path, or make the folder above it",
  ENOTDIR: "name another path",
  EACCES: "change its permissions, or name another path",
  EPERM: "change its permissions, or name another path",
  EROFS: "name a path that can be written",
  ENOSPC: "make room",
  EADDRINUSE: "choose another port, or 0 for a free one",
  EMFILE: "close files, or raise the limit (ulimit -n)",
};
