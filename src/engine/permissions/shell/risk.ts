/** The reason for which a command does more than its name tells: the contract between risks.ts and the patterns of allow rules. */
import type { ShellWord } from "./words.js";

/** `loads` and `possible` (an argument known only at the run may be this option) count for allow rules only. */
export interface Risk {
  does: "runs" | "loads" | "writes" | "possible";
  why: string;
  /** The beginning of the command that an allow rule must have in its text; undefined if no text is enough. */
  named?: string;
  /** For a program behind a runner (`npx eslint`): the words up to its name. The risk counts for rules that name that program. */
  behind?: string;
  /** The risk is the program's purpose, so a rule for the program covers it. */
  expected?: true;
  /** A command line that the command probably runs. */
  script?: string;
}

/** `part`: the part of the last word that counts. */
export function textUpTo(words: readonly ShellWord[], at: number, part = words[at]?.value ?? ""): string {
  return [...words.slice(0, at).map(({ value }) => value), part].join(" ");
}
