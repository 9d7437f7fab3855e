/** The text of a profile, checked: an error has file, line, column and key, and an unknown key is a warning. */
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";
import { nearest } from "../../core/text/nearest-word.js";
import { clipped, firstFew } from "../../core/text/truncate-list.js";
import type { Keys } from "../../core/values/value-issues.js";
import { isRecord } from "../../core/values/json-object.js";
import { brokenFile } from "./broken-file.js";
import { EXT } from "../protocol.js";
import { makeProfile, type Profile, type Wire } from "./profile.js";
import { FIELDS, isField, METADATA, type Fields } from "./fields.js";
import { readSmallFile } from "./small-file.js";
import type { YamlFile } from "./yaml-file.js";

/** A profile, and the place that it was read from. */
export interface LoadedProfile {
  profile: Profile;
  /** Each warning has its place in the file. */
  warnings: string[];
  /** The warnings about a key that is nearly another one. */
  misspelt: string[];
}

/** Throws a `config` fault that names the file and every wrong place. `wire` overrules the file. */
export async function loadProfile(path: string, wire?: Wire): Promise<LoadedProfile> {
  const text = await readSmallFile(path, "profile");
  const file = await realpath(path);
  return parseProfile(text, { path, id: file, dir: dirname(file) }, wire);
}

/** `path` names the file in messages. */
export interface ProfileSource {
  path: string;
  id: string;
  dir: string;
}

/** Reads the text of a profile; throws what is wrong with it. */
export async function parseProfile(text: string, source: ProfileSource, wire?: Wire): Promise<LoadedProfile> {
  // YAML is loaded only here: a profile made in code needs none.
  const [{ parseYaml }, { keepWords }] = await Promise.all([import("./yaml-file.js"), import("./words.js")]);
  const { value, point } = parseYaml(text, source.path, keepWords);
  const { fields, warnings, misspelt, ...found } = checked(value, source.path, point);
  if (fields.command === undefined) {
    throw brokenFile([`${source.path}: command is missing: it names the program to run, as in 'command: ./my_agent.py'`, ...misspelt]);
  }
  const { id, dir } = source;
  const profile = makeProfile({ ...fields, command: fields.command }, { id, dir, ...found }, wire);
  const conflict = conflictIn(profile);
  if (conflict !== undefined) throw brokenFile([`${source.path}: ${conflict}`]);
  return { profile, warnings, misspelt };
}

/** Finds values that are valid alone, but that no wire supports together. */
function conflictIn({ protocol, stdin, permission, dialect, output }: Profile): string | undefined {
  if (dialect !== undefined)
    return output === undefined ? undefined : "'output' does not go with 'dialect', whose agents say all themselves";
  if (output !== undefined && protocol !== "0.1") return `'output: ${output}' goes with protocol 0.1 alone`;
  if (protocol === "auto" && stdin === "message") return "'protocol: auto' does not go with 'stdin: message': name the protocol";
  if (!permission) return undefined;
  if (protocol === "0.1") return "'permission: true' does not go with protocol 0.1, which cannot ask: name a later one";
  const isTaken = protocol === "0.2" && stdin === "message";
  return isTaken ? "'permission: true' does not go with 'stdin: message': the answers come on standard input" : undefined;
}

type Point = YamlFile["point"];

interface Checked {
  fields: Fields;
  description: string;
  install: string | undefined;
  nested: boolean;
  warnings: string[];
  misspelt: string[];
}

/** Reads the keys of a profile: at the top, or below the key EXT beside the metadata. */
function checked(value: unknown, path: string, point: Point): Checked {
  if (!isRecord(value)) throw brokenFile([`${path}: a profile is a mapping of keys to values, as in 'command: ./my_agent.py'`]);
  const nested = value[EXT] !== undefined && value[EXT] !== null;
  const inner = nested ? value[EXT] : value;
  if (!isRecord(inner)) throw brokenFile([`${point([EXT], "value")}: ${EXT} must hold the keys of the profile`]);
  /** Keys that are not used, each with a sentence that is made only when it is shown. */
  const unused: { keys: Keys; why: () => string }[] = [];
  const problems: string[] = [];
  const fields: Record<string, unknown> = {};
  for (const [key, given] of Object.entries(inner)) {
    const keys = nested ? [EXT, key] : [key];
    if (isField(key)) {
      if (given === null) continue;
      const result = v.safeParse(FIELDS[key], given, { abortEarly: true });
      if (result.success) fields[key] = result.output;
      else problems.push(problemOf(keys, key, given, result.issues, point));
    } else if (nested || (key !== EXT && !METADATA.has(key))) {
      const known = nested ? Object.keys(FIELDS) : [...Object.keys(FIELDS), ...METADATA];
      unused.push({ keys, why: () => unknown(key, known) });
    }
  }
  if (nested) {
    for (const key of Object.keys(value)) {
      if (key === EXT || METADATA.has(key)) continue;
      const why = (): string => (isField(key) ? `'${key}' belongs below ${EXT} and is ignored here` : unknown(key, [...METADATA]));
      unused.push({ keys: [key], why });
    }
  }
  const words = ({ keys, why }: (typeof unused)[number]): string => `${point(keys, "key")}: ${why()}`;
  const warnings = firstFew(unused, words, (count) => `${path}: and ${count} more keys are ignored`);
  const misspelt = warnings.filter((warning) => warning.endsWith(MEANT));
  if (problems.length > 0) throw brokenFile([...problems, ...misspelt]);
  const { description, cli_install: install } = value;
  return {
    fields,
    description: typeof description === "string" ? description : "",
    install: typeof install === "string" ? install : undefined,
    nested,
    warnings,
    misspelt,
  };
}

/** The end of a warning that says which key was meant. */
const MEANT = "'?";

function unknown(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `unknown key '${clipped(key)}' is ignored${meant === undefined ? "" : `; did you mean '${meant}${MEANT}`}`;
}

type Issue = v.BaseIssue<unknown>;

/** Only the first issue counts. An issue inside of a list or mapping is reported at its own place, in the words of the whole. */
function problemOf(keys: Keys, key: string, given: unknown, issues: readonly [Issue, ...Issue[]], point: Point): string {
  const [issue] = issues;
  const path = (issue.path ?? []).map(({ key: step }) => (typeof step === "number" ? step : String(step)));
  const wrong = path.length === 0 ? given : issue.input;
  const name = [key, ...path.map((step) => clipped(String(step)))].join(".");
  const isName = issue.path?.at(-1)?.origin === "key";
  const rule = path.length === 0 || isName ? issue.message : RULES[key];
  return `${point([...keys, ...path], isName ? "key" : "value")}: ${name} ${rule ?? issue.message}, not ${shown(wrong)}`;
}

const RULES: Record<string, string> = {
  args: "must be a text",
  resume_args: "must be a text",
  expands: "must be mentions or commands",
  env: "must be a text",
  env_allowlist: "must be the name of a variable",
};

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "a mapping";
  return typeof value === "string" ? `'${clipped(value)}'` : String(value);
}
