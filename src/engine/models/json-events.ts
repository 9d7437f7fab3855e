/**
 * How the provider packages take the events of an answer in the bundle (scripts/stand-ins.mjs). Of a streamed answer most events differ from
 * the one before in a piece of text alone, and to parse and check each anew is most of what a delta costs. So the last that a package took
 * is a pattern: an event that differs from it in its text alone is what the package made of that one, with its own text.
 */

/** What a package makes of an event; an error is its own. */
export type Parsed = { success: true; value: unknown; rawValue: unknown } | { success: false; error: unknown; rawValue: unknown };

interface Controller {
  enqueue(parsed: Parsed): void;
}

interface Transformer {
  transform(event: { data: string }, controller: Controller): void | Promise<void>;
}

/** So many patterns in a row may fit nothing; then the server sends events of another kind, and no more are made. */
const TRIES = 16;

/** A transformer for the events of one answer; `parse` is the package's own way with an event. */
export function jsonEvents(parse: (text: string) => Promise<Parsed>): Transformer {
  /** The last event that the package took. Its pattern is made for the next one: the first text of an answer does not wait for that. */
  let last: { data: string; value: unknown } | undefined;
  let pattern: Pattern | undefined;
  let tries = TRIES;
  return { transform };

  function transform({ data }: { data: string }, controller: Controller): void | Promise<void> {
    if (data === "[DONE]") return;
    if (last !== undefined) learn(last);
    const known = pattern?.parse(data);
    if (known === undefined) return parseFully(data, controller);
    tries = TRIES;
    controller.enqueue(known);
  }

  async function parseFully(data: string, controller: Controller): Promise<void> {
    const parsed = await parse(data);
    if (parsed.success && tries > 0) last = { data, value: parsed.value };
    controller.enqueue(parsed);
  }

  function learn({ data, value }: { data: string; value: unknown }): void {
    last = undefined;
    const next = patternOf(data, value);
    if (next === undefined) return;
    pattern = next;
    tries--;
  }
}

/** The names under which vendors stream text. Of these strings the packages ask nothing, which is why any other passes as well. */
const TEXT = /"(content|reasoning|reasoning_content|text|thinking|partial_json|arguments)"\s*:\s*"(?!")/;
const REST_OF_STRING = /(?:[^"\\]|\\.)*/y;

/** Only for an event with one text, which the package passes on as it is. An escape elsewhere might hide the name of another. */
function patternOf(data: string, value: unknown): Pattern | undefined {
  const found = TEXT.exec(data);
  if (found === null) return undefined;
  const head = data.slice(0, found.index + found[0].length);
  REST_OF_STRING.lastIndex = head.length;
  const [quoted = ""] = REST_OF_STRING.exec(data) ?? [];
  const tail = data.slice(head.length + quoted.length);
  const text = stringOf(quoted);
  if (text === undefined || TEXT.test(tail) || head.includes("\\") || tail.includes("\\")) return undefined;
  const [fill, ...others] = fillers(value, found[1] ?? "", text);
  return fill === undefined || others.length > 0 ? undefined : new Pattern(head, tail, fill);
}

/** The value anew, with another text. */
type Fill = (text: string) => unknown;

/** One for each place where the text stands under the name, within plain lists and records. */
function fillers(value: unknown, name: string, text: string): Fill[] {
  if (typeof value !== "object" || value === null) return [];
  const fills: Fill[] = [];
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const fill of fillers(item, name, text)) fills.push(inList(value, at, fill));
  } else if (Object.getPrototypeOf(value) === Object.prototype) {
    for (const [key, child] of Object.entries(value)) {
      const inside = key === name && child === text ? [itself] : fillers(child, name, text);
      for (const fill of inside) fills.push(inRecord(value, key, fill));
    }
  }
  return fills;
}

// Each delta runs through these: a copy that is changed behind is many times cheaper than a literal with a computed name.

function itself(text: string): unknown {
  return text;
}

function inList(items: readonly unknown[], at: number, fill: Fill): Fill {
  return (text) => {
    const copy = items.slice();
    copy[at] = fill(text);
    return copy;
  };
}

function inRecord(record: object, key: string, fill: Fill): Fill {
  return (text) => {
    const copy: Record<string, unknown> = { ...record };
    copy[key] = fill(text);
    return copy;
  };
}

class Pattern {
  readonly #head: string;
  readonly #tail: string;
  readonly #fill: Fill;

  /** What stands before and behind the text, with its quotes. */
  constructor(head: string, tail: string, fill: Fill) {
    this.#head = head;
    this.#tail = tail;
    this.#fill = fill;
  }

  /** Undefined: the event does not fit. */
  parse(data: string): Parsed | undefined {
    const start = this.#head.length;
    const end = data.length - this.#tail.length;
    if (end <= start || !data.startsWith(this.#head) || !data.endsWith(this.#tail)) return undefined;
    const text = stringOf(data.slice(start, end));
    return text === undefined ? undefined : new Fitting(this.#fill(text), data);
  }
}

/** Hardly anybody asks for the raw value. */
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

/** What the quotes hold; undefined when it is more than a string. */
function stringOf(quoted: string): string | undefined {
  try {
    const text: unknown = JSON.parse(`"${quoted}"`);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
