/** The endpoint of a configured server: the program to start, or the address, with variables filled in. */
import type { McpServer } from "../../../core/config.js";
import { ParleyError } from "../../../core/errors.js";
import { holdsMask } from "../../../core/secrets/redact.js";
import { fillVariables } from "../../../core/secrets/secrets.js";

export type Endpoint =
  | { kind: "stdio"; argv: string[]; env: Record<string, string> }
  /** `fallback`: an address that does not speak streamable HTTP may speak SSE. */
  | { kind: "http"; url: URL; headers: Record<string, string>; fallback: boolean }
  | { kind: "sse"; url: URL; headers: Record<string, string> }
  | { kind: "host" };

/** Throws a sentence that says what is wrong with the configuration. */
export function endpointOf(server: McpServer, env: Record<string, string | undefined>): Endpoint {
  if (holdsMask(JSON.stringify(server)))
    throw problem("its secrets are not kept with a session, so it was not started; give its configuration again");
  const fill = (text: string): string => fillVariables(text, (name) => env[name] ?? missing(name));
  const { type = server.command === undefined ? (server.url === undefined ? "" : "url") : "stdio" } = server;
  switch (type) {
    case "stdio":
      if (server.command === undefined) throw problem("it has no command");
      return { kind: "stdio", argv: [server.command, ...(server.args ?? []).map(fill)], env: filled(server.env, fill) };
    case "url":
    case "http":
    case "streamable-http":
      return { kind: "http", ...addressOf(server, fill), fallback: type === "url" };
    case "sse":
      return { kind: "sse", ...addressOf(server, fill) };
    case "host":
      return { kind: "host" };
    case "":
      throw problem("it has neither a command nor a url");
    default:
      throw problem(`its type '${type}' is none of stdio, http, streamable-http, sse and host`);
  }
}

function addressOf({ url = "", headers }: McpServer, fill: (text: string) => string): { url: URL; headers: Record<string, string> } {
  const address = URL.canParse(fill(url)) ? new URL(fill(url)) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol)) throw problem(`its url '${url}' is not an http or https address`);
  return { url: address, headers: filled(headers, fill) };
}

function filled(texts: Record<string, string> = {}, fill: (text: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
}

function missing(name: string): never {
  throw problem(`the environment variable ${name}, which its configuration names, is not set`);
}

function problem(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
