/** A request through a proxy with the signature of `fetch`: text and bytes as the body; redirects of reads are followed. */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { proxyAgent } from "./proxy-agent.js";

const MOST_REDIRECTS = 5;
/** Responses with these statuses have no body, and the Response constructor refuses one. */
const BODILESS = new Set([204, 205, 304]);

const agents = new Map<string, ReturnType<typeof proxyAgent>>();

export async function fetchThrough(proxy: string, address: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  let url = new URL(address);
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(proxy, url, headers, init);
    const { location } = answer.headers;
    const { statusCode = 0 } = answer;
    const isRedirect = location !== undefined && [301, 302, 303, 307, 308].includes(statusCode);
    if (!isRedirect || init.redirect === "manual") return toResponse(answer);
    answer.destroy();
    if (init.redirect === "error" || redirects === MOST_REDIRECTS || !["GET", "HEAD", undefined].includes(init.method))
      throw new TypeError(`${url.origin} redirects to ${location}`);
    const next = new URL(location, url);
    if (next.origin !== url.origin) for (const name of ["authorization", "cookie"]) headers.delete(name);
    url = next;
  }
}

function ask(proxy: string, url: URL, headers: Headers, { method = "GET", body, signal }: RequestInit): Promise<IncomingMessage> {
  const sent = bodyOf(body);
  const key = `${url.protocol} ${proxy}`;
  const agent = agents.get(key) ?? proxyAgent(proxy, url.protocol);
  agents.set(key, agent);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const asking = send(url, { method, headers: Object.fromEntries(headers), agent, ...(signal != null && { signal }) });
    asking.once("response", resolve);
    asking.once("error", (error) => reject(error.name === "AbortError" ? error : new TypeError("fetch failed", { cause: error })));
    asking.end(sent);
  });
}

function bodyOf(body: RequestInit["body"]): string | Uint8Array | undefined {
  if (body === null || body === undefined) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("A body must be text or bytes");
}

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 200, statusMessage: statusText = "", rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  if (!BODILESS.has(status)) return new Response(Readable.toWeb(answer), { status, statusText, headers });
  answer.resume();
  return new Response(null, { status, statusText, headers });
}
