/**
 * The words of a command as far as they may name files: those of every simple command in it, of redirections, of lists that loops run
 * over, of here-documents, and of text that is itself a command. What variables hold is put in where it is known, and `*` where not.
 */
import type { Command, SyntaxNode } from "unbash";
import { baseName } from "./shell/words.js";

export interface CommandWord {
  text: string;
  /** A program's own name, or what a program is given that only reads or runs it. */
  reads: boolean;
  /** A folder that becomes the current one. */
  enters: boolean;
  /** A folder whose files may be read, with those of all folders in it. */
  descends: boolean;
}

const MAX_LENGTH = 65_536;
const MAX_DEPTH = 3;
const MAX_WORDS = 20_000;
/** Spellings of one word. */
const MAX_SPELLINGS = 64;
const MAX_EXPANSIONS = 32;
/** Characters of all spellings. */
const MAX_MADE = 4 * 1024 * 1024;

const READING = new Set(
  "cat file head less ls more stat tail wc grep rg bash bun dash deno node perl php python python3 ruby sh tsx uv zsh".split(" "),
);
const ENTERING = new Set(["cd", "pushd"]);
const DESCENDING = new Set("grep egrep fgrep zgrep rg ag ack cp tar rsync scp zip 7z".split(" "));

/** Undefined where the command is too long, or too tangled, to be read. Never throws. */
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

const NO_USE: Use = { reads: false, enters: false, descends: false };

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
    if (node.type === "Assignment" && node.value.type === "Word") this.#learn(node.name, this.#spellings(node.value.value));
    if (node.type === "Word") this.#take(node.value, depth, this.#uses.get(node));
    if (node.type === "HereDocBody") this.#take(node.text, depth);
    this.#shell.forEachChild(node, (child) => this.#visit(child, depth));
  }

  #noteUses({ name, args }: Command): void {
    if (name === undefined) return;
    const program = baseName(name.value);
    // Another program may run it: `sudo grep`.
    const descends = [name, ...args].some((word) => word.type === "Word" && DESCENDING.has(baseName(word.value)));
    this.#uses.set(name, { ...NO_USE, reads: true });
    for (const arg of args) this.#uses.set(arg, { reads: READING.has(program), enters: ENTERING.has(program), descends });
  }

  #take(value: string, depth: number, use = NO_USE): void {
    if (this.words.length > MAX_WORDS) throw new Error("too many words");
    for (const text of this.#spellings(value)) this.words.push({ text, ...use });
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

  /** Every variable with each value that it may have; those of other expansions, and of many in one word, are not known. */
  #withVariables(text: string): string[] {
    const expansions = [...text.matchAll(EXPANSION)];
    let found = [""];
    let end = 0;
    for (const { 0: whole, 1: plain, 2: braced, index } of expansions) {
      const [name = ""] = /^[A-Za-z_]\w*/.exec(plain ?? braced ?? "") ?? [];
      const values = expansions.length > MAX_EXPANSIONS ? ["*"] : (this.#known.get(name) ?? ["*"]);
      const before = text.slice(end, index);
      found = found.flatMap((start) => values.map((value) => start + before + value));
      this.#made += found.reduce((sum, { length }) => sum + length + 1, 0);
      if (this.#made > MAX_MADE) throw new Error("too many spellings");
      found = [...new Set(found)];
      if (found.length > MAX_SPELLINGS) return [text.replace(EXPANSION, "*")];
      end = index + whole.length;
    }
    return found.map((start) => start + text.slice(end));
  }
}

const EXPANSION = /\$(?:([A-Za-z_]\w*)|\{([^{}]*)\}|\([^()]*\)|[\d$!?#@*-])|`[^`]*`/g;

/** `a{b,c}` as `ab` and `ac`; where that would be too many, and for `{1..9}`, a `*` stands for all. */
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

/** Longer words are texts. */
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
