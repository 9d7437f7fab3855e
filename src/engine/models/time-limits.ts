/** The time limits of a vendor, by the names of the settings, and the error of each. */
import type { TimeLimits } from "../../core/limits.js";

/** The number of retries, and their longest total time. */
export interface RetryLimits {
  retries?: number;
  retrySeconds?: number;
  /** The wait between two tries; undefined: a doubling wait. */
  waitSeconds?: number;
}

/** The limits, with the largest answer; 16 MiB by default. */
export type ModelLimits = TimeLimits & RetryLimits & { answerMiB?: number };

/** Shaped like Node's own errors of this kind, with the name of the limit. */
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
