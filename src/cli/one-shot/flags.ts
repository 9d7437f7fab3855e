/** The flags of a one-prompt run. */
import { given, usage, type Flag, type Parsed } from "../command-line/flags.js";
import type { Format } from "./output.js";

export const ONE_SHOT_FLAGS: readonly Flag[] = [
  {
    name: "print",
    short: "p",
    value: "PROMPT",
    bare: "-",
    help: "run one prompt, print the answer, exit (without PROMPT: read it from stdin)",
  },
  { name: "file", value: "FILE", help: "with -p: attach this file or folder; may be repeated" },
  { name: "image", value: "FILE", help: "with -p: attach this picture; may be repeated" },
  { name: "json", help: "with -p: print one JSON object: text, outcome, usage, calls, and the error if there is one" },
  { name: "events", help: "with -p: print every event as a line of JSON, as 'parley schema native' describes them" },
];

/** Refuses files where there is no prompt that they could go with. */
export function refuseAttachments(parsed: Parsed, remedy: string): void {
  for (const flag of ["file", "image"]) if (given(parsed, flag)) throw usage(`--${flag} goes with one prompt (-p); ${remedy}`);
}

/** The format that the command line asks for in our own words; undefined without any. */
export function formatAsked(parsed: Parsed): Format | undefined {
  if (given(parsed, "json") && given(parsed, "events")) throw usage("--json and --events exclude each other; give one of them");
  const format = given(parsed, "json") ? "json" : given(parsed, "events") ? "events" : undefined;
  const other = ["output-format", "input-format", "json-stream", "dialect"].find((flag) => given(parsed, flag));
  if (format !== undefined && other !== undefined) throw usage(`--${format} and --${other} exclude each other; give one of them`);
  return format;
}

/** The same, of a command line that may be wrong elsewhere. */
export function formatIn(words: readonly string[]): Format | undefined {
  return words.includes("--json") ? "json" : words.includes("--events") ? "events" : undefined;
}
