/** Memory files: the instructions of the user and the project for every conversation, in AGENTS.md and CLAUDE.md. */
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import type { Reading } from "./definitions.js";
import { boundary, type Scope, type Surroundings } from "./places.js";
import { readSource } from "./source-file.js";

const MAX_BYTES = 128 * 1024;
const MAX_TOTAL_BYTES = 256 * 1024;
const MAX_INCLUDES = 5;
/** The most files together: each is a disk access. */
const MOST_INCLUDES = 100;

export interface MemoryFile {
  path: string;
  /** The path without links. */
  real: string;
  scope: Scope;
  bytes: number;
  text: string;
}

/** General files come first; included files follow the file that includes them. */
export async function readMemory(reading: Reading): Promise<MemoryFile[]> {
  const memory = new Memory(reading);
  for (const { scope, path } of starts(reading.around)) await memory.read(path, scope);
  return memory.files;
}

/** The files of these folders of the workspace that are not known yet. */
export async function readNestedMemory(reading: Reading, folders: readonly string[], known: readonly MemoryFile[]): Promise<MemoryFile[]> {
  const memory = new Memory(reading, known);
  for (const folder of folders) for (const path of filesIn(folder)) await memory.read(path, "project");
  return memory.files;
}

/** The files as text for the system prompt. */
export function memoryText({ path, text }: MemoryFile): string {
  return `Instructions from ${path}:\n\n${text}`;
}

function starts({ home, userHome, root, repository }: Surroundings): { scope: Scope; path: string }[] {
  const user = [join(home, "AGENTS.md"), join(userHome, ".claude", "CLAUDE.md")];
  const project = [repository, ...foldersBelow(repository, root)].flatMap(filesIn);
  return [...user.map((path) => ({ scope: "user" as const, path })), ...project.map((path) => ({ scope: "project" as const, path }))];
}

/** The folders on the way from one folder down to another, the last one included. */
export function foldersBelow(from: string, to: string): string[] {
  const names = relative(from, to).split(sep);
  if (names[0] === "" || names[0] === "..") return [];
  return names.map((_, index) => join(from, ...names.slice(0, index + 1)));
}

function filesIn(folder: string): string[] {
  return [join(folder, "AGENTS.md"), join(folder, "CLAUDE.md")];
}

class Memory {
  readonly files: MemoryFile[] = [];
  readonly #reading: Reading;
  readonly #seen = new Set<string>();
  readonly #texts = new Set<string>();
  #total = 0;
  #includes = 0;

  constructor(reading: Reading, known: readonly MemoryFile[] = []) {
    this.#reading = reading;
    for (const { real, text } of known) this.#note(real, text);
  }

  /** Equal texts count once: many projects have one file under both names. */
  #note(real: string, text: string): void {
    this.#seen.add(real);
    this.#texts.add(text);
  }

  /** Whether there is such a file, usable or not. `chain` are the real paths that include it. */
  async read(path: string, scope: Scope, chain: readonly string[] = []): Promise<boolean> {
    const { around, stamps, warn } = this.#reading;
    stamps.note(path);
    const source = await readSource(path, { maxBytes: MAX_BYTES, within: boundary(scope, around) });
    if (source === undefined) return false;
    if ("problem" in source) {
      warn(source.problem);
      return true;
    }
    if (chain.includes(source.real)) warn(`${chain.at(-1)} includes ${path}, which includes it in turn; it is read once`);
    if (this.#seen.has(source.real)) return true;
    this.#seen.add(source.real);
    const text = source.text.trim();
    if (this.#texts.has(text)) return true;
    if (this.#total + source.bytes > MAX_TOTAL_BYTES) {
      warn(`${path} is left out: the memory files before it fill the ${MAX_TOTAL_BYTES} bytes that there are for them`);
      return true;
    }
    this.#total += source.bytes;
    this.#note(source.real, text);
    if (text !== "") this.files.push({ path, real: source.real, scope, bytes: source.bytes, text });
    for (const include of includesIn(source.text)) {
      if (this.#includes++ === MOST_INCLUDES)
        warn(`${path}:${include.line}: this and what follows is left out: ${MOST_INCLUDES} includes are followed`);
      if (this.#includes > MOST_INCLUDES) break;
      await this.#include(include, path, scope, [...chain, source.real]);
    }
    return true;
  }

  async #include({ line, target, isSure }: Include, from: string, scope: Scope, chain: readonly string[]): Promise<void> {
    const { warn } = this.#reading;
    const where = `${from}:${line}`;
    if (target.startsWith("~/") && scope !== "user") return warn(`${where}: only your own files may include ${target}; it is left out`);
    if (chain.length > MAX_INCLUDES) return warn(`${where}: ${target} is left out: includes reach ${MAX_INCLUDES} files deep`);
    const path = located(target, dirname(from), this.#reading.around.userHome);
    const isThere = await this.read(path, scope, chain);
    if (!isThere && isSure) warn(`${where}: there is no file ${path} to include`);
  }
}

interface Include {
  line: number;
  target: string;
  /** A bare `@word` may also be a person's name. */
  isSure: boolean;
}

/** Lines that are nothing but `@path` or `@include path`, outside fenced code. */
export function includesIn(text: string): Include[] {
  const found: Include[] = [];
  let fence: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const [, mark] = /^ {0,3}(```|~~~)/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || fence === mark)) fence = fence === undefined ? mark : undefined;
    if (fence !== undefined) continue;
    const [, keyword, target] = /^@(include\s+)?(\S.*)$/.exec(line.trim()) ?? [];
    if (target === undefined || (keyword === undefined && /\s/.test(target))) continue;
    found.push({ line: index + 1, target, isSure: keyword !== undefined || /[./]/.test(target) });
  }
  return found;
}

function located(target: string, folder: string, userHome: string): string {
  if (target.startsWith("~/")) return join(userHome, target.slice(2));
  return isAbsolute(target) ? target : resolve(folder, target);
}
