/** Reads a tape from its file (docs/observability.md describes the lines). */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { messageOf, ParleyError } from "../../core/errors.js";
import { Event } from "../../core/event.js";
import { Op } from "../../core/op.js";
import { parseJson } from "../../core/values/parse-json.js";

const Start = v.looseObject({
  format: v.number(),
  version: v.optional(v.string()),
  side: v.optional(v.picklist(["agent", "host", "relay"])),
  dialect: v.optional(v.string()),
  as: v.optional(v.string()),
  drive: v.optional(v.string()),
});
type Start = v.InferOutput<typeof Start>;

/** Canonical lines are read loosely: a tape may hold a breach, which `parley tape check` reports. */
const canonical = v.looseObject({ type: v.string() });

const Line = v.object({
  at: v.number(),
  conn: v.optional(v.string()),
  wire: v.optional(v.picklist(["host", "agent"])),
  start: v.optional(Start),
  op: v.optional(canonical),
  event: v.optional(canonical),
  dir: v.optional(v.picklist(["in", "out"])),
  rec: v.optional(v.unknown()),
  text: v.optional(v.string()),
  bad: v.optional(v.string()),
  line: v.optional(v.string()),
  turn: v.optional(v.record(v.string(), v.string())),
  end: v.optional(v.literal(true)),
  gap: v.optional(v.number()),
  why: v.optional(v.string()),
});
type Line = v.InferOutput<typeof Line>;

/** A message of the wire, or an op or event, with its line number in the file. */
export type Item = { n: number; at: number; conn: string } & (
  | { kind: "op"; op: Op }
  | { kind: "event"; event: Event }
  | { kind: "breach"; why: string }
  | ({ kind: "wire"; dir: "in" | "out" } & Pick<Line, "wire" | "rec" | "text" | "bad" | "line" | "turn" | "end">)
);

export interface Tape {
  path: string;
  start: Start;
  items: readonly Item[];
}

/** The last run in a file. A fault says in a sentence why the text is no tape. */
export async function readTape(path: string): Promise<Tape> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw broken(`The tape ${path} cannot be read: ${messageOf(error)}`);
  });
  let start: Start | undefined;
  let items: Item[] = [];
  const lines = text.split("\n");
  for (const [index, json] of lines.entries()) {
    if (json.trim() === "") continue;
    const read = v.safeParse(Line, parseJson(json)?.json);
    if (!read.success) {
      if (start === undefined) throw broken(`${path} is no tape: line ${index + 1} is none that 'parley --tape' writes`);
      // A killed run leaves its last line torn.
      items.push({ n: index + 1, at: items.at(-1)?.at ?? 0, conn: "", kind: "breach", why: "The line is torn, or is none of a tape" });
    } else if (read.output.start !== undefined) {
      start = read.output.start;
      if (start.format !== 2) throw broken(`${path} is a tape of format ${start.format}; this version reads format 2: record it again`);
      items = [];
    } else if (start === undefined) throw broken(`${path} is no tape: its first line does not say how it was recorded`);
    else items.push(itemOf(read.output, index + 1));
  }
  if (start === undefined) throw broken(`${path} is no tape: it is empty`);
  return { path, start, items };
}

function itemOf({ at, conn = "", op, event, dir, wire, ...said }: Line, n: number): Item {
  const place = { n, at, conn };
  if (op !== undefined) {
    const read = v.safeParse(Op, op);
    if (read.success) return { ...place, kind: "op", op: read.output };
    return { ...place, kind: "breach", why: `The op '${op.type}' is none: ${words(read.issues)}` };
  }
  if (event !== undefined) {
    const read = v.safeParse(Event, event);
    if (read.success) return { ...place, kind: "event", event: read.output };
    return { ...place, kind: "breach", why: `The event '${event.type}' is none: ${words(read.issues)}` };
  }
  if (dir === undefined)
    return { ...place, kind: "breach", why: `${said.gap ?? 0} lines are missing here: ${said.why ?? "nobody knows why"}` };
  const { rec, text, bad, line, turn, end } = said;
  return { ...place, kind: "wire", dir, wire, rec, text, bad, line, turn, end };
}

function words(issues: readonly v.BaseIssue<unknown>[]): string {
  const [issue] = issues;
  return issue === undefined ? "it has another form" : `${v.getDotPath(issue) ?? "all of it"}: ${issue.message}`;
}

function broken(message: string): ParleyError {
  return new ParleyError({ code: "invalid", message, retryable: false });
}
