/** The keys of a profile: the values of each, in the words that refuse other values. profile.ts has defaults and meanings. */
import * as v from "valibot";
import { Mode } from "../../core/config.js";
import { EXT, PROGRAM_OUTPUTS, WIRES, type WireVersion } from "../protocol.js";

/** The revisions of the AgentProc wire. */
export type Wire = WireVersion;

const yesNo = v.boolean("must be true or false");
const words = v.string("must be a text");
const seconds = v.pipe(v.number("must be a number of seconds"), v.finite("must be a number of seconds"));

/** YAML reads some words as numbers and truth values; a command line means them as written. words.ts restores the written characters. */
const word = v.pipe(
  v.union([v.string(), v.number(), v.boolean()], "must be a list of texts"),
  v.transform((value) => String(value)),
);
const value = v.pipe(
  v.nullable(v.union([v.string(), v.number(), v.boolean()]), null),
  v.transform((given) => (given === null ? "" : String(given))),
);

const names = v.array(v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), "must be a list of variable names");

/** valibot accepts a list as a record. */
const MAPPING = "must map variable names to texts";

/** Expansions of programs for people: `@path` attaches that file, and `/name` at the beginning runs that command. */
export const EXPANSIONS = ["mentions", "commands"] as const;
export type Expansion = (typeof EXPANSIONS)[number];

/** Null counts as absent for every key. */
export const FIELDS = {
  command: v.pipe(words, v.regex(/\S/, "must name a program")),
  args: v.array(word, "must be a list of texts"),
  resume_args: v.array(word, "must be a list of texts"),
  split_command: yesNo,
  stdin: v.picklist(["none", "message"], "must be none or message"),
  cwd: v.pipe(words, v.regex(/\S/, "must name a folder")),
  env: v.pipe(
    v.unknown(),
    v.check((given) => !Array.isArray(given), MAPPING),
    v.record(v.pipe(v.string(), v.regex(/^[^=\0]+$/, "must be the name of a variable")), value, MAPPING),
  ),
  env_inherit: v.picklist(["minimal", "all"], "must be minimal or all"),
  env_allowlist: names,
  timeout_secs: seconds,
  idle_timeout_secs: seconds,
  kill_grace_secs: v.pipe(seconds, v.minValue(0, "must be a number of seconds, 0 or more")),
  max_reply_chars: v.pipe(
    v.number("must be a whole number"),
    v.integer("must be a whole number"),
    v.minValue(0, "must be a whole number, 0 or more"),
  ),
  truncation_suffix: words,
  include_stderr_in_reply: yesNo,
  send_error_reply: yesNo,
  streaming: yesNo,
  session_line_prefix: words,
  output: v.picklist(PROGRAM_OUTPUTS, `must be ${PROGRAM_OUTPUTS.join(" or ")}`),
  permission: yesNo,
  protocol: v.pipe(
    v.union([v.string(), v.number()], `must be ${WIRES.join(", ")}`),
    v.transform((given) => String(given)),
    v.picklist(WIRES, `must be ${WIRES.join(", ")}`),
  ),
  expands: v.array(v.picklist(EXPANSIONS), `must be a list of ${EXPANSIONS.join(" and ")}`),
  dialect: v.pipe(
    words,
    v.regex(new RegExp(`^(?!${EXT}\\b)\\S`), "must name another protocol than AgentProc, whose revision 'protocol' tells"),
  ),
  provider: words,
  model: words,
  mode: v.picklist(Mode.options, `must be one of ${Mode.options.join(", ")}`),
} as const;

export type Field = keyof typeof FIELDS;
export type Fields = { -readonly [F in Field]?: v.InferOutput<(typeof FIELDS)[F]> };

export function isField(key: string): key is Field {
  return Object.hasOwn(FIELDS, key);
}

/** Keys that other programs and people keep beside the profile. */
export const METADATA: ReadonlySet<string> = new Set([
  "name",
  "description",
  "cli",
  "cli_install",
  "tested",
  "maintainer",
  "tags",
  "notes",
]);
