/** Another try, where one makes sense: before anything came, for what the vendor or the network may do better next time. */
import { ParleyError } from "../../core/errors.js";
import type { Model, ModelPart, ModelRequest } from "./model.js";

const ATTEMPTS = 4;
/** No new try after so long, and never so much waiting in all. */
const WITHIN_MS = 60_000;
const FIRST_WAIT_MS = 500;

/** `attempt` of `maxAttempts` comes after `delayMs`; the first request does not count. `status` is that of the failure. */
export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  status?: number;
}

export interface RetryWatch {
  /** Whether output of this response has gone out: then a failure stands. */
  started(): boolean;
  onRetry(text: string, retry: Retry): void;
}

export async function* streamWithRetries(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  watch: RetryWatch,
): AsyncIterable<ModelPart[]> {
  const since = process.uptime();
  let waited = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      yield* model.stream(request, signal);
      return;
    } catch (error) {
      if (signal.aborted || watch.started() || attempt === ATTEMPTS || !isRetryable(error)) throw error;
      const { status } = error.fault;
      const wait = waitMs(error, attempt);
      waited += wait;
      if (waited > WITHIN_MS || (process.uptime() - since) * 1000 > WITHIN_MS) throw error;
      watch.onRetry(
        `${sentence(error.message)} Retrying${wait >= 1000 ? ` in ${Math.round(wait / 1000)} s` : ""} (${attempt}/${ATTEMPTS - 1})`,
        { attempt, maxAttempts: ATTEMPTS - 1, delayMs: Math.round(wait), ...(status !== undefined && { status }) },
      );
      await pause(wait, signal);
    }
  }
}

function isRetryable(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.fault.retryable === true;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The vendor's word, or a doubling wait with jitter, so that many agents do not come back at once. */
function waitMs(error: ParleyError, attempt: number): number {
  if (error.fault.retryAfter !== undefined) return error.fault.retryAfter * 1000;
  return FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
