/** Decides who may open a WebSocket to us: by the token first, then by the Host, the Origin, and the user of the process. */
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
  /** One of them is asked of everybody when there are any. */
  tokens: readonly Token[];
  /** Origins that may connect beside Obsidian's, each as `originOf` gives it. */
  allowOrigins: readonly string[];
  /** We listen on this machine alone. */
  isLoopback: boolean;
}

export interface Refused {
  status: 401 | 403 | 503;
  why: string;
}

/** Obsidian's plugins run in a page of this origin. */
const OBSIDIAN = "app://obsidian.md";

/** `token`: the client's own. */
export function refusal(
  { headers, headersDistinct }: Pick<IncomingMessage, "headers" | "headersDistinct">,
  token: Token | undefined,
  rules: Rules,
): Refused | undefined {
  if (rules.tokens.length > 0 && token === undefined) {
    return { status: 401, why: "A token is asked for: Authorization: Bearer TOKEN" };
  }
  // A name that a page made point to this machine is not one of ours.
  if (rules.isLoopback && !isLoopbackName(headers.host ?? ""))
    return { status: 403, why: `The host '${headers.host ?? ""}' is not this machine` };
  const why = originRefusal(headersDistinct["origin"] ?? [], rules.allowOrigins);
  return why === undefined ? undefined : { status: 403, why };
}

/** A browser sends one Origin and programs send none, so several are an attempt to pass for another page. */
function originRefusal([origin, ...more]: readonly string[], allowed: readonly string[]): string | undefined {
  if (origin === undefined) return undefined;
  if (more.length > 0) return `The origins '${[origin, ...more].join("', '")}' may not connect; send one Origin header, or none`;
  const exact = originOf(origin);
  if (exact === undefined)
    return `The origin '${origin}' may not connect; --allow-origin allows origins of the form scheme://host[:port] only`;
  if (exact === OBSIDIAN || allowed.includes(exact)) return undefined;
  return `The origin '${origin}' may not connect; --allow-origin ${exact} allows it`;
}

/** `scheme://host[:port]` in lower case, for comparison. Undefined for every other text: a path, a list, `null`. */
export function originOf(text: string): string | undefined {
  const match = /^[a-z][a-z0-9+.-]*:\/\/(?:\[[\da-f:.]+\]|[\w.~-]+)(?::(\d+))?$/i.exec(text);
  if (match === null || Number(match[1] ?? 0) > 65_535) return undefined;
  return text.toLowerCase();
}

/**
 * Without a token, a client of this machine must be our own user's. Root is another user, too: what forwards connections for others often
 * runs as root. Only Linux tells whose a connection is.
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

/** Hashed first and compared with all, so that the time tells nothing, not even the length. */
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
