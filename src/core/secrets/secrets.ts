/** Finds the secrets in the environment and in the settings of MCP servers: tools do not get them, and the redactor must know them. */
import type { McpServer } from "../config.js";
import { holdsMask } from "./redact.js";
import { shapesIn } from "./secret-shapes.js";
import { connectionSecrets, credentialsIn, isConnection } from "./connection-strings.js";

/**
 * The environment without secrets: neither by name nor by shape nor by one of the known `secrets` in the value. Variables that `pass` names
 * stay: a `*` at the end of a name stands for any end.
 */
export function toolEnvironment(
  env: Record<string, string | undefined>,
  secrets: readonly string[],
  pass: readonly string[] = [],
): Record<string, string> {
  const known = secrets.filter((secret) => secret !== "");
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const isSecret = secretsOf(name, value).length > 0 || shapesIn(value).length > 0 || known.some((secret) => value.includes(secret));
    if (ALWAYS_KEPT.test(name) || isPassed(name, pass) || !(soundsSecret(name) || isSecret)) kept[name] = value;
  }
  return kept;
}

function isPassed(name: string, pass: readonly string[]): boolean {
  return pass.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

/** The values of variables with secret names, unless they are ordinary words, and passwords of connection strings. */
export function secretValues(env: Record<string, string | undefined>): string[] {
  const values = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined) for (const secret of secretsOf(name, value)) values.add(secret);
  }
  return [...values];
}

/** The secrets in a variable's value; secret-shapes.ts finds those with a shape. */
export function secretsOf(name: string, value: string): string[] {
  if (CONNECTION_NAME.test(name) && isConnection(value)) return connectionSecrets(value);
  const whole = soundsSecret(name) || CONNECTION_NAME.test(name) ? [value, ...headersIn(name, value)].filter(isTelling) : [];
  return [...whole, ...credentialsIn(value)];
}

/** The headers for a collector of traces, each by itself, and of "Bearer x" also the x: `name=value,…`, escaped as in addresses. */
function headersIn(name: string, value: string): string[] {
  if (!COLLECTOR_HEADERS.test(name)) return [];
  return value.split(",").flatMap((header) => {
    const sent = header.slice(header.indexOf("=") + 1).trim();
    const plain = decoded(sent);
    return [sent, plain, plain.replace(/^\w+ +/, "")].filter((text) => !isWords(text));
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the values that servers of tools or models get in their environment and headers, variables filled in; of a header "Bearer x" also
 * the x. Of their arguments and addresses it returns only the named secrets: `--api-key=x`, `--token x`, `?key=x`, `https://user:x@host`.
 */
export function serverSecrets(
  servers: Readonly<Record<string, Pick<McpServer, "env" | "headers" | "args" | "url">>>,
  env: Record<string, string | undefined>,
): string[] {
  const fill = (text: string): string => fillVariables(text, (variable) => env[variable] ?? "");
  const given = Object.values(servers).map(({ env: own = {}, headers = {}, args = [], url = "" }) => ({
    values: [...Object.entries(own), ...Object.entries(headers)].map(([name, text]) => ({ name, value: fill(text) })),
    flags: [...flagsIn(args.map(fill)), ...keysIn(fill(url))],
    args: args.map(fill),
  }));
  const whole = given.flatMap(({ values, flags }) => [
    ...values.filter(({ name, value }) => soundsSecret(name) || /authorization|cookie/i.test(name) || !isWords(value)),
    ...flags.filter(({ name }) => soundsSecret(name)),
  ]);
  const texts = whole.flatMap(({ value }) => [value, value.replace(/^\w+ +/, "")]).filter(isTelling);
  const passwords = given.flatMap(({ values, flags, args }) => [
    ...[...values, ...flags].flatMap(({ name, value }) => (CONNECTION_NAME.test(name) ? secretsOf(name, value) : credentialsIn(value))),
    ...args.flatMap(credentialsIn),
  ]);
  return [...new Set([...texts, ...passwords])].filter((value) => !holdsMask(value));
}

interface Given {
  name: string;
  value: string;
}

function flagsIn(args: readonly string[]): Given[] {
  return args.flatMap((arg, at) => {
    const [, name = "", value = args[at + 1] ?? ""] = /^-{1,2}(?!-|no-)([\w-]+)(?:=(.*))?$/s.exec(arg) ?? [];
    return value.startsWith("-") ? [] : [{ name: name.replaceAll("-", "_"), value }];
  });
}

function keysIn(url: string): Given[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [{ name: "password", value: password }, ...[...searchParams].map(([name, value]) => ({ name: name.replaceAll("-", "_"), value }))];
}

/** "production", "application/json", "read-only": settings, unless their name says otherwise. */
function isWords(value: string): boolean {
  return /^[A-Za-z]+(?:[ _./:-][A-Za-z]+)*$/.test(value);
}

/** `${NAME}` stands for a variable. */
export function fillVariables(text: string, valueOf: (name: string) => string): string {
  return text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => valueOf(name));
}

/** Without these a shell is of little use; the socket leads to keys but holds none, and a proxy's password is redacted all the same. */
const ALWAYS_KEPT = /^(?:PATH|SSH_AUTH_SOCK|(?:HTTPS?|FTP|ALL)_PROXY)$/i;

const WORD = "(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASSCODE|CREDENTIALS?)\\d*";
const WHOLE_WORD = "(?:CREDS?|COOKIES?|JWT|BEARER|AUTHORIZATION|WEBHOOK)";
const SECRET_NAME = new RegExp(
  `(?:^|_)(?:${WORD}|PASS|${WHOLE_WORD})(?:_|$)|${WORD}$|(?:^|_)(?:AUTH|PAT|PW)\\d*$|(?<!^(?:OLD)?)PWD\\d*$`,
  "i",
);

/** A string that may hold a password, or be one. */
const CONNECTION_NAME = /(?:^|_)(?:DATABASE_?UR[IL]|DB_?UR[IL]|DSN|CONN(?:ECTION)?_?STR(?:ING)?)$/i;

const COLLECTOR_HEADERS = /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/;

function soundsSecret(name: string): boolean {
  return SECRET_NAME.test(name) || COLLECTOR_HEADERS.test(name);
}

const SHORTEST = 8;

/** Redacting a path, a number or a short word would garble text that has nothing to do with the secret. */
function isTelling(value: string): boolean {
  return value.length >= SHORTEST && !isPath(value) && !/^[+-]?\d+(?:\.\d+)?$/.test(value);
}

/** A bare leading slash is not enough: keys in base64 begin with one, too. */
function isPath(value: string): boolean {
  return /^(?:~|\.{1,2}|[A-Za-z]:)[\\/]/.test(value) || /^\/[\w.@ -]+\/[\w.@ /-]*$/.test(value) || /^\/[\w@ -]+\.\w{1,8}$/.test(value);
}
