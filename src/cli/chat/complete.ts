/** The completions of Tab: commands behind a `/` at the start of the line, files behind the last `@`. */
import * as v from "valibot";
import { SuggestReply } from "../../core/command.js";
import type { Completion } from "./line-input.js";

/** A `/` at the start, or an `@` at the start of a word; in a path, spaces have a backslash or all of it has quotes. */
const TRIGGER = /^\/[^\n]*$|(?<=^|\s)@(?:"[^"]*|(?:\\.|\S)*)$/;

export async function completion(line: string, suggest: (trigger: "slash" | "at", text: string) => Promise<unknown>): Promise<Completion> {
  const typed = TRIGGER.exec(line)?.[0];
  if (typed === undefined) return { typed: line, values: [] };
  const data = await suggest(typed[0] === "/" ? "slash" : "at", typed);
  const { suggestions } = v.is(SuggestReply, data) ? data : { suggestions: [] };
  const values = nearest(
    typed,
    suggestions.map(({ value }) => `${typed[0] ?? ""}${value}`),
  );
  return { typed, values: values.length === 1 ? values.map(whole) : values };
}

/** Candidates that begin as typed, or contain it, hide those that are only similar. */
function nearest(typed: string, values: readonly string[]): string[] {
  const wanted = typed.toLowerCase().replace(/^@"/, "@");
  const beginning = values.filter((value) => value.toLowerCase().startsWith(wanted));
  if (beginning.length > 0) return beginning;
  const containing = values.filter((value) => value.toLowerCase().includes(wanted.slice(1)));
  return containing.length > 0 ? containing : [...values];
}

/** A single candidate gets a space, so that the next word can follow; behind a folder the next name follows directly. */
function whole(value: string): string {
  return /[\s/]$/.test(value) ? value : `${value} `;
}
