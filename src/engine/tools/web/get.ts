/**
 * One GET for the model or the host: only to permitted addresses, checked at the address that is really connected to, within limits of
 * time and size.
 */
import { lookup } from "node:dns";
import { lookup as lookupAll } from "node:dns/promises";
import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { messageOf, ParleyError } from "../../../core/errors.js";
import { proxyFor } from "../../../os/proxy/proxy.js";

const MAX_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;

export interface WebGetOptions {
  signal: AbortSignal;
  /** Decides about each address before the connection. */
  mayReach: (address: string) => boolean;
  /** 5 MiB by default. */
  maxBytes?: number;
  /** Redirects may lead to another host, whose addresses are checked, too. */
  anyHost?: boolean;
}

export interface WebPage {
  /** The address after all redirects. */
  url: URL;
  status: number;
  statusText: string;
  /** The content type from the server in lower case; "" if it gives none. */
  type: string;
  body: Uint8Array;
}

export async function webGet(address: string, options: WebGetOptions): Promise<WebPage> {
  let url = checkedUrl(address);
  for (let redirects = 0; ; redirects++) {
    if (redirects > MAX_REDIRECTS) throw webError(`${address} redirects more than ${MAX_REDIRECTS} times.`);
    const response = await ask(url, options);
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (![301, 302, 303, 307, 308].includes(status) || location === undefined) {
      const body = await readBody(response, url, options.maxBytes ?? MAX_BYTES);
      return { url, status, statusText: response.statusMessage ?? "", type: (response.headers["content-type"] ?? "").toLowerCase(), body };
    }
    response.destroy();
    const next = checkedUrl(location, url);
    // The host permitted this address and no other.
    if (next.host !== url.host && options.anyHost !== true)
      throw webError(`${url.href} redirects to another host: ${next.href}. Fetch that address itself if it is wanted.`);
    url = next;
  }
}

function checkedUrl(address: string, base?: URL): URL {
  if (!URL.canParse(address, base?.href)) throw webError(`'${address}' is not a URL.`);
  const url = new URL(address, base);
  if (!["http:", "https:"].includes(url.protocol)) throw webError(`${url.protocol} addresses cannot be fetched, only http and https.`);
  if (url.username !== "" || url.password !== "") throw webError(`The URL of ${url.host} contains a name or password; leave it out.`);
  return url;
}

async function ask(url: URL, { signal, mayReach }: WebGetOptions): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  // An IP address needs no lookup, so it is checked here.
  if (isIP(host) !== 0 && !mayReach(host)) throw notPublic(host);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const agent = await agentFor(url, mayReach);
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent,
      signal,
      headers: { "user-agent": "parley", accept: "text/html, text/*, application/json, */*;q=0.1", "accept-encoding": "identity" },
      lookup: checkedLookup(mayReach),
    });
    request.on("response", resolve);
    request.on("error", (error) => reject(asWebError(url, error)));
    request.end();
  });
}

/**
 * Behind a proxy, the proxy looks the name up and connects. A name that resolves to a private address here is refused; a name that only
 * the proxy knows is left to it, unless it can only be a machine of the local network.
 */
async function agentFor(url: URL, mayReach: WebGetOptions["mayReach"]): Promise<Agent | false> {
  const proxy = proxyFor(url);
  if (proxy === undefined) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await lookupAll(host, { all: true }).catch(() => undefined);
  const isNear = found === undefined && isIP(host) === 0 && (!host.includes(".") || /\.(?:local|internal|lan|home|corp)$/i.test(host));
  if (isNear || found?.every(({ address }) => !mayReach(address)) === true) throw notPublic(host);
  const { proxyAgent } = await import("../../../os/proxy/proxy-agent.js");
  return proxyAgent(proxy, url.protocol);
}

/** The connection goes to the checked address: a name that resolves differently later gains nothing. */
function checkedLookup(mayReach: WebGetOptions["mayReach"]): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "");
      const allowed = found.filter(({ address }) => mayReach(address));
      const [first] = allowed;
      if (first === undefined) return callback(notPublic(host), "");
      if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

async function readBody(response: IncomingMessage, url: URL, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response)) {
      const bytes: unknown = chunk;
      if (!Buffer.isBuffer(bytes)) continue;
      size += bytes.length;
      if (size > maxBytes) throw webError(`${url.href} sends more than ${maxBytes} bytes, which is the limit.`);
      chunks.push(bytes);
    }
  } catch (error) {
    throw asWebError(url, error);
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks, size);
}

/** The request asks for uncompressed bytes; some servers compress all the same. */
function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return response;
  const decoder = encoding === "br" ? createBrotliDecompress() : createUnzip();
  response.on("error", (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

function notPublic(host: string): ParleyError {
  return webError(`${host} is not on the open internet; private and local addresses are not fetched.`);
}

function asWebError(url: URL, error: unknown): ParleyError {
  if (error instanceof ParleyError) return error;
  return webError(`Could not fetch ${url.href}: ${messageOf(error)}`);
}

function webError(message: string): ParleyError {
  return new ParleyError({ code: "tool", message, retryable: false });
}
