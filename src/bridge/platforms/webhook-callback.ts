/** Answers of the webhook: signed like the requests, and sent to an address that no message can change. */
import { neverLeft, reasonOf } from "./fetch-error.js";
import { signedHeaders } from "./signature.js";
import type { Delivery, Outgoing } from "./platform.js";

const ANSWER_MS = 15_000;
/** These statuses mean a later try; others from 400 on mean never. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429]);

/** The address must be encrypted or local, and must have no password, which logs would show. */
export function isCallbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(hostname));
}

/** Throws when the message may have arrived. */
export async function callBack(url: string, secret: string, message: Outgoing): Promise<Delivery> {
  const answer = await post(url, secret, message).catch((error: unknown) => {
    if (neverLeft(error)) return undefined;
    throw new Error(`the callback did not answer: ${reasonOf(error)}`, { cause: error });
  });
  return answer === undefined ? { status: "throttled" } : deliveryOf(answer);
}

async function post(url: string, secret: string, { key: id, ...rest }: Outgoing): Promise<Response> {
  const body = JSON.stringify({ id, ...rest });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": id, ...signedHeaders(secret, body) },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  await response.body?.cancel();
  return response;
}

function deliveryOf(response: Response): Delivery {
  if (response.ok) return { status: "sent" };
  if (LATER.has(response.status) || response.status === 503) {
    const seconds = Number(response.headers.get("retry-after") ?? "");
    return { status: "throttled", ...(seconds > 0 && { retryAfter: seconds * 1000 }) };
  }
  // A gateway may fail after the message has arrived.
  if (response.status >= 500) throw new Error(`the callback answered ${response.status}`);
  return { status: "rejected", reason: `the callback answered ${response.status}` };
}
