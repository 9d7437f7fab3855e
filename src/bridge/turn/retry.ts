/** How long to wait before another try: as long as the other side asks for, within reason; else longer each time. */

const FIRST_MS = 500;
const LONGEST_MS = 60_000;
/** However long the other side wants us to wait. */
const LONGEST_ASKED_MS = 3_600_000;

/** `failures` so far, from 0 on. A wish for no wait at all is none, because a loop without waits helps nobody. */
export function retryMs(failures: number, asked = 0): number {
  return asked >= FIRST_MS ? Math.min(asked, LONGEST_ASKED_MS) : backoff(failures);
}

/** Doubles, with some chance in it so that many do not come back at the same moment. */
function backoff(failures: number): number {
  const base = Math.min(FIRST_MS * 2 ** failures, LONGEST_MS);
  return base * (0.5 + Math.random() / 2);
}
