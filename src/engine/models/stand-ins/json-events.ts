/**
 * A faster parser for the events of an answer in the provider packages (scripts/stand-ins.mjs). Most events differ from an earlier one only in a
 * text, in counts and in ids, and parsing and checking each event is most of the cost of a delta. So a parsed event
 * becomes a pattern: an event that differs from it in such places only gets the same result, with its own
 * text, numbers and ids.
 */

/** The result of a package's parser; an error is the package's own. */
export type Parsed = { success: true; value: unknown; rawValue: unknown } | { success: false; error: unknown; rawValue: unknown };

interface Controller {
  enqueue(parsed: Parsed): void;
}

interface Transformer {
  transform(event: { data: string }, controller: Controller): void | Promise<void>;
}

/** After that many unused patterns in a row the server sends events of another kind, and no more are made for this answer. */
const TRIES = 16;
/** The most patterns of one schema; the one used longest ago is removed. */
const MOST_PATTERNS = 8;
/** Longer events are parsed fully, as the server decides their size and so the cost of a pattern. */
const LONGEST_EVENT = 4096;

interface Memory {
  patterns: Pattern[];
  /** The pattern used last. */
  fitted: Pattern | undefined;
  /** The number of uses of a pattern. */
  uses: number;
  /** The last parsed event. Its pattern is made at the next event, so that the first text of an answer does not wait for it. */
  last: { data: string; value: unknown } | undefined;
}

/** Patterns by the schema of the package: the next answer is much like the last. */
const memories = new WeakMap<object, Memory>();

/** A transformer for the events of one answer; `parse` is the package's own parser, with `schema`. */
export function jsonEvents(parse: (text: string) => Promise<Parsed>, schema: object): Transformer {
  const memory = memories.get(schema) ?? { patterns: [], fitted: undefined, uses: 0, last: undefined };
  memories.set(schema, memory);
  const { patterns } = memory;
  let tries = TRIES;
  return { transform };

  function transform({ data }: { data: string }, controller: Controller): void | Promise<void> {
    if (data === "[DONE]") return;
    if (memory.last !== undefined) learn(memory.last);
    const fitting = data.length > LONGEST_EVENT ? undefined : fit(data);
    if (fitting === undefined) return parseFully(data, controller);
    tries = TRIES;
    controller.enqueue(fitting);
  }

  /** The pattern that followed the last one before is likely to follow it again. */
  function fit(data: string): Parsed | undefined {
    const { fitted } = memory;
    for (let at = -1; at < patterns.length; at++) {
      const pattern = at === -1 ? fitted?.next : patterns[at];
      const fitting = pattern?.parse(data);
      if (pattern === undefined || fitting === undefined) continue;
      if (fitted !== undefined) fitted.next = pattern;
      memory.fitted = pattern;
      pattern.used = ++memory.uses;
      return fitting;
    }
    return undefined;
  }

  async function parseFully(data: string, controller: Controller): Promise<void> {
    const parsed = await parse(data);
    if (parsed.success && tries > 0 && data.length <= LONGEST_EVENT) memory.last = { data: copyOf(data), value: parsed.value };
    controller.enqueue(parsed);
  }

  /** Cuts the links from and to a removed pattern, which would keep it in memory. */
  function forget(): void {
    const oldest = patterns.reduce((a, b) => (b.used < a.used ? b : a));
    patterns.splice(patterns.indexOf(oldest), 1);
    for (const pattern of [oldest, ...patterns]) if (pattern === oldest || pattern.next === oldest) pattern.next = undefined;
  }

  function learn({ data, value }: { data: string; value: unknown }): void {
    memory.last = undefined;
    const next = patternOf(data, value);
    if (next === undefined) return;
    next.used = ++memory.uses;
    patterns.unshift(next);
    tries--;
    if (patterns.length > MOST_PATTERNS) forget();
  }
}

/** An event is a slice of a larger text, and would keep that in memory. */
function copyOf(data: string): string {
  return Buffer.from(data).toString();
}

// --- what may differ ---

/**
 * The names of fields with streamed text, ids and counts. The packages do not check the values of these strings and numbers,
 * so any other value passes, too.
 */
const TEXTS = "content|reasoning|reasoning_content|text|thinking|partial_json|arguments|delta";
const IDS = "id|item_id|obfuscation";
const NUMBERS = "created|sequence_number|\\w+_tokens";
const NAME = new RegExp(String.raw`"(?:(${TEXTS})|(${IDS}))"\s*:\s*"|"(${NUMBERS})"\s*:\s*(?=\d+\s*[,}\]])`, "g");

/** A place where events may differ. */
interface Hole {
  name: string;
  isText: boolean;
  isNumber: boolean;
  value: unknown;
  /** The number of places for it in the package's result. */
  places: number;
}

/** Only if the package passes the differing text on unchanged. An escape elsewhere might hide one of the names. */
function patternOf(data: string, value: unknown): Pattern | undefined {
  const holes: Hole[] = [];
  const literals: string[] = [];
  let from = 0;
  for (NAME.lastIndex = 0; ;) {
    const found = NAME.exec(data);
    if (found === null) break;
    const [, text, id, number] = found;
    const name = text ?? id ?? number ?? "";
    const start = NAME.lastIndex;
    const end = endOf(data, start, number !== undefined);
    const differing = valueOf(data.slice(start, end), number !== undefined);
    if (differing === undefined || holes.some((hole) => hole.name === name)) return undefined;
    literals.push(data.slice(from, start));
    holes.push({ name, isText: text !== undefined, isNumber: number !== undefined, value: differing, places: 0 });
    NAME.lastIndex = from = end;
  }
  literals.push(data.slice(from));
  if (literals.some((literal) => literal.includes("\\"))) return undefined;
  const make = makerOf(value, undefined, holes);
  // A place that is not in the package's result is unused; only a text must be in it.
  const isClear = holes.every(({ places, isText }) => places === 1 || (places === 0 && !isText));
  return isClear && make !== undefined ? new Pattern(literals, holes, make) : undefined;
}

/** The end of the digits, or the quote that ends the string; the end of the data if there is none. */
function endOf(data: string, start: number, isNumber: boolean): number {
  let end = start;
  if (isNumber) {
    while (isDigit(data.charCodeAt(end))) end++;
    return end;
  }
  for (end = data.indexOf('"', start); end !== -1 && isEscaped(data, end); end = data.indexOf('"', end + 1));
  return end === -1 ? data.length : end;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isEscaped(data: string, at: number): boolean {
  let slashes = 0;
  while (data.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

const BACKSLASH = 0x5c;

/** The value at this place; undefined if it is more than a string, or no safe number: a package may refuse a large one. */
function valueOf(raw: string, isNumber: boolean): unknown {
  if (isNumber) return countOf(raw);
  try {
    const value: unknown = JSON.parse(`"${raw}"`);
    return value;
  } catch {
    return undefined;
  }
}

/** Digits only, as JSON writes them. */
function countOf(digits: string): number | undefined {
  const count = Number(digits);
  return digits === "" || (digits.startsWith("0") && digits !== "0") || !Number.isSafeInteger(count) ? undefined : count;
}

// --- the value anew ---

/** Twice the depth of any vendor's events. */
const DEEPEST = 32;

/** The value with the new contents of the holes. */
type Make = (filling: readonly unknown[]) => unknown;

/** Copies each object from the top to a hole, and at least the top; undefined if there is nothing to copy. */
function makerOf(value: unknown, name: string | undefined, holes: readonly Hole[], depth = 0): Make | undefined {
  const at = holes.findIndex((hole) => hole.name === name && hole.value === value);
  const hole = holes[at];
  if (hole !== undefined) {
    hole.places++;
    return (filling) => filling[at];
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > DEEPEST) {
    // The package does not read these, so each may have a place there, too.
    for (const unclear of holes) unclear.places = Infinity;
    return undefined;
  }
  const isTop = name === undefined;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    const children = items.flatMap((item, key) => childOf(key, makerOf(item, "", holes, depth + 1)));
    return isTop || children.length > 0 ? (filling) => filled(items.slice(), children, filling) : undefined;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
  const children = Object.entries(value).flatMap(([key, child]) => childOf(key, makerOf(child, key, holes, depth + 1)));
  return isTop || children.length > 0 ? (filling) => filled<string>({ ...value }, children, filling) : undefined;
}

interface Child<Key> {
  key: Key;
  make: Make;
}

function childOf<Key>(key: Key, make: Make | undefined): Child<Key>[] {
  return make === undefined ? [] : [{ key, make }];
}

/** Every delta passes here: changing a copy is many times cheaper than a literal with computed names. */
function filled<Key extends PropertyKey>(
  copy: { [K in Key]: unknown },
  children: readonly Child<Key>[],
  filling: readonly unknown[],
): object {
  for (let at = 0; at < children.length; at++) {
    const child = children[at];
    if (child !== undefined) copy[child.key] = child.make(filling);
  }
  return copy;
}

class Pattern {
  /** Counts up: the pattern with the lowest number was used longest ago. */
  used = 0;
  /** The pattern that was used after it the last time. */
  next: Pattern | undefined;
  /** One more than the number of holes. */
  readonly #literals: readonly string[];
  readonly #holes: readonly Hole[];
  readonly #make: Make;
  /** The hole of the text, if it is the only one. */
  readonly #text: number | undefined;
  /** The parts before and after the last text: within one answer they are usually the same. */
  #head = "";
  #tail = "";
  #filling: unknown[] = [];

  constructor(literals: readonly string[], holes: readonly Hole[], make: Make) {
    this.#literals = literals;
    this.#holes = holes;
    this.#make = make;
    const texts = holes.flatMap(({ isText }, at) => (isText ? [at] : []));
    this.#text = texts.length === 1 ? texts[0] : undefined;
  }

  /** Undefined: the event does not match. */
  parse(data: string): Parsed | undefined {
    return (this.#head !== "" && this.#refill(data)) || this.#fill(data) ? new Fitting(this.#make(this.#filling), data) : undefined;
  }

  /** Whether it is the last event with another text. */
  #refill(data: string): boolean {
    const start = this.#head.length;
    const end = data.length - this.#tail.length;
    if (this.#text === undefined || end < start || !data.startsWith(this.#head) || !data.endsWith(this.#tail)) return false;
    const text = valueOf(data.slice(start, end), false);
    if (text === undefined) return false;
    this.#filling[this.#text] = text;
    return true;
  }

  #fill(data: string): boolean {
    const filling: unknown[] = [];
    let [head, tail] = ["", ""];
    let at = 0;
    for (let index = 0; index < this.#literals.length; index++) {
      const literal = this.#literals[index] ?? "";
      if (!data.startsWith(literal, at)) return false;
      at += literal.length;
      const hole = this.#holes[index];
      if (hole === undefined) break;
      const end = endOf(data, at, hole.isNumber);
      const value = valueOf(data.slice(at, end), hole.isNumber);
      if (value === undefined) return false;
      if (index === this.#text) {
        const kept = copyOf(data);
        head = kept.slice(0, at);
        tail = kept.slice(end);
      }
      filling.push(value);
      at = end;
    }
    if (at !== data.length) return false;
    this.#head = head;
    this.#tail = tail;
    this.#filling = filling;
    return true;
  }
}

/** The raw value is seldom read. */
class Fitting {
  readonly success = true;
  readonly value: unknown;
  readonly #data: string;

  constructor(value: unknown, data: string) {
    this.value = value;
    this.#data = data;
  }

  get rawValue(): unknown {
    return JSON.parse(this.#data);
  }
}
