/**
 * The words of a command as far as they may name files: those of every simple command in it, of redirections, of lists that loops run over,
 * of here-documents, and of text that is itself a command. A variable is replaced by its value where that is known, and by `*` where not.
 */
import type { Assignment, Command, SyntaxNode } from "unbash";
import { baseName } from "./shell/words.js";

export interface CommandWord {
  text: string;
  /** A program's own name, or an argument of a program that only reads or runs files. */
  reads: boolean;
  /** A folder that becomes the current one. */
  enters: boolean;
  /** A folder whose files may be read, with those of all folders in it. */
  descends: boolean;
  /** A folder in which all files may be changed, moved or removed, or that is renamed. */
  alters: boolean;
}

const MAX_LENGTH = 65_536;
const MAX_DEPTH = 3;
const MAX_WORDS = 20_000;
/** The possible spellings of one word. */
const MAX_SPELLINGS = 64;
const MAX_EXPANSIONS = 32;
/** The most characters of all spellings. */
const MAX_MADE = 4 * 1024 * 1024;

const READING = new Set(
  "cat file head less ls more stat tail wc grep rg bash bun dash deno node perl php python python3 ruby sh tsx uv zsh".split(" "),
);
const ENTERING = new Set(["cd", "pushd"]);
const DESCENDING = new Set("grep egrep fgrep zgrep rg ag ack cp tar rsync scp zip 7z ln mount".split(" "));
const ALTERING = new Set(
  "rm rmdir shred mv cp ln mount chmod chown chgrp chattr setfacl tar bsdtar cpio rsync scp unzip 7z install".split(" "),
);
/** With these words find acts on the files that it finds. */
const ACTING = /^-(?:delete|exec|execdir|ok|okdir|fprint0?|fprintf|fls)$/;
/** Our own commands that change PARLEY_HOME. */
const OWN = /^(?:agent-)?parley(?:\.[cm]?js)?$/;
/** Words before a program that run it. */
const STARTING = /^(?:-.*|[A-Za-z_]\w*=.*|node|nodejs|bun|bunx|npx|npm|pnpm|yarn|exec|x|dlx|tsx|env|sudo|command|nohup|time|timeout|\d+)$/;
const DECIDING = /^(?:trust|permissions|mcp|sessions|--trust-workspace)$/;

/** Undefined if the command is too long or too complex to read. Never throws. */
export async function commandWords(
  command: string,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<CommandWord[] | undefined> {
  if (Buffer.byteLength(command) > MAX_LENGTH) return undefined;
  const reader = new Reader(variables, await import("unbash"));
  try {
    reader.script(command, 0);
    return reader.words;
  } catch {
    return undefined;
  }
}

type Use = Omit<CommandWord, "text">;

const NO_USE: Use = { reads: false, enters: false, descends: false, alters: false };

class Reader {
  readonly words: CommandWord[] = [];
  readonly #known = new Map<string, string[]>();
  readonly #uses = new Map<SyntaxNode, Use>();
  readonly #shell: typeof import("unbash");
  #read = 0;
  #made = 0;

  constructor(variables: Readonly<Record<string, string | undefined>>, shell: typeof import("unbash")) {
    for (const [name, value] of Object.entries(variables)) if (value !== undefined) this.#known.set(name, [value]);
    this.#shell = shell;
  }

  script(text: string, depth: number): void {
    this.#read += text.length;
    if (isTangled(text) || this.#read > (MAX_DEPTH + 1) * MAX_LENGTH) throw new Error("too tangled");
    this.#visit(this.#shell.parse(text), depth);
  }

  #visit(node: SyntaxNode, depth: number): void {
    if (node.type === "Command") this.#noteUses(node);
    if ((node.type === "For" || node.type === "Select") && node.wordlist !== undefined)
      this.#learn(
        node.name.value,
        node.wordlist.flatMap(({ value }) => this.#spellings(value)),
      );
    if (node.type === "Assignment") this.#assign(node);
    if (node.type === "Word") this.#take(node.value, depth, this.#uses.get(node));
    if (node.type === "HereDocBody") this.#take(node.text, depth);
    this.#shell.forEachChild(node, (child) => this.#visit(child, depth));
  }

  #noteUses({ name, args }: Command): void {
    if (name === undefined) return;
    const program = baseName(name.value);
    // Another program may run this one: `sudo grep`.
    const words = [name, ...args].flatMap((word) => (word.type === "Word" ? [word.value] : []));
    const acts = words.some((word) => baseName(word) === "find") && words.some((word) => ACTING.test(word));
    const descends = acts || words.some((word) => DESCENDING.has(baseName(word)));
    const alters = acts || words.some((word) => ALTERING.has(baseName(word)));
    this.#uses.set(name, { ...NO_USE, reads: true });
    for (const arg of args) this.#uses.set(arg, { reads: READING.has(program), enters: ENTERING.has(program), descends, alters });
    const own = words.findIndex((word) => OWN.test(baseName(word)));
    const isRun = words.slice(0, Math.max(0, own)).every((word) => STARTING.test(baseName(word)));
    if (own >= 0 && isRun && words.slice(own + 1).some((word) => DECIDING.test(word))) this.words.push({ text: "$PARLEY_HOME", ...NO_USE });
    if (program === "ps" && showsEnvironments(words.slice(1))) this.words.push({ text: "/proc/*/environ", ...NO_USE });
  }

  #count(made: readonly string[]): void {
    this.#made += made.reduce((sum, { length }) => sum + length + 1, 0);
    if (this.#made > MAX_MADE) throw new Error("too many spellings");
  }

  #assign({ name, append, value }: Assignment): void {
    const values = (value.type === "Word" ? [value] : value.elements).flatMap((word) => this.#spellings(word.value));
    if (append !== true) return this.#learn(name, values);
    const before = this.#known.get(name) ?? [""];
    const joined = before.flatMap((start) => values.map((end) => start + end));
    this.#count(joined);
    this.#learn(name, [...values, ...joined]);
  }

  #take(value: string, depth: number, use = NO_USE): void {
    if (this.words.length > MAX_WORDS) throw new Error("too many words");
    for (const text of this.#spellings(value)) this.words.push({ text, ...use });
    const [, name, set] = /^([A-Za-z_]\w*)\+?=(.*)$/s.exec(value) ?? [];
    if (name !== undefined && set !== undefined) this.#learn(name, this.#spellings(set));
    if (depth < MAX_DEPTH && /[\s;&|<>]/.test(value)) this.script(value, depth + 1);
  }

  #learn(name: string, values: readonly string[]): void {
    const all = new Set([...(this.#known.get(name) ?? []), ...values]);
    this.#known.set(name, all.size > MAX_SPELLINGS ? ["*"] : [...all]);
  }

  #spellings(value: string): string[] {
    const found = withBraces(value).flatMap((text) => this.#withVariables(text));
    return found.length > MAX_SPELLINGS ? [value.replace(/\{.*\}/s, "*").replace(EXPANSION, "*")] : found;
  }

  /** `expansion`: the text behind the dollar. `${x:-y}` may be `y`, and `${!x}` is the variable that `x` names. */
  #valuesOf(expansion: string): string[] {
    const [, indirect, name = "", rest = ""] = /^(!?)([A-Za-z_]\w*)(.*)$/s.exec(expansion) ?? [];
    const [, instead] = /^(?:\[[^\]]*\])?:?[-=+](.*)$/s.exec(rest) ?? [];
    const own = this.#known.get(name) ?? ["*"];
    const values = indirect === "!" ? own.flatMap((each) => this.#known.get(each) ?? ["*"]) : own;
    return instead === undefined ? values : [...values, instead];
  }

  /** Every variable with its possible values; those from other expansions, and of several in one word, are unknown. */
  #withVariables(text: string): string[] {
    const expansions = [...text.matchAll(EXPANSION)];
    let found = [""];
    let end = 0;
    for (const { 0: whole, 1: plain, 2: braced, index } of expansions) {
      const values = expansions.length > MAX_EXPANSIONS ? ["*"] : this.#valuesOf(plain ?? braced ?? "");
      const before = text.slice(end, index);
      found = found.flatMap((start) => values.map((value) => start + before + value));
      this.#count(found);
      found = [...new Set(found)];
      if (found.length > MAX_SPELLINGS) return [text.replace(EXPANSION, "*")];
      end = index + whole.length;
    }
    return found.map((start) => start + text.slice(end));
  }
}

/** `ps e` shows the environment of processes, `ps -e` all processes. */
function showsEnvironments(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (/^-[A-Za-z]*E|^-?-?environ/.test(word)) return true;
    return /^[A-Za-z]*e[A-Za-z]*$/.test(word) && !/^-[A-Za-z]*[oOCuUpgGtsqk]$|^--[a-z]+$/.test(args[at - 1] ?? "");
  });
}

const EXPANSION = /\$(?:([A-Za-z_]\w*)|\{([^{}]*)\}|\([^()]*\)|[\d$!?#@*-])|`[^`]*`/g;

/** `a{b,c}` becomes `ab` and `ac`; if there are too many, and for `{1..9}`, a `*` stands for all. */
function withBraces(text: string): string[] {
  const done: string[] = [];
  const todo = [text];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const choice = text.length > MAX_BRACED ? undefined : firstChoice(next);
    if (choice === undefined) done.push(next);
    else for (const one of choice.ways) todo.push(next.slice(0, choice.from) + one + next.slice(choice.to));
    if (done.length + todo.length > MAX_SPELLINGS) return [text.replace(/\{.*\}/s, "*")];
  }
  return done;
}

/** Longer words are texts, not paths. */
const MAX_BRACED = 4096;

function firstChoice(text: string): { from: number; to: number; ways: readonly string[] } | undefined {
  for (const { 0: whole, 1: inner = "", index } of text.matchAll(/\{([^{}]*)\}/g)) {
    if (text[index - 1] === "$" || !/,|\.\./.test(inner)) continue;
    return { from: index, to: index + whole.length, ways: inner.includes(",") ? inner.split(",") : ["*"] };
  }
  return undefined;
}

/** The parser takes quadratic time over long runs of these openers. */
function isTangled(text: string): boolean {
  return text.split("{").length > 4096 || text.split(/\$[[(]|[<>]\(|<</).length > 512;
}
