/** How long a vendor may take, by the names of the settings, and the error that says which of them ran out. */
import type { TimeLimits } from "../../core/limits.js";

/** How often an answer is asked for again, and how long that may take in all. */
export interface RetryLimits {
  retries?: number;
  retrySeconds?: number;
  /** Between two tries; a doubling wait where nothing is said. */
  waitSeconds?: number;
}

/** With the most that one answer may hold; 16 MiB unless told otherwise. */
export type ModelLimits = TimeLimits & RetryLimits & { answerMiB?: number };

/** As Node's own errors of this kind, with the limit that ran out. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  readonly code = "ETIMEDOUT";
  readonly limit: keyof TimeLimits;
  readonly seconds: number;

  constructor(limit: keyof TimeLimits, seconds: number) {
    super(`${seconds} s ran out (limits.${limit})`);
    this.limit = limit;
    this.seconds = seconds;
  }
}

export function timeoutWords({ limit, seconds }: TimedOut, provider: string): string {
  const what = {
    connectSeconds: `There was no connection to ${provider} within ${seconds} s`,
    firstByteSeconds: `${provider} did not begin to answer within ${seconds} s`,
    idleSeconds: `${provider} fell silent for ${seconds} s in the middle of its answer`,
  }[limit];
  return `${what} (limits.${limit} in config.yaml sets how long)`;
}
