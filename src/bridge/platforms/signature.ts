/**
 * The signature of the webhook in both directions: HMAC-SHA256 over the time and the body, so that neither can be changed or sent much
 * later.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export const TIMESTAMP_HEADER = "x-parley-timestamp";
export const SIGNATURE_HEADER = "x-parley-signature";

/** The most that the sender's clock may be off, and the time for which a recorded request is valid. */
const WINDOW_SECONDS = 300;

export function signatureOf(secret: string, timestamp: string, body: string | Buffer): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")}`;
}

export function signedHeaders(secret: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  return { [TIMESTAMP_HEADER]: timestamp, [SIGNATURE_HEADER]: signatureOf(secret, timestamp, body) };
}

/** The reason why a request's headers are refused; undefined when the signature is the sender's and recent. */
export function signatureProblem(secret: string, timestamp: unknown, signature: unknown, body: Buffer): string | undefined {
  if (typeof timestamp !== "string" || !/^\d{1,12}$/.test(timestamp)) return `${TIMESTAMP_HEADER} must be the time in seconds`;
  if (typeof signature !== "string") return `${SIGNATURE_HEADER} is missing`;
  const expected = Buffer.from(signatureOf(secret, timestamp, body));
  const given = Buffer.from(signature);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return `${SIGNATURE_HEADER} is not that of this body and time`;
  return Math.abs(Date.now() / 1000 - Number(timestamp)) > WINDOW_SECONDS
    ? `${TIMESTAMP_HEADER} is more than ${WINDOW_SECONDS} seconds off`
    : undefined;
}
