/**
 * Whether a command provably does no more than read files of the workspace: simple commands of known programs (programs.ts, git.ts), joined
 * by pipes, `&&`, `||`, `;` and lines, with literal words alone. A command without a proof is asked about.
 */
import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { Command, Redirect, SyntaxNode } from "unbash";
import type { Workspace } from "../../workspace/workspace.js";
import type { Hiding } from "../rules.js";
import { analyseShell } from "../shell/shell.js";
import { readWord } from "../shell/words.js";
import { gitReading, isHarmlessRepository } from "./git.js";
import { isBuiltin, readingOf } from "./programs.js";
import { isSecretName } from "./secret-files.js";

export interface ReadingPlace {
  workspace: Pick<Workspace, "root" | "directories" | "resolve">;
  /** The environment of commands. */
  env: Readonly<Record<string, string | undefined>>;
  /** Files that rules keep from reading tools. */
  hides: Hiding | undefined;
}

const MAX_LENGTH = 4096;
const MAX_COMMANDS = 32;
const MAX_FOLDERS = 8;

/** `folder` is the one in which the command begins: real, and inside the workspace. Never throws. */
export async function onlyReads(command: string, folder: string, place: ReadingPlace): Promise<boolean> {
  // Characters that shells and parsers may take differently.
  if (command.length > MAX_LENGTH || /[^\P{Cc}\t\n]/u.test(command)) return false;
  if (Object.keys(place.env).some((name) => CHANGING.test(name))) return false;
  try {
    const analysis = await analyseShell(command);
    if (!analysis.parsed || analysis.unseen !== undefined || analysis.commands.some(({ risks }) => risks !== undefined)) return false;
    const { parse } = await import("unbash");
    const script = parse(command);
    if (script.errors !== undefined && script.errors.length > 0) return false;
    const commands = script.commands.flatMap((statement) => {
      if (statement.background === true) return [undefined];
      const { command: node } = statement;
      return node.type === "AndOr" ? node.commands.flatMap(simpleCommands) : simpleCommands(node);
    });
    // A command that only prints words reads nothing.
    if (commands.length > MAX_COMMANDS || commands.every((each) => each?.words[0] === "echo")) return false;
    const reader = new Reader(folder, place);
    for (const each of commands) if (each === undefined || !(await reader.reads(each))) return false;
    return true;
  } catch {
    return false;
  }
}

/** Variables by which the shell, or a program of the table, does something else. */
const CHANGING = /^(?:BASH_ENV|ENV|CDPATH|RIPGREP_CONFIG_PATH|GREP_OPTIONS|POSIXLY_CORRECT|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;

interface SimpleCommand {
  words: readonly string[];
  /** It runs in a shell of its own. */
  piped: boolean;
}

/** Undefined for each part that is no simple command of literal words. */
function simpleCommands(node: SyntaxNode): (SimpleCommand | undefined)[] {
  if (node.type === "Command") return [simpleCommand(node, false)];
  if (node.type !== "Pipeline" || node.prefixes.length > 0) return [undefined];
  return node.commands.map((each) => (each.type === "Command" ? simpleCommand(each, node.commands.length > 1) : undefined));
}

function simpleCommand(node: Command, piped: boolean): SimpleCommand | undefined {
  if (node.name === undefined || node.prefix.length > 0) return undefined;
  if (!node.redirects.every((redirect) => redirect.type === "Redirect" && isHarmless(redirect))) return undefined;
  const words: string[] = [];
  for (const word of [node.name, ...node.args]) {
    if (word.type !== "Word" || word.text.startsWith("~")) return undefined;
    const { kind, value } = readWord(word);
    if (kind !== "literal") return undefined;
    words.push(value);
  }
  return { words, piped };
}

/** `2>/dev/null`, `&>/dev/null`, `2>&1`. */
function isHarmless({ operator, target, descriptor }: Redirect): boolean {
  if (target === undefined || readWord(target).kind !== "literal") return false;
  if (descriptor !== undefined && descriptor.type !== "FileDescriptor") return false;
  if (operator === ">&") return /^[12]$/.test(target.value);
  return [">", ">>", "&>", "&>>"].includes(operator) && target.value === "/dev/null";
}

class Reader {
  readonly #place: ReadingPlace;
  /** Folders that may be the current one: a `cd` may fail. */
  readonly #folders: Set<string>;

  constructor(folder: string, place: ReadingPlace) {
    this.#place = place;
    this.#folders = new Set([folder]);
  }

  async reads({ words: [name = "", ...args], piped }: SimpleCommand): Promise<boolean> {
    if (name === "cd") return !piped && this.#enters(args);
    if (!isBuiltin(name) && !(await this.#isTheSystems(name))) return false;
    if (name === "git") return this.#git(args);
    const reading = readingOf(name, args);
    if (reading === undefined || (reading.descends === true && this.#place.hides !== undefined)) return false;
    return this.#mayRead(reading.paths);
  }

  async #enters(args: readonly string[]): Promise<boolean> {
    const [target = ""] = args;
    // The shell takes `..` behind a link otherwise than the system.
    if (args.length !== 1 || target === "" || target.startsWith("-") || target.split("/").includes("..")) return false;
    const entered: string[] = [];
    for (const folder of this.#folders) {
      const path = await this.#pathInside(target, folder);
      if (path === undefined) return false;
      entered.push(path);
    }
    for (const path of entered) this.#folders.add(path);
    return this.#folders.size <= MAX_FOLDERS;
  }

  async #git(args: readonly string[]): Promise<boolean> {
    const { env, hides } = this.#place;
    const reading = gitReading(args);
    if (reading === undefined || (reading.shows === "contents" && hides !== undefined)) return false;
    for (const folder of this.#folders) {
      if (!(await isHarmlessRepository(folder, (path) => this.#rootOf(path) !== undefined, env))) return false;
    }
    return this.#mayRead(reading.paths);
  }

  async #mayRead(paths: readonly string[]): Promise<boolean> {
    for (const path of paths) {
      for (const folder of this.#folders) if ((await this.#pathInside(path, folder)) === undefined) return false;
    }
    return true;
  }

  /** The real path of a file or folder of the workspace that anybody may read; undefined for others. */
  async #pathInside(path: string, folder: string): Promise<string | undefined> {
    const { workspace, hides } = this.#place;
    if (path.startsWith("~")) return undefined;
    const found = await workspace.resolve(isAbsolute(path) ? path : folder + sep + path);
    const places = [found.path, found.named].map((each) => ({ path: each, root: this.#rootOf(each) }));
    for (const { path: each, root } of places) {
      if (root === undefined) return undefined;
      const inside = relative(root, each);
      if (isSecretName(inside) || hides?.({ path: each, relative: relative(workspace.root, each) }) === true) return undefined;
    }
    return found.path;
  }

  #rootOf(path: string): string | undefined {
    const { root, directories } = this.#place.workspace;
    return [root, ...directories].find((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep));
  }

  /** Whether the name is found on the PATH before any program of the workspace that has it. */
  async #isTheSystems(name: string): Promise<boolean> {
    if (!/^[a-z]+$/.test(name)) return false;
    for (const folder of (this.#place.env["PATH"] ?? "/usr/bin:/bin").split(":")) {
      if (!isAbsolute(folder)) return false;
      const program = join(folder, name);
      const isThere = await access(program, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) return this.#rootOf(program) === undefined && this.#rootOf(await realpath(program)) === undefined;
    }
    return false;
  }
}
