/** Finds the secrets in a message of any wire, so that the redactor knows them before the message is recorded. */
import { isRecord } from "../values/json-object.js";
import { parseJson } from "../values/parse-json.js";
import { secretsOf, serverSecrets } from "./secrets.js";

/** The secrets of a message, also in JSON inside its texts. */
export function messageSecrets(message: unknown, env: Record<string, string | undefined>): string[] {
  return [...secretsIn(message, env), ...secretsIn(within(message), env)];
}

/**
 * Values of fields with secret names (`apiKey`, `auth_token`), and the environments and headers of servers, also as lists of `{name,
 * value}`.
 */
export function secretsIn(message: unknown, env: Record<string, string | undefined>): string[] {
  if (typeof message !== "object" || message === null) return [];
  const fields = Object.entries(message);
  const own = fields.flatMap(([name, value]) => (typeof value === "string" ? secretsOf(asVariable(name), value) : []));
  const { args, url } = Object.fromEntries(fields);
  const server = {
    ...(Array.isArray(args) && { args: args.filter((arg) => typeof arg === "string") }),
    ...(typeof url === "string" && { url }),
    env: pairsIn(fields, "env"),
    headers: pairsIn(fields, "headers"),
  };
  return [...own, ...serverSecrets({ server }, env), ...fields.flatMap(([, value]) => secretsIn(value, env))];
}

/** `apiKey` is judged as the variable API_KEY. The word `key` alone is not enough: `{"key": "ArrowDown"}`. */
function asVariable(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return /^(?:keys?|token|pat|pwd)$/i.test(words) ? "" : words;
}

function pairsIn(fields: readonly [string, unknown][], field: string): Record<string, string> {
  const [, given] = fields.find(([name]) => name === field) ?? [];
  const pairs: [unknown, unknown][] = Array.isArray(given)
    ? given.flatMap((one: unknown) => (isPair(one) ? [[one.name, one.value] as [unknown, unknown]] : []))
    : Object.entries(typeof given === "object" && given !== null ? given : {});
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.every((text) => typeof text === "string")));
}

function isPair(one: unknown): one is { name: unknown; value: unknown } {
  return typeof one === "object" && one !== null && "name" in one && "value" in one;
}

/** JSON inside a text, which redaction does not parse: a record of a line protocol, or links in the variables of a turn. */
function within(message: unknown): unknown[] {
  if (!isRecord(message)) return [];
  const { text, turn } = message;
  const variables = isRecord(turn) ? Object.values(turn) : [];
  return [text, ...variables].flatMap((value) => (typeof value === "string" && /^\s*[[{]/.test(value) ? [parseJson(value)?.json] : []));
}
