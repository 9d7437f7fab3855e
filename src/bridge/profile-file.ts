/** The text of a profile, checked: what is wrong is told with file, line, column and key, and what is unknown is a warning. */
import { readFile, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import * as v from "valibot";
import { messageOf, systemCode, type ParleyError } from "../core/errors.js";
import { nearest } from "../core/nearest.js";
import type { Keys } from "../core/value-issues.js";
import { brokenFile } from "./broken-file.js";
import { makeProfile, type Profile, type Wire } from "./profile.js";
import { FIELDS, isField, METADATA, type Fields } from "./profile-fields.js";
import type { YamlFile } from "./yaml-file.js";

export interface LoadedProfile {
  profile: Profile;
  /** Each with its place in the file. */
  warnings: string[];
}

/** Nobody writes more by hand. */
const MAX_BYTES = 1024 * 1024;

/** Throws a `config` fault that names the file and every place in it that is wrong. `wire` overrules the file. */
export async function loadProfile(path: string, wire?: Wire): Promise<LoadedProfile> {
  const file = await realpath(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  const bytes = await readFile(file).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (bytes.length > MAX_BYTES) throw brokenFile([`${path}: is ${bytes.length} bytes long; a profile may have ${MAX_BYTES}`]);
  return parseProfile(bytes.toString(), { path, id: file, dir: dirname(file) }, wire);
}

/** `path` is what messages call it. */
export interface ProfileSource {
  path: string;
  id: string;
  dir: string;
}

export async function parseProfile(text: string, source: ProfileSource, wire?: Wire): Promise<LoadedProfile> {
  // Only here: a profile that somebody makes by hand needs no YAML.
  const [{ parseYaml }, { keepWords }] = await Promise.all([import("./yaml-file.js"), import("./profile-words.js")]);
  const { value, point } = parseYaml(text, source.path, keepWords);
  const { fields, warnings, ...found } = checked(value, source.path, point);
  if (fields.command === undefined) {
    throw brokenFile([`${source.path}: command is missing: it names the program to run, as in 'command: ./my_agent.py'`]);
  }
  const { id, dir } = source;
  const profile = makeProfile({ ...fields, command: fields.command }, { id, dir, ...found }, wire);
  const conflict = conflictIn(profile);
  if (conflict !== undefined) throw brokenFile([`${source.path}: ${conflict}`]);
  return { profile, warnings };
}

/** What each key allows by itself, and no wire can do together. */
function conflictIn({ protocol, stdin, permission, dialect }: Profile): string | undefined {
  if (dialect !== undefined) return undefined;
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
  nested: boolean;
  warnings: string[];
}

/** Flat, or with everything but the metadata below `agentproc`. */
function checked(value: unknown, path: string, point: Point): Checked {
  if (!isMapping(value)) throw brokenFile([`${path}: a profile is a mapping of keys to values, as in 'command: ./my_agent.py'`]);
  const nested = value["agentproc"] !== undefined && value["agentproc"] !== null;
  const inner = nested ? value["agentproc"] : value;
  if (!isMapping(inner)) throw brokenFile([`${point(["agentproc"], "value")}: agentproc must hold the keys of the profile`]);
  const warnings: string[] = [];
  const problems: string[] = [];
  const fields: Record<string, unknown> = {};
  const unknown = (keys: Keys, key: string, known: readonly string[]): void => {
    const meant = nearest(key, known);
    warnings.push(`${point(keys, "key")}: unknown key '${key}' is ignored${meant === undefined ? "" : `; did you mean '${meant}'?`}`);
  };
  for (const [key, given] of Object.entries(inner)) {
    const keys = nested ? ["agentproc", key] : [key];
    if (isField(key)) {
      if (given === null) continue;
      const result = v.safeParse(FIELDS[key], given);
      if (result.success) fields[key] = result.output;
      else problems.push(problemOf(keys, key, given, result.issues, point));
    } else if (nested || (key !== "agentproc" && !METADATA.has(key))) {
      unknown(keys, key, Object.keys(FIELDS));
    }
  }
  if (nested) {
    for (const key of Object.keys(value)) {
      if (key === "agentproc" || METADATA.has(key)) continue;
      const where = isField(key) ? `'${key}' belongs below agentproc and is ignored here` : undefined;
      if (where === undefined) unknown([key], key, [...METADATA]);
      else warnings.push(`${point([key], "key")}: ${where}`);
    }
  }
  if (problems.length > 0) throw brokenFile(problems);
  const { description } = value;
  return { fields, description: typeof description === "string" ? description : "", nested, warnings };
}

type Issue = v.BaseIssue<unknown>;

/** The first is enough. An issue inside of a list or mapping is told at its own place, in the words of the whole. */
function problemOf(keys: Keys, key: string, given: unknown, issues: readonly [Issue, ...Issue[]], point: Point): string {
  const [issue] = issues;
  const path = (issue.path ?? []).map(({ key: step }) => (typeof step === "number" ? step : String(step)));
  const wrong = path.length === 0 ? given : issue.input;
  const name = [key, ...path].join(".");
  const isName = issue.path?.at(-1)?.origin === "key";
  const rule = path.length === 0 || isName ? issue.message : RULES[key];
  return `${point([...keys, ...path], isName ? "key" : "value")}: ${name} ${rule ?? issue.message}, not ${shown(wrong)}`;
}

const RULES: Record<string, string> = {
  args: "must be a text",
  env: "must be a text",
  env_allowlist: "must be the name of a variable",
};

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isMapping(value)) return "a mapping";
  return typeof value === "string" ? `'${value}'` : String(value);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(path: string, error: unknown): ParleyError {
  if (systemCode(error) === "ENOENT") return brokenFile([`There is no profile '${path}'`]);
  if (systemCode(error) === "EISDIR") return brokenFile([`'${path}' is a folder; a profile is a file`]);
  return brokenFile([`The profile '${path}' cannot be read: ${messageOf(error)}`]);
}
