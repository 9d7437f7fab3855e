/** How servers are asked over HTTP: with their own headers, and with a bound on what they may answer. */

import { proxiedFetch } from "../../../os/proxy/proxied-fetch.js";

/** Bytes of an answer, or of one line of a stream of events. */
const MAX_BYTES = 16 * 1024 * 1024;
const LF = 0x0a;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The headers are for the server alone: an authorization server elsewhere does not get them. */
export function fetchFrom({ origin }: URL, headers: Record<string, string>): Fetch {
  return async (url, init = {}) => {
    const sent = new Headers(init.headers);
    if (new URL(url).origin === origin) for (const [name, value] of Object.entries(headers)) if (!sent.has(name)) sent.set(name, value);
    return bounded(await proxiedFetch(url, { ...init, headers: sent }));
  };
}

function bounded(response: Response): Response {
  if (!response.ok || response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter(isStream)), { status, statusText, headers });
}

function counter(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = isStream ? chunk.lastIndexOf(LF) : -1;
      seen = end === -1 ? seen + chunk.length : chunk.length - end - 1;
      if (seen > MAX_BYTES) controller.error(new Error(`it answered with more than ${MAX_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
