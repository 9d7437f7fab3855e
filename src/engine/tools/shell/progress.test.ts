import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MAX_PROGRESS_CHARS, progressOf, PROGRESS_ENDS, type Progress } from "./progress.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { progress: Progress; reports: string[] } {
  const reports: string[] = [];
  return { reports, progress: progressOf((text, channel) => void reports.push(`${channel}:${text}`)) };
}

test("the first at once, then at most one each 50 ms and channel", () => {
  const { progress, reports } = watched();
  progress.push("stdout", "a");
  expect(reports).toEqual(["stdout:a"]);
  progress.push("stdout", "b");
  progress.push("stdout", "c");
  progress.push("stderr", "E");
  expect(reports).toEqual(["stdout:a", "stderr:E"]);
  vi.advanceTimersByTime(49);
  expect(reports).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(reports).toEqual(["stdout:a", "stderr:E", "stdout:bc"]);
  progress.push("stdout", "d");
  expect(reports).toHaveLength(3);
  vi.advanceTimersByTime(50);
  expect(reports.at(-1)).toBe("stdout:d");
});

test("the first output after a pause is reported at once", () => {
  const { progress, reports } = watched();
  progress.push("stdout", "a");
  vi.advanceTimersByTime(50);
  expect(vi.getTimerCount()).toBe(0);
  progress.push("stdout", "b");
  expect(reports).toEqual(["stdout:a", "stdout:b"]);
});

test("the end reports what waits, clears the timers, and is the end", () => {
  const { progress, reports } = watched();
  progress.push("stdout", "a");
  progress.push("stdout", "b");
  progress.end();
  progress.push("stdout", "c");
  expect(reports).toEqual(["stdout:a", "stdout:b"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("past the bound one last line says so", () => {
  const { progress, reports } = watched();
  progress.push("stdout", "x".repeat(MAX_PROGRESS_CHARS - 1));
  progress.push("stderr", "😀");
  progress.push("stderr", "never");
  progress.end();
  expect(reports.map((text) => text.length)).toEqual(["stdout:".length + MAX_PROGRESS_CHARS - 1, "stderr:".length + PROGRESS_ENDS.length]);
  expect(reports.at(-1)).toBe(`stderr:${PROGRESS_ENDS}`);
  expect(vi.getTimerCount()).toBe(0);
});
