/** What Tab offers: commands behind a `/` at the start of the line, files behind the last `@`. */
import * as v from "valibot";
import { SuggestReply } from "../../core/command.js";
import type { Completion } from "./line-input.js";

/** A `/` at the start, or an `@` at the start of a word; in a path, spaces have a backslash or all of it has quotes. */
const TRIGGER = /^\/[^\n]*$|(?<=^|\s)@(?:"[^"]*|(?:\\.|\S)*)$/;

export async function completion(line: string, suggest: (trigger: "slash" | "at", text: string) => Promise<unknown>): Promise<Completion> {
  const typed = TRIGGER.exec(line)?.[0];
  if (typed === undefined) return { typed: line, values: [] };
  const mark = typed[0] === "/" ? "slash" : "at";
  const data = await suggest(mark, typed);
  const { suggestions } = v.is(SuggestReply, data) ? data : { suggestions: [] };
  return { typed, values: suggestions.map(({ value }) => `${typed[0] ?? ""}${value}`) };
}
