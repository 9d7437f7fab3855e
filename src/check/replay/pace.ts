/** The speed of a replay: as it was, at once, or so many times as fast. */
import { ParleyError } from "../../core/errors.js";

/** How many times as fast as it was; Infinity is at once. */
export type Pace = number;

/** A pause of the recording that is longer than this was nobody's work. */
const LONGEST_PAUSE_MS = 10_000;

export function readPace(text: string): Pace {
  if (text === "instant") return Infinity;
  if (text === "original") return 1;
  const times = Number(text);
  if (times > 0) return times;
  throw new ParleyError({ code: "usage", message: `--pace is original, instant or a number above 0, not '${text}'`, retryable: false });
}

/** Settles when it is time, or when the signal is aborted. */
export function pause(ms: number, pace: Pace, signal: AbortSignal): Promise<void> | undefined {
  const wait = Math.min(ms, LONGEST_PAUSE_MS) / pace;
  if (wait < 1 || signal.aborted) return undefined;
  return new Promise((resolve) => {
    const timer = setTimeout(done, wait);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
