/** Who may open a WebSocket to us: the token first, then where the request came in, then which page sends it. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isIPv4 } from "node:net";

export interface Rules {
  /** Asked of everybody when there is one. */
  token?: string | undefined;
  /** Web pages that may connect, as `scheme://host[:port]`. */
  allowOrigins: readonly string[];
  /** We listen on this machine alone. */
  isLoopback: boolean;
}

export interface Refused {
  status: 401 | 403;
  why: string;
}

export function refusal(headers: IncomingHttpHeaders, rules: Rules): Refused | undefined {
  if (rules.token !== undefined && !bears(headers.authorization, rules.token)) {
    return { status: 401, why: "A token is asked for: Authorization: Bearer TOKEN" };
  }
  // A name that a page made point to this machine is not one of ours.
  if (rules.isLoopback && !isLoopbackName(headers.host ?? ""))
    return { status: 403, why: `The host '${headers.host ?? ""}' is not this machine` };
  const { origin } = headers;
  if (origin === undefined || isAllowed(origin, rules.allowOrigins)) return undefined;
  return { status: 403, why: `The origin '${origin}' may not connect; --allow-origin allows a page` };
}

/** Hashed first, so that the time tells nothing, not even the length. */
function bears(authorization: string | undefined, token: string): boolean {
  const given = /^Bearer +(.*)$/i.exec(authorization ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given.trim()), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Schemes of pages that a browser may have got from anywhere; no page can send the scheme of an application. */
const OF_PAGES: ReadonlySet<string> = new Set(["http", "https", "file", "ftp", "data", "blob", "about", "javascript"]);

function isAllowed(origin: string, allowed: readonly string[]): boolean {
  if (allowed.some((one) => one.toLowerCase() === origin.toLowerCase())) return true;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(origin)?.[1]?.toLowerCase();
  return scheme !== undefined && !OF_PAGES.has(scheme);
}

/** With or without a port. */
function isLoopbackName(host: string): boolean {
  return isLoopback(host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1"));
}

export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^::ffff:/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}
