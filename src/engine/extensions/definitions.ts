/** Definitions in Markdown files, of skills and of sub-agents alike: found in their places, read, and told apart by name. */
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import { headOf, wellFormed } from "../workspace/output.js";
import { readFrontMatter, type FrontMatter } from "./front-matter.js";
import { boundary, type Place, type Scope, type Surroundings } from "./places.js";
import { isMissing, readSource } from "./source-file.js";
import type { Stamps } from "./stamps.js";

/** In one folder. */
const MOST = 100;
const MOST_ENTRIES = 2000;
const MAX_BYTES = 256 * 1024;
const NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_.:-]{0,63}$/u;
const DESCRIPTION_CHARS = 1024;

export interface Definition {
  name: string;
  description: string;
  scope: Scope;
}

/** One file, read but not yet understood. */
export interface DefinitionFile extends FrontMatter {
  path: string;
  scope: Scope;
  /** Unless the front matter says otherwise. */
  name: string;
}

export interface Kind<T extends Definition> {
  /** For people: "skill". */
  word: string;
  /** The file that an entry of the folder stands for, and the name of the definition. */
  fileOf(entry: string): { file: string; name: string } | undefined;
  /** Throws a sentence for what is wrong. */
  parse(file: DefinitionFile): T;
}

export interface Reading {
  around: Surroundings;
  stamps: Stamps;
  warn(text: string): void;
}

/** By name, sorted; a later place wins. */
export async function readDefinitions<T extends Definition>(kind: Kind<T>, places: readonly Place[], reading: Reading): Promise<T[]> {
  const byName = new Map<string, T>();
  for (const place of places) {
    for (const one of await readPlace(kind, place, reading)) byName.set(one.name, one);
  }
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function readPlace<T extends Definition>(kind: Kind<T>, { folder, scope }: Place, reading: Reading): Promise<T[]> {
  reading.stamps.note(folder);
  const entries = await entriesOf(folder, reading.warn);
  const files = entries.flatMap((entry) => kind.fileOf(entry) ?? []);
  if (files.length > MOST) {
    reading.warn(`${folder} holds ${files.length} ${kind.word}s; only the first ${MOST} by name are used`);
  }
  const found = new Map<string, { path: string; definition: T }>();
  for (const { file, name } of files.slice(0, MOST)) {
    const path = join(folder, file);
    const definition = await readOne(kind, { path, scope, name }, reading);
    if (definition === undefined) continue;
    const before = found.get(definition.name);
    if (before !== undefined) {
      reading.warn(`${path}: there is a ${kind.word} '${definition.name}' in ${before.path} already; this one is used`);
    }
    found.set(definition.name, { path, definition });
  }
  return [...found.values()].map(({ definition }) => definition);
}

async function readOne<T extends Definition>(
  kind: Kind<T>,
  file: Pick<DefinitionFile, "path" | "scope" | "name">,
  { around, stamps, warn }: Reading,
): Promise<T | undefined> {
  const { path, scope } = file;
  stamps.note(path);
  const source = await readSource(path, { maxBytes: MAX_BYTES, within: boundary(scope, around) });
  if (source === undefined) return undefined;
  const read = "problem" in source ? source : await readFrontMatter(path, source.text);
  if ("problem" in read) {
    warn(read.problem);
    return undefined;
  }
  try {
    return kind.parse({ ...file, ...read });
  } catch (error) {
    warn(messageOf(error));
    return undefined;
  }
}

/** A hidden file defines nothing. */
async function entriesOf(folder: string, warn: (text: string) => void): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) {
      if (!name.startsWith(".")) names.push(name);
      if (names.length >= MOST_ENTRIES) {
        warn(`${folder} has more than ${MOST_ENTRIES} entries; the rest is not looked at`);
        break;
      }
    }
  } catch (error) {
    if (!isMissing(error)) warn(`${folder} cannot be read: ${messageOf(error)}`);
  }
  return names.toSorted();
}

// --- the values of front matter ---

export const text = v.nullish(v.string("must be a text"));
export const yesOrNo = v.nullish(v.boolean("must be true or false"));
/** A list, or one text with commas or spaces. */
export const tools = v.nullish(v.union([v.array(v.string()), v.pipe(v.string(), v.transform(splitTools))], "must be a list of tools"));

/** Commas and spaces inside brackets belong to a pattern. Nothing is dropped: the rules refuse entries that are no tool. */
function splitTools(list: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= list.length; at++) {
    const char = list[at];
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === undefined || (depth <= 0 && /[\s,]/.test(char))) {
      if (at > start) found.push(list.slice(start, at));
      start = at + 1;
    }
  }
  return found;
}

/**
 * The values of a file's keys. Throws a sentence with the line of the first that is wrong; unknown keys are ignored.
 */
export function valuesOf<S extends v.GenericSchema>(schema: S, { data, locate }: DefinitionFile): v.InferOutput<S> {
  const result = v.safeParse(schema, data);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const key = v.getDotPath(issue)?.split(".")[0] ?? "";
  throw new Error(`${locate(key)}: ${key} ${issue.message}`);
}

export function nameIn(given: string | null | undefined, { name, path, locate }: DefinitionFile): string {
  // Names are normalised: some file systems split letters that keyboards write as one.
  const chosen = (given?.trim() || name).normalize("NFC");
  if (NAME.test(chosen)) return chosen;
  const where = given?.trim() ? locate("name") : path;
  throw new Error(`${where}: '${chosen}' cannot be a name; letters, digits, '-', '_', '.' and ':' can be in one, 64 at most`);
}

/** The description, or else the first paragraph, on one line. */
export function descriptionIn(given: string | null | undefined, body: string): string {
  const paragraph = body
    .split(/\n\s*\n/)
    .map((part) => part.replace(/^#+\s.*$/m, "").trim())
    .find((part) => part !== "");
  return headOf(wellFormed((given?.trim() || paragraph || "").replace(/\s+/g, " ")), DESCRIPTION_CHARS);
}
