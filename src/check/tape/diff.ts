/** The difference of two tapes as canonical events: ids, times, durations and token counts never count. */
import { isRecord } from "../../core/values/json-object.js";
import type { Event } from "../../core/event.js";
import type { Tape } from "./tape.js";

export const IGNORABLE = ["text", "thinking", "args", "output", "notice"] as const;
export type Ignored = (typeof IGNORABLE)[number];

/** Fields that differ between two runs of the same conversation. */
const CHANGEABLE = new Set([
  "at",
  "seq",
  "id",
  "parent",
  "session",
  "sessionId",
  "turn",
  "usage",
  "cost",
  "context",
  "deadline",
  "request",
]);
/** The most lines of a side that are compared one by one; a longer tape is shown from its first difference on. */
const COMPARED = 4000;

/** The lines that only one tape has, with `-` and `+` before them; empty where nothing differs. */
export function difference(one: Tape, other: Tape, ignored: readonly Ignored[] = []): string[] {
  const [left, right] = [told(one, ignored), told(other, ignored)];
  let from = 0;
  while (from < left.length && left[from] === right[from]) from++;
  let end = 0;
  while (end < Math.min(left.length, right.length) - from && left.at(-1 - end) === right.at(-1 - end)) end++;
  const [removed, added] = [left.slice(from, left.length - end), right.slice(from, right.length - end)];
  if (Math.max(removed.length, added.length) > COMPARED)
    return [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
  return changes(removed, added);
}

/** Lines outside the longest common subsequence. */
function changes(left: readonly string[], right: readonly string[]): string[] {
  const width = right.length + 1;
  const lengths = new Uint16Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  for (let row = 0, column = 0; row < left.length || column < right.length;) {
    if (row < left.length && left[row] === right[column]) {
      row++;
      column++;
    } else if (column >= right.length || (row < left.length && at(row + 1, column) >= at(row, column + 1)))
      lines.push(`- ${left[row++] ?? ""}`);
    else lines.push(`+ ${right[column++] ?? ""}`);
  }
  return lines;
}

/** The events as lines of JSON. Deltas are left out, as a later event has the whole text. */
function told({ items }: Tape, ignored: readonly Ignored[]): string[] {
  const calls = new Map<string, string>();
  const events = items.flatMap((item) => (item.kind === "event" ? [item.event] : []));
  for (const event of events) if (event.type === "tool.requested") calls.set(event.call.id, `call ${calls.size + 1}`);
  const counted = events.filter((event) => counts(event, ignored));
  const inOrder = [...counted.filter(isBeside), ...counted.filter((event) => !isBeside(event))];
  return inOrder.map((event) => JSON.stringify(plain(event, calls, ignored)));
}

/** A catalogue is told when it is ready: its place among the events of a turn says nothing. */
function isBeside({ type }: Event): boolean {
  return type === "catalog.updated";
}

function counts({ type }: Event, ignored: readonly Ignored[]): boolean {
  if (/\.delta$|^usage$|^tool\.progress$/.test(type)) return false;
  return !(
    (ignored.includes("thinking") && type.startsWith("thinking.")) ||
    (ignored.includes("notice") && type === "notice") ||
    (ignored.includes("text") && type.startsWith("text."))
  );
}

function plain(value: unknown, calls: ReadonlyMap<string, string>, ignored: readonly Ignored[]): unknown {
  if (typeof value === "string") return calls.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item: unknown) => plain(item, calls, ignored));
  if (!isRecord(value)) return value;
  const isCall = typeof value["id"] === "string" && calls.has(value["id"]);
  const isLeftOut = (key: string): boolean =>
    (CHANGEABLE.has(key) && !(key === "id" && isCall)) ||
    /(?:Ms|Seconds|duration)$/i.test(key) ||
    (key === "args" && ignored.includes("args")) ||
    (key === "output" && ignored.includes("output"));
  const kept = Object.entries(value).filter(([key]) => !isLeftOut(key));
  return Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, plain(inner, calls, ignored)]));
}
