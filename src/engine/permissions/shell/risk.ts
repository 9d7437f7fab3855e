/** Why the name of a command does not say all that it does: the contract between shell-risks.ts and the patterns of allow rules. */
import type { ShellWord } from "./words.js";

/** `loads` and `possible` (an argument that only the run knows may be such an option) count for allow rules alone. */
export interface Risk {
  does: "runs" | "loads" | "writes" | "possible";
  why: string;
  /** The begin of the command that an allow rule must have in its text; absent where no text is enough. */
  named?: string;
  /** Of a program that a runner runs (`npx eslint`): the words up to its name. It counts for rules that name that program. */
  behind?: string;
  /** It is what the program is for, so that a rule for the program covers it. */
  expected?: true;
  /** A command line that it probably runs. */
  script?: string;
}

/** `part`: as much of the last word as counts. */
export function textUpTo(words: readonly ShellWord[], at: number, part = words[at]?.value ?? ""): string {
  return [...words.slice(0, at).map(({ value }) => value), part].join(" ");
}
