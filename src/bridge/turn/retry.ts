/** The time before the next try: the other side's wish, within reason, or a time that grows with each failure. */

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** The longest wait that the other side may ask for. */
const LONGEST_ASKED_MS = 3_600_000;

/** `failures` counts from 0. A wish for no wait is ignored, because a loop without waits helps nobody. */
export function retryMs(failures: number, asked = 0): number {
  return asked >= FIRST_MS ? Math.min(asked, LONGEST_ASKED_MS) : backoff(failures);
}

/** Doubles each time, with a random part so that many clients do not come back at once. */
function backoff(failures: number): number {
  const base = Math.min(FIRST_MS * 2 ** failures, LONGEST_MS);
  return base * (0.5 + Math.random() / 2);
}
