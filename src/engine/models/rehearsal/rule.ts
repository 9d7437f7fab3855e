/** What a rule of the order table is. */
import type { Marked } from "./spans.js";
import type { Step } from "./step.js";

export interface Situation {
  marked: Marked;
  /** The steps before this clause. */
  steps: readonly Step[];
  /** The file last mentioned, for "it" and orders without a name. */
  file: string | undefined;
}

export interface Rule {
  /** Tried on the clause, in the order of the table; the first that gives steps wins. */
  when: RegExp;
  steps(match: RegExpExecArray, situation: Situation): Step[] | undefined;
}

/** A pattern for people to read: a space stands for any white space, line breaks are ignored, and capitals do not matter. */
export function pattern(source: TemplateStringsArray, ...inserted: string[]): RegExp {
  return new RegExp(
    String.raw(source, ...inserted)
      .replaceAll(/\n */g, "")
      .replaceAll(" ", "\\s+"),
    "isu",
  );
}

/** The n-th group, or nothing. */
export function group(match: RegExpExecArray, index: number): string {
  return (match[index] ?? "").trim();
}
