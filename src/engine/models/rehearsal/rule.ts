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

/** Builds a pattern from pieces, without regard to capitals. */
export function pattern(source: string): RegExp {
  return new RegExp(source, "isu");
}

/** The n-th group, or nothing. */
export function group(match: RegExpExecArray, index: number): string {
  return (match[index] ?? "").trim();
}
