/** Lines that are nearly right: lines of a corpus, changed a little, as text or as JSON. */

type Dice = () => number;

/** Values that readers trip over. */
const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  "",
  "\0",
  "\u2028",
  "\ud800",
  "__proto__",
  "a".repeat(5000),
  [],
  {},
  [[[[[[[[]]]]]]]],
  { type: {} },
];
const KEYS = ["__proto__", "constructor", "toString", "type", "id", "session", "", "hasOwnProperty", "then"];
const FRAGMENTS = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\u0000",
  "\r",
  "\t",
  " ",
  "null",
  "1e999",
  "-",
  "\ufeff",
  "é",
  "💥",
  "$(",
  "`",
  "'",
  "|",
  "&&",
  "\n",
  "---",
  "%",
  "*",
];

export function pick<T>(list: readonly T[], dice: Dice): T {
  const one = list[dice() % list.length];
  if (one === undefined) throw new Error("There is nothing to pick from");
  return one;
}

/** A text that is one to three changes away from one of the corpus. */
export function mutatedText(corpus: readonly string[], dice: Dice): string {
  let text = pick(corpus, dice);
  for (let left = 1 + (dice() % 3); left > 0; left--) text = changedText(text, corpus, dice);
  return text;
}

function changedText(text: string, corpus: readonly string[], dice: Dice): string {
  const at = text.length === 0 ? 0 : dice() % (text.length + 1);
  const to = Math.min(text.length, at + (dice() % 12));
  switch (dice() % 6) {
    case 0:
      return text.slice(0, at) + text.slice(to);
    case 1:
      return text.slice(0, at) + pick(FRAGMENTS, dice) + text.slice(at);
    case 2:
      return text.slice(0, at) + pick(FRAGMENTS, dice) + text.slice(to);
    case 3:
      return text.slice(0, to) + text.slice(at);
    case 4: {
      const other = pick(corpus, dice);
      return text.slice(0, at) + other.slice(dice() % (other.length + 1));
    }
    default:
      return text.slice(0, at) + String.fromCharCode(dice() % 0x1_0000) + text.slice(to);
  }
}

/** A record that is one to three changes away from one of the corpus. */
export function mutatedRecord(corpus: readonly unknown[], dice: Dice): unknown {
  let record = pick(corpus, dice);
  for (let left = 1 + (dice() % 3); left > 0; left--) record = changedValue(record, corpus, dice);
  return record;
}

/** The same with one place changed; `value` itself stays as it is. */
function changedValue(value: unknown, corpus: readonly unknown[], dice: Dice): unknown {
  if (typeof value !== "object" || value === null || dice() % 8 === 0) return replacement(value, corpus, dice);
  if (Array.isArray(value)) {
    const items: unknown[] = [...value];
    if (items.length === 0 || dice() % 4 === 0) return [...items, pick(ODD, dice)];
    const at = dice() % items.length;
    if (dice() % 4 === 0) items.splice(at, 1);
    else items[at] = changedValue(items[at], corpus, dice);
    return items;
  }
  const entries = Object.entries(value);
  if (entries.length === 0 || dice() % 6 === 0) return withKey(value, pick(KEYS, dice), pick(ODD, dice));
  const [key, old] = pick(entries, dice);
  if (dice() % 5 === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return withKey(value, key, changedValue(old, corpus, dice));
}

/** Defined, not assigned: `__proto__` is a key like any other, as JSON.parse has it. */
function withKey(value: object, key: string, to: unknown): object {
  const copy = { ...value };
  Object.defineProperty(copy, key, { value: to, enumerable: true, configurable: true, writable: true });
  return copy;
}

function replacement(value: unknown, corpus: readonly unknown[], dice: Dice): unknown {
  if (typeof value === "string" && dice() % 2 === 0) return `${value}${pick(FRAGMENTS, dice)}`;
  return dice() % 4 === 0 ? pick(corpus, dice) : pick(ODD, dice);
}
