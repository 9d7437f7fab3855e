/** Retries a request after a failure that may not happen again. */
import { ParleyError } from "../../core/errors.js";
import { RETRIES, RETRY_SECONDS } from "../../core/limits.js";
import type { Model, ModelPart, ModelRequest } from "./model.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** The retries if another model can answer instead. */
const RETRIES_BEFORE_FALLBACK = 3;

/** `attempt` of `maxAttempts` comes after `delayMs`; the first request does not count. `status` is that of the failure. */
export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  status?: number;
  /** Output of the failed try was emitted; it is no part of the conversation. */
  dropped?: true;
}

export interface RetryWatch {
  /** Whether output of this try was emitted. */
  started(): boolean;
  /** Drops the output of the failed try; the next try begins a new answer. */
  restart(): Promise<void> | undefined;
  onRetry(text: string, retry: Retry): void;
  /** Another model answers if this one cannot. */
  hasFallback?: boolean;
}

export async function* streamWithRetries(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  watch: RetryWatch,
): AsyncIterable<ModelPart[]> {
  const { retries: most = RETRIES, retrySeconds = RETRY_SECONDS, waitSeconds } = model.limits ?? {};
  const retries = watch.hasFallback === true ? Math.min(most, RETRIES_BEFORE_FALLBACK) : most;
  // The time of waits and of tries without output: a long answer that breaks off at its end does not count.
  let leftMs = retrySeconds * 1000;
  for (let attempt = 1; ; attempt++) {
    const since = process.uptime();
    try {
      yield* model.stream(request, signal);
      return;
    } catch (error) {
      if (signal.aborted || !isRetryable(error)) throw error;
      const dropped = watch.started();
      if (!dropped) leftMs -= (process.uptime() - since) * 1000;
      if (attempt > retries) throw attempt === 1 ? error : told(error, `It was asked ${attempt} times (limits.retries sets how often)`);
      const wait = waitMs(error, attempt, waitSeconds);
      if (wait > leftMs) throw told(error, tooLate(error, retrySeconds));
      leftMs -= wait;
      if (dropped) await watch.restart();
      const { status } = error.fault;
      const how = `${dropped ? "What came of the answer is dropped. " : ""}Retrying${wait >= 1000 ? ` in ${Math.round(wait / 1000)} s` : ""}`;
      watch.onRetry(`${sentence(error.message)} ${how} (${attempt}/${retries})`, {
        attempt,
        maxAttempts: retries,
        delayMs: Math.round(wait),
        ...(status !== undefined && { status }),
        ...(dropped && { dropped }),
      });
      await pause(wait, signal);
    }
  }
}

function isRetryable(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.fault.retryable === true;
}

function told(error: ParleyError, what: string): ParleyError {
  return new ParleyError({ ...error.fault, message: `${sentence(error.message)} ${what}` }, { cause: error });
}

function tooLate({ fault: { retryAfter } }: ParleyError, seconds: number): string {
  const limit = `the ${seconds} s that tries may take in all (limits.retrySeconds)`;
  if (retryAfter === undefined) return `No answer came within ${limit}`;
  return `It wants to be asked again in ${Math.ceil(retryAfter)} s, which is beyond what is left of ${limit}`;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** The vendor's wish, or a doubling wait with jitter, so that many agents do not retry at the same moment. */
function waitMs({ fault: { retryAfter } }: ParleyError, attempt: number, fixed: number | undefined): number {
  const seconds = retryAfter ?? fixed;
  if (seconds !== undefined) return seconds * 1000;
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS) * (0.75 + Math.random() / 4);
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
