/** The provider errors that the rehearsal model can act out, with the words and the retry rule of real ones. */
import { ParleyError } from "../../../core/errors.js";
import type { Failure } from "./response.js";

const WORDS: Readonly<Record<number, string>> = {
  400: "The request is invalid",
  401: "Invalid API key",
  402: "The account has no credit left",
  403: "The key may not use this model",
  404: "The model was not found",
  408: "The request timed out",
  413: "The prompt is too long",
  429: "Rate limit exceeded",
  500: "Internal server error",
  502: "Bad gateway",
  503: "Service unavailable",
  504: "The gateway timed out",
  529: "Overloaded",
};

export function providerError(failure: Failure): ParleyError {
  const { status, retryAfter } = failure;
  if (status === undefined) return connectionLost(failure);
  const message = failure.message ?? WORDS[status] ?? `The provider answered with status ${status}`;
  return new ParleyError({
    code: failure.code ?? (status === 413 ? "context_overflow" : "provider"),
    message,
    status,
    retryable: failure.retryable ?? (status === 429 || status >= 500),
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

function connectionLost({ message = "The connection to the model was lost", code = "provider", retryable = true }: Failure): ParleyError {
  return new ParleyError({ code, message, retryable });
}

export function expectationFailed(what: string): ParleyError {
  return new ParleyError({ code: "provider", message: `rehearsal expectation failed: ${what}`, retryable: false });
}
