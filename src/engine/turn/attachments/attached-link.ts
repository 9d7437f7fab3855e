/**
 * Where a link that a host attached leads: to a page of the open internet, into the link itself (data), or to a file. Bounded in size and
 * time.
 */
import { fileURLToPath } from "node:url";
import { headOf } from "../../workspace/output.js";
import { MAX_FILE_BYTES } from "../../tools/files/text-file.js";

/** Time for one attachment, redirects included. */
const TIME_LIMIT_MS = 30_000;
/** Characters of a link that messages repeat. */
const SHOWN = 200;

/** A file lies where the workspace finds it; everything else is here. */
export type Linked = { path: string } | { bytes: Uint8Array };

export interface Following {
  signal: AbortSignal;
  /** Asked about every address before it is connected to; the open internet unless told otherwise. */
  mayReach?: (address: string) => boolean;
}

/** Throws why it cannot be followed. */
export async function followLink(uri: string, { signal, mayReach }: Following): Promise<Linked> {
  const scheme = /^[a-z][a-z\d+.-]*(?=:)/i.exec(uri)?.[0].toLowerCase();
  switch (scheme) {
    case "data":
      return { bytes: dataOf(uri) };
    case "file":
      return { path: fileURLToPath(uri) };
    case "http":
    case "https":
      return { bytes: await fetched(uri, signal, mayReach) };
    default:
      throw new Error("only http, https, file and data links can be followed");
  }
}

/** A link for messages: a data URL without its data, and cut to a length. */
export function shownLink(uri: string): string {
  if (/^data:/i.test(uri)) return `${uri.slice(0, Math.max(uri.indexOf(","), 5)).slice(0, SHOWN)},…`;
  return uri.length <= SHOWN ? uri : `${headOf(uri, SHOWN)}…`;
}

/** The name that a link gives the thing behind it. */
export function nameIn(uri: string): string | undefined {
  if (/^data:/i.test(uri) || !URL.canParse(uri)) return undefined;
  return new URL(uri).pathname.split("/").findLast((name) => name !== "");
}

async function fetched(uri: string, signal: AbortSignal, mayReach: Following["mayReach"]): Promise<Uint8Array> {
  const limit = AbortSignal.timeout(TIME_LIMIT_MS);
  const { webGet } = await import("../../tools/web/get.js");
  const { isPublicAddress } = await import("../../tools/web/public-address.js");
  try {
    const page = await webGet(uri, {
      signal: AbortSignal.any([signal, limit]),
      mayReach: mayReach ?? isPublicAddress,
      maxBytes: MAX_FILE_BYTES,
      anyHost: true,
    });
    if (page.status < 200 || page.status > 299) throw new Error(`${page.url.host} answered ${page.status} ${page.statusText}`.trim());
    return page.body;
  } catch (error) {
    throw limit.aborted ? new Error("it took too long", { cause: error }) : error;
  }
}

function dataOf(uri: string): Uint8Array {
  const comma = uri.indexOf(",");
  if (comma === -1) throw new Error("the data URL has no comma");
  if (uri.length > MAX_FILE_BYTES * 2) throw new Error(`it holds more than ${MAX_FILE_BYTES} bytes, which is the limit`);
  const data = uri.slice(comma + 1);
  const isBase64 = /;\s*base64\s*$/i.test(uri.slice(0, comma));
  const bytes = isBase64 ? Buffer.from(decodeURIComponent(data), "base64") : percentDecoded(data);
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`it holds more than ${MAX_FILE_BYTES} bytes, which is the limit`);
  return bytes;
}

/** Bytes, which need not be text. */
function percentDecoded(data: string): Buffer {
  const pieces = data.split(/((?:%[\da-f]{2})+)/i);
  return Buffer.concat(pieces.map((piece, at) => (at % 2 === 0 ? Buffer.from(piece) : Buffer.from(piece.replaceAll("%", ""), "hex"))));
}
