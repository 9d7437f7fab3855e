/** Decides who may open a WebSocket: checks the token first, then the Host, the Origin, and the user of the client's process. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIPv4, type Socket } from "node:net";
import { socketOwner } from "../os/socket-owner.js";

export interface Token {
  /** The name of the token's holder; sessions belong to that name. */
  owner: string | undefined;
  token: string;
}

export interface Rules {
  /** If there are any, each client must send one of them. */
  tokens: readonly Token[];
  /** Allowed origins beside Obsidian's, in the form of `originOf`. */
  allowOrigins: readonly string[];
  /** The server listens on this machine only. */
  isLoopback: boolean;
}

export interface Refused {
  status: 401 | 403 | 503;
  why: string;
}

/** Obsidian's plugins run in a page of this origin. */
const OBSIDIAN = "app://obsidian.md";

/** `token`: the token that the client sent. */
export function refusal(
  { headers, headersDistinct }: Pick<IncomingMessage, "headers" | "headersDistinct">,
  token: Token | undefined,
  rules: Rules,
): Refused | undefined {
  if (rules.tokens.length > 0 && token === undefined) {
    return { status: 401, why: "A token is asked for: Authorization: Bearer TOKEN" };
  }
  // Refuses host names: a web page can make any name point to this machine (DNS rebinding).
  if (rules.isLoopback && !isLoopbackName(headers.host ?? ""))
    return { status: 403, why: `The host '${headers.host ?? ""}' is not this machine` };
  const why = originRefusal(headersDistinct["origin"] ?? [], rules.allowOrigins);
  return why === undefined ? undefined : { status: 403, why };
}

/** A browser sends one Origin and other programs send none, so several are an attack. */
function originRefusal([origin, ...more]: readonly string[], allowed: readonly string[]): string | undefined {
  if (origin === undefined) return undefined;
  if (more.length > 0) return `The origins '${[origin, ...more].join("', '")}' may not connect; send one Origin header, or none`;
  const exact = originOf(origin);
  if (exact === undefined)
    return `The origin '${origin}' may not connect; --allow-origin allows origins of the form scheme://host[:port] only`;
  if (exact === OBSIDIAN || allowed.includes(exact)) return undefined;
  return `The origin '${origin}' may not connect; --allow-origin ${exact} allows it`;
}

/** `scheme://host[:port]` in lower case, for comparison. Undefined for any other text: a path, a list, `null`. */
export function originOf(text: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[\da-f:.]+\]|[\w.~-]+)(?::(\d+))?$/i.exec(text);
  if (match === null || Number(match[1] ?? 0) > 65_535) return undefined;
  return text.toLowerCase();
}

/**
 * Without a token, a client of this machine must be our own user's. Root counts as another user: programs that forward connections of
 * others often run as root. Only on Linux the user can be found out.
 */
export async function userRefusal(socket: Socket): Promise<Refused | undefined> {
  if (process.platform !== "linux") return undefined;
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  const uid = await socketOwner({ address: remoteAddress, port: remotePort }, { address: localAddress, port: localPort });
  const own = process.geteuid?.();
  if (uid !== undefined && uid === own) return undefined;
  const whose = uid === undefined ? "The user of this client is not known" : `This client runs as another user (uid ${uid})`;
  return { status: 403, why: `${whose}; without a token (--token-file) only the server's own user (uid ${own}) may connect` };
}

/** Tokens are hashed and compared with all, so that the time tells neither the content nor the length. */
export function tokenOf(authorization: string | undefined, tokens: readonly Token[]): Token | undefined {
  const given = digest((/^Bearer +(.*)$/i.exec(authorization ?? "")?.[1] ?? "").trim());
  return tokens.filter(({ token }) => timingSafeEqual(given, digest(token)))[0];
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** With or without a port. */
function isLoopbackName(host: string): boolean {
  return isLoopback(host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1"));
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}
