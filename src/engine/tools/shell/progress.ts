/** Reports a running command's output to people: the first text at once, then larger pieces, at a readable rate. */
import { headOf } from "../../workspace/output.js";

type Channel = "stdout" | "stderr";
type Report = (text: string, channel?: Channel) => void;

const EVERY_MS = 50;
export const MAX_PROGRESS_CHARS = 1024 * 1024;
export const PROGRESS_ENDS = "\n[further output is not streamed]\n";

export interface Progress {
  push(channel: Channel, text: string): void;
  /** Reports the waiting text and stops. */
  end(): void;
}

export function progressOf(report: Report): Progress {
  let room = MAX_PROGRESS_CHARS;
  let ended = false;
  const waiting: Record<Channel, string> = { stdout: "", stderr: "" };
  const timers: Partial<Record<Channel, NodeJS.Timeout>> = {};

  return { push, end };

  function push(channel: Channel, text: string): void {
    if (ended) return;
    const fitting = headOf(text, room);
    room -= fitting.length;
    waiting[channel] += fitting;
    if (fitting.length < text.length) {
      end();
      report(PROGRESS_ENDS, channel);
      return;
    }
    if (timers[channel] === undefined) flush(channel);
  }

  /** Reports, and then collects text for a while. */
  function flush(channel: Channel): void {
    delete timers[channel];
    if (waiting[channel] === "") return;
    reportWaiting(channel);
    timers[channel] = setTimeout(() => flush(channel), EVERY_MS);
  }

  function end(): void {
    ended = true;
    for (const channel of ["stdout", "stderr"] as const) {
      clearTimeout(timers[channel]);
      if (waiting[channel] !== "") reportWaiting(channel);
    }
  }

  function reportWaiting(channel: Channel): void {
    const text = waiting[channel];
    waiting[channel] = "";
    report(text, channel);
  }
}
