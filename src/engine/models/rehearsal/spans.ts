/**
 * Quoted text: 'single', "double", “curly”, `code` and ```fences```. Each quotation becomes one mark before anything else looks at the
 * words, so that no word inside quotes is taken for an order.
 */

/** Matches one mark; `q` quotes, `d` double ones, `c` code, `f` a fence or a block. */
export const MARK = "\uE000[qdcf]\\d+\uE001";

const ANY_MARK = new RegExp(MARK, "g");
const ONE_MARK = new RegExp(`^${MARK}$`);

interface Span {
  raw: string;
  inside: string;
}

export interface Marked {
  text: string;
  /** The words with every mark replaced by its quotation, quotes included. */
  raw(words: string): string;
  /** The inside of the quotes when the words are one mark; the words as written otherwise. */
  value(words: string): string;
  /** Makes one mark of some words. */
  block(words: string): string;
}

export function isMark(word: string): boolean {
  return ONE_MARK.test(word);
}

export function markQuotes(text: string): Marked {
  const spans: Span[] = [];
  const put = (kind: string, span: Span) => `\uE000${kind}${spans.push(span) - 1}\uE001`;
  const spanOf = (mark: string) => spans[Number(mark.slice(2, -1))];
  const raw = (words: string) => words.replace(ANY_MARK, (mark) => spanOf(mark)?.raw ?? mark);
  return {
    text: replaceQuotes(text, put),
    raw,
    value: (words) => (isMark(words.trim()) ? spanOf(words.trim())?.inside : undefined) ?? raw(words).trim(),
    block: (words) => put("f", { raw: raw(words), inside: raw(words) }),
  };
}

/** A single quote opens after a space or an opening sign and closes before one, so that "don't" and "it's" are left alone. */
const QUOTES: readonly [kind: string, open: RegExp, close: RegExp][] = [
  ["f", /```/y, /```/g],
  ["c", /`(?!`)/y, /`/g],
  ["d", /"/y, /(?<=(?<!\\)(?:\\\\)*)"/g],
  ["q", /[“„]/y, /[”“]/g],
  ["q", /(?<![\p{L}\p{N}])['‘]/uy, /['’](?![\p{L}\p{N}'])/gu],
];
const ANY_OPENING = /[`"“„'‘]/g;

/** One pass: a quote that never closes is not looked for again, so the time grows with the text and not with its square. */
function replaceQuotes(text: string, put: (kind: string, span: Span) => string): string {
  const unclosed = new Set<RegExp>();
  let words = "";
  let written = 0;
  let at = 0;
  for (;;) {
    const start = find(ANY_OPENING, text, at)?.index;
    if (start === undefined) return words + text.slice(written);
    at = start + 1;
    for (const [kind, open, close] of QUOTES) {
      const opening = unclosed.has(close) ? null : find(open, text, start);
      const closing = opening === null ? null : find(close, text, start + opening[0].length);
      if (opening !== null && closing === null) unclosed.add(close);
      if (opening === null || closing === null) continue;
      at = closing.index + closing[0].length;
      const span = { raw: text.slice(start, at), inside: insideOf(kind, text.slice(start + opening[0].length, closing.index)) };
      words += text.slice(written, start) + put(kind, span);
      written = at;
      break;
    }
  }
}

function insideOf(kind: string, text: string): string {
  if (kind === "f") return text.replace(/^[^\n]*\n/, "").replace(/\n[ \t]*$/, "");
  return kind === "d" ? text.replaceAll('\\"', '"') : text;
}

function find(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from;
  return pattern.exec(text);
}
