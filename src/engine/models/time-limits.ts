/** How long a vendor may take, by the names of the settings, and the error that says which of them ran out. */

export type TimeLimits = {
  connectSeconds: number;
  /** From the request to the first byte of the answer's body. */
  firstByteSeconds: number;
  /** From one piece of the answer to the next. */
  idleSeconds: number;
};

/** Models may think for minutes before they say a word, and between two of them. */
export const TIME_LIMITS: TimeLimits = { connectSeconds: 10, firstByteSeconds: 300, idleSeconds: 300 };

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
