/** The time that a turn may take, by the clock on the wall: approvals that wait count as well. */
import { ParleyError } from "../../core/errors.js";
import { timerMs } from "../../core/limits.js";

/** Without a limit there is no clock. Returns what stops it. */
export function startClock(seconds: number | undefined, onLate: (limit: ParleyError) => void): () => void {
  if (seconds === undefined) return () => {};
  const message = `The turn took longer than ${seconds} s, its limit (maxSeconds)`;
  const late = (): void => onLate(new ParleyError({ code: "limit", message, retryable: false, param: "maxSeconds" }));
  const timer = setTimeout(late, timerMs(seconds));
  return () => clearTimeout(timer);
}
