/** The provider errors that the rehearsal model can act out, with the words and the retry rule of real ones. */
import { ParleyError } from "../../../core/errors.js";
import type { Failure } from "./response.js";

/** `name` is how an order names the error; the first that fits counts. */
const ERRORS: readonly { status: number; message: string; name?: RegExp }[] = [
  { status: 429, message: "Rate limit exceeded", name: /rate[- ]?limit/i },
  { status: 529, message: "Overloaded", name: /overload/i },
  { status: 401, message: "Invalid API key", name: /auth|key/i },
  { status: 402, message: "The account has no credit left", name: /quota|credit/i },
  { status: 403, message: "The key may not use this model", name: /forbidden|permission/i },
  { status: 404, message: "The model was not found", name: /not found/i },
  { status: 413, message: "The prompt is too long", name: /too long|context/i },
  { status: 503, message: "Service unavailable", name: /unavailable|outage/i },
  { status: 504, message: "The gateway timed out", name: /time-?out/i },
  { status: 400, message: "The request is invalid", name: /invalid/i },
  { status: 408, message: "The request timed out" },
  { status: 500, message: "Internal server error" },
  { status: 502, message: "Bad gateway" },
];

/** The status that the words give as a number or by name, else 500; undefined for a lost connection. */
export function statusNamed(words: string): number | undefined {
  const code = /\b[45]\d\d\b/.exec(words)?.[0];
  if (code !== undefined) return Number(code);
  const named = ERRORS.find(({ name }) => name?.test(words))?.status;
  return named ?? (/network|connection/i.test(words) ? undefined : 500);
}

export function providerError(failure: Failure): ParleyError {
  const { status, retryAfter } = failure;
  if (status === undefined) return connectionLost(failure);
  const message =
    failure.message ?? ERRORS.find((error) => error.status === status)?.message ?? `The provider answered with status ${status}`;
  return new ParleyError({
    code: failure.code ?? (status === 413 ? "context_overflow" : "provider"),
    message,
    status,
    retryable: failure.retryable ?? ([408, 409, 425, 429].includes(status) || status >= 500),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

function connectionLost({ message = "The connection to the model was lost", code = "provider", retryable = true }: Failure): ParleyError {
  return new ParleyError({ code, message, retryable });
}

export function expectationFailed(what: string): ParleyError {
  return new ParleyError({ code: "provider", message: `rehearsal expectation failed: ${what}`, retryable: false });
}
