/**
 * Secrets known by their shape alone: keys of vendors, tokens, signed tokens (JWT), private keys in PEM. A shape has a beginning
 * that other text does not have, and a least length, so that words, slugs and placeholders such as `sk-your-key-here` do not match.
 *
 * A bounded number of characters decides; a secret may then be of any length. So little text
 * is held back when it comes in pieces, and `ShapeStream` finds in pieces exactly what `shapesIn` finds in the whole.
 */

import { Beginnings, CONTEXT, hasBorder } from "./shape-beginnings.js";

export interface Range {
  from: number;
  to: number;
}

/** The number of characters behind the beginning that decide whether it is a secret. */
const DECIDED = 40;

interface Shape {
  beginnings: readonly string[];
  least: number;
  /** The secret has exactly the least length. */
  exact: boolean;
  /** A pattern that the head must match; a matching head still matches when it grows. */
  telling: RegExp | undefined;
  /** Matches the deciding part. */
  head: RegExp;
  /** Matches the characters behind the head that belong to the secret. */
  rest: RegExp;
}

/** `character` matches one character behind the beginning. */
function shape(beginnings: readonly string[], character: string, least: number, more: { exact?: true; telling?: RegExp } = {}): Shape {
  const { exact = false, telling } = more;
  return {
    beginnings,
    least,
    exact,
    telling,
    head: new RegExp(`${character}{0,${exact ? least + 1 : DECIDED}}`, "y"),
    rest: new RegExp(`${character}*`, "y"),
  };
}

/** The first matching shape counts. */
const SHAPES: readonly Shape[] = [
  // Anthropic, OpenAI, OpenRouter; then other vendors' `sk-`, with which class names and slugs begin, too.
  shape(["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"], "[\\w-]", 16, { telling: /[A-Z\d]|[a-z]{16}/ }),
  shape(["sk-"], "[\\w-]", 20, { telling: /[A-Z]|[a-z\d]{16}/ }),
  // GitHub and GitLab.
  shape(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "\\w", 30),
  shape(["github_pat_"], "\\w", 22),
  shape(["glpat-"], "[\\w-]", 20),
  // Slack.
  shape(["xoxa-", "xoxb-", "xoxc-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], "[A-Za-z\\d-]", 10, { telling: /\d/ }),
  // Stripe, DigitalOcean, Hugging Face, Groq, PyPI, npm, xAI, Google, and the ids of AWS's keys.
  shape(["sk_live_", "rk_live_"], "[A-Za-z\\d]", 16),
  shape(["sk_test_", "rk_test_"], "[A-Za-z\\d]", 16, { telling: /[A-Z\d]/ }),
  shape(["dop_v1_"], "[a-f\\d]", 40),
  shape(["hf_"], "[A-Za-z\\d]", 30, { telling: /[A-Z\d]/ }),
  shape(["gsk_"], "[A-Za-z\\d]", 40),
  shape(["pypi-Ag"], "[\\w-]", 40),
  shape(["npm_"], "[A-Za-z\\d]", 36),
  shape(["xai-"], "[A-Za-z\\d]", 40, { telling: /\d/ }),
  shape(["AIza"], "[\\w-]", 35),
  shape(["AKIA", "ASIA"], "[A-Z\\d]", 16, { exact: true }),
];

/** A signed token is two pieces of JSON and a signature, each in base64url, so both pieces begin as `{"` does. */
const JWT = "eyJ";
const JWT_HEADER = /[\w-]{0,512}/y;
const JWT_REST = /[\w.-]*/y;
const JWT_HEADER_CHARS = 512;
const JWT_LEAST = 8;

/** The heading of a key is not secret; the lines behind it are. */
const HEADING = "-----BEGIN ";
const HEADING_REST = /(?:[A-Z\d]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
const HEADING_CHARS = 64;
const KEY_CHARACTERS = /[A-Za-z\d+/=]+/y;
/** The least length of a key's line after only line ends, line numbers and marks of a quotation or a diff; other lines must be long. */
const LINE = 16;
const LONG_LINE = 40;
const PLAIN_GAP = 40;
/** After so many other characters the key has ended. */
const GAP = 160;
const PLAIN_WORD = /^(?:\d{1,6}|[+/]{1,3})$/;

const WORD = /\w*/y;

const WITH_SHAPE = SHAPES.flatMap((each) => each.beginnings.map((whole) => ({ sought: sought(whole), whole, shape: each })));
const BY_SOUGHT = new Map(WITH_SHAPE.map(({ sought: word }) => [word, WITH_SHAPE.filter((each) => each.sought === word)]));

/** Shapes that begin with `sk-…` are all found by `sk-`. */
function sought(beginning: string): string {
  return beginning.startsWith("sk-") ? "sk-" : beginning;
}

const BEGINNINGS = new Beginnings([...BY_SOUGHT.keys(), JWT, HEADING]);

/** Shorter texts contain no secret. */
const SHORTEST = Math.min(...SHAPES.flatMap(({ beginnings, least }) => beginnings.map(({ length }) => length + least)));

/** The secrets in a whole text, in order. */
export function shapesIn(text: string): Range[] {
  return text.length < SHORTEST || !BEGINNINGS.in(text) ? [] : new ShapeStream().all(text);
}

/** The state of reading: how the following text is read. */
type State =
  | undefined
  /** Inside a secret, which continues with these characters. */
  | { kind: "secret"; rest: RegExp }
  /** After the heading of a key: the number of characters since it or the last line, and whether they were plain ones. */
  | { kind: "key"; gap: number; isPlain: boolean }
  /** Inside a line of a key. */
  | { kind: "line" };

interface Step {
  /** The text is decided up to here, and `state` holds from here on. */
  at: number;
  state: State;
  found?: Range;
  /** The decision needs more text. */
  waits?: true;
}

/** Cutting the context with each piece would cost more than all other work. */
const MOST_CONTEXT = 96;

const NONE: readonly Range[] = [];

/** Finds shapes in text that comes in pieces. Positions count from the start of the first piece. */
export class ShapeStream {
  /** The text is decided up to here: no secret yet to be found begins before. */
  decided = 0;
  #state: State;
  #held = "";
  /** The last part of the decided text. */
  #context = "";
  /** The last two characters of the decided text, as codes. */
  #last = 0;
  #lastButOne = 0;
  /** The last found range; it grows with its secret. */
  #found: Range | undefined;

  /** No text is held back, and no secret continues. */
  get isIdle(): boolean {
    return this.#state === undefined && this.#held === "";
  }

  /** The text so far ends inside a secret that may continue. */
  get isOpen(): boolean {
    return this.#state?.kind === "secret" || this.#state?.kind === "line";
  }

  /** Returns the ranges found with this piece, and again each range that grew. */
  push(piece: string): readonly Range[] {
    if (!this.isIdle || BEGINNINGS.mayConcern(piece, this.#last, this.#lastButOne)) return this.#read(piece, false);
    this.#pass(piece);
    return NONE;
  }

  /** Reads a whole text. */
  all(text: string): Range[] {
    return this.#read(text, true);
  }

  /** Returns the rest at the end of the text. The next push begins a new text. */
  flush(): Range[] {
    const found = this.#held === "" ? [] : this.#read("", true);
    this.#state = undefined;
    this.#context = "";
    this.#last = this.#lastButOne = 0;
    this.#found = undefined;
    return found;
  }

  #pass(piece: string): void {
    const { length } = piece;
    this.decided += length;
    this.#context = length < CONTEXT ? this.#context + piece : piece;
    if (this.#context.length > MOST_CONTEXT) this.#context = this.#context.slice(-CONTEXT);
    this.#lastButOne = length > 1 ? piece.charCodeAt(length - 2) : length > 0 ? this.#last : this.#lastButOne;
    this.#last = length > 0 ? piece.charCodeAt(length - 1) : this.#last;
  }

  #read(piece: string, isEnd: boolean): Range[] {
    const context = this.#context.slice(-CONTEXT);
    const text = context + this.#held + piece;
    const start = this.decided - context.length;
    const found: Range[] = [];
    let at = context.length;
    for (let waits = false; !waits && at < text.length;) {
      const step = nextStep(text, at, this.#state, isEnd);
      if (step.found !== undefined) this.#note(start + step.found.from, start + step.found.to, found);
      ({ at, state: this.#state, waits = false } = step);
    }
    this.decided = start + at;
    this.#held = text.slice(at);
    this.#context = text.slice(Math.max(0, at - CONTEXT), at);
    this.#last = at > 0 ? text.charCodeAt(at - 1) : 0;
    this.#lastButOne = at > 1 ? text.charCodeAt(at - 2) : 0;
    return found;
  }

  #note(from: number, to: number, found: Range[]): void {
    if (this.#found?.to === from) this.#found.to = to;
    else this.#found = { from, to };
    if (found.at(-1) !== this.#found) found.push(this.#found);
  }
}

function nextStep(text: string, at: number, state: State, isEnd: boolean): Step {
  switch (state?.kind) {
    case undefined:
      return fromPlain(text, at, isEnd);
    case "secret":
      return onwards(text, at, runAt(text, at, state.rest), state, undefined);
    case "line":
      return onwards(text, at, runAt(text, at, KEY_CHARACTERS), state, { kind: "key", gap: 0, isPlain: true });
    case "key":
      return fromKey(text, at, state, isEnd);
  }
}

/** Skips to the next secret or heading, or to the end. */
function fromPlain(text: string, from: number, isEnd: boolean): Step {
  for (let next = BEGINNINGS.next(text, from); next !== undefined; next = BEGINNINGS.next(text, next.at + 1)) {
    const step = readAt(text, next.at, next.word, isEnd);
    if (step !== undefined) return step;
  }
  const part = isEnd ? -1 : BEGINNINGS.partAtEnd(text, from);
  return part === -1 ? { at: text.length, state: undefined } : waiting(part);
}

function onwards(text: string, at: number, run: string, state: State, behind: State): Step {
  const end = at + run.length;
  return { at: end, state: end === text.length ? state : behind, ...(run !== "" && { found: { from: at, to: end } }) };
}

/** Undefined if no secret begins here. */
function readAt(text: string, at: number, word: string, isEnd: boolean): Step | undefined {
  if (!hasBorder(text, at)) return undefined;
  if (word === HEADING) return readHeading(text, at, isEnd);
  if (word === JWT) return readJwt(text, at, isEnd);
  for (const { whole, shape: each } of BY_SOUGHT.get(word) ?? []) {
    const step = text.startsWith(whole, at) ? readShape(text, at, at + whole.length, each, isEnd) : undefined;
    if (step !== undefined) return step;
  }
  return undefined;
}

function waiting(at: number, state?: State): Step {
  return { at, state, waits: true };
}

function readShape(
  text: string,
  at: number,
  start: number,
  { least, exact, telling, head, rest }: Shape,
  isEnd: boolean,
): Step | undefined {
  const run = runAt(text, start, head);
  const end = start + run.length;
  const mayGrow = !isEnd && end === text.length && run.length < DECIDED;
  if (exact) {
    if (mayGrow && run.length <= least) return waiting(at);
    return run.length === least && runAt(text, end, WORD) === "" ? { at: end, state: undefined, found: { from: at, to: end } } : undefined;
  }
  if (run.length >= least && telling?.test(run) !== false)
    return { at: end, state: { kind: "secret", rest }, found: { from: at, to: end } };
  return mayGrow ? waiting(at) : undefined;
}

/** Two pieces of JSON are proof enough; the signature may be long. */
function readJwt(text: string, at: number, isEnd: boolean): Step | undefined {
  const header = runAt(text, at + JWT.length, JWT_HEADER);
  if (header.length === JWT_HEADER_CHARS) return undefined;
  const dot = at + JWT.length + header.length;
  if (dot === text.length) return isEnd ? undefined : waiting(at);
  if (header.length < JWT_LEAST) return undefined;
  const wanted = `.${JWT}`;
  const end = dot + wanted.length + JWT_LEAST;
  const payload = text.slice(dot, end);
  if (!payload.startsWith(wanted.slice(0, payload.length)) || !/^[\w-]*$/.test(payload.slice(wanted.length))) return undefined;
  if (end <= text.length) return { at: end, state: { kind: "secret", rest: JWT_REST }, found: { from: at, to: end } };
  return isEnd ? undefined : waiting(at);
}

function readHeading(text: string, at: number, isEnd: boolean): Step | undefined {
  const start = at + HEADING.length;
  const rest = runAt(text, start, HEADING_REST);
  if (rest !== "") return { at: start + rest.length, state: { kind: "key", gap: 0, isPlain: true } };
  const left = text.slice(start, start + HEADING_CHARS);
  return !isEnd && left.length < HEADING_CHARS && /^[A-Z\d -]*$/.test(left) ? waiting(at) : undefined;
}

/** The next word or character behind a heading or a line. */
function fromKey(text: string, at: number, { gap, isPlain }: State & { kind: "key" }, isEnd: boolean): Step {
  if (gap > GAP) return { at, state: undefined };
  const state: State = { kind: "key", gap, isPlain };
  const beginning = BEGINNINGS.at(text, at);
  const other = beginning === undefined ? undefined : readAt(text, at, beginning, isEnd);
  if (other?.waits === true || (!isEnd && BEGINNINGS.isPart(text, at))) return waiting(at, state);
  if (other !== undefined) return other;
  const word = runAt(text, at, KEY_CHARACTERS);
  if (word === "" || isEscape(text, at)) return { at: at + 1, state: { ...state, gap: gap + 1 } };
  const end = at + word.length;
  const isLine = word.length >= (isPlain && gap <= PLAIN_GAP ? LINE : LONG_LINE);
  if (isLine) return { at: end, state: { kind: "line" }, found: { from: at, to: end } };
  if (end === text.length && !isEnd) return waiting(at, state);
  if (word === "END" && text.startsWith("--", at - 2)) return { at: end, state: undefined };
  return { at: end, state: { kind: "key", gap: gap + word.length, isPlain: isPlain && PLAIN_WORD.test(word) } };
}

/** `\n` as it is escaped in JSON. */
function isEscape(text: string, at: number): boolean {
  return text[at - 1] === "\\" && /[nrt]/.test(text.charAt(at));
}

function runAt(text: string, at: number, pattern: RegExp): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}
