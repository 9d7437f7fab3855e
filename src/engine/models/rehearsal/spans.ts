/**
 * Quoted text: 'single', "double", “curly”, `code`, ```fences``` and {json}. Each becomes one mark before anything else looks at the
 * words, so that what stands inside quotes is never taken for an order.
 */

/** Matches one mark; `q` quotes, `c` code, `f` a fence or a block, `j` JSON. */
export const MARK = "\uE000[qcfj]\\d+\uE001";
export const QUOTED = "\uE000[qcf]\\d+\uE001";
export const JSON_MARK = "\uE000j\\d+\uE001";

const ANY_MARK = /\uE000[qcfj](\d+)\uE001/g;
const ONE_MARK = /^\uE000[qcfj](\d+)\uE001$/;

export interface Marked {
  text: string;
  /** The words with every mark replaced by what was written, quotes included. */
  raw(words: string): string;
  /** The inside of the quotes when the words are one mark; the words as written otherwise. */
  value(words: string): string;
  /** Makes one mark of some raw text. */
  mark(kind: "f" | "j", words: string): string;
}

export function markQuotes(text: string): Marked {
  const spans: { raw: string; inside: string }[] = [];
  const put = (kind: string, raw: string, inside: string) => `\uE000${kind}${spans.push({ raw, inside }) - 1}\uE001`;
  const raw = (words: string): string => words.replace(ANY_MARK, (mark, index: string) => spans[Number(index)]?.raw ?? mark);
  return {
    text: replaceQuotes(text, put),
    raw,
    value(words) {
      const index = ONE_MARK.exec(words.trim())?.[1];
      return (index === undefined ? undefined : spans[Number(index)]?.inside) ?? raw(words).trim();
    },
    mark: (kind, words) => put(kind, raw(words), raw(words)),
  };
}

const FENCE = /```[^\n`]*\n([\s\S]*?)\n?[ \t]*```|```([\s\S]*?)```/y;
const CODE = /`([^`]+)`/y;
const DOUBLE = /"((?:[^"\\]|\\[\s\S])*)"/y;
const CURLY = /[“„]([^”“]*)[”“]|«\s?([^»]*?)\s?»/y;
/** A single quote opens after a space or an opening sign and closes before one, so that "don't" and "it's" are left alone. */
const SINGLE = /(?<![\p{L}\p{N}])['‘]([\s\S]*?)['’](?![\p{L}\p{N}'])/uy;

const KINDS: readonly [string, RegExp][] = [
  ["f", FENCE],
  ["c", CODE],
  ["q", DOUBLE],
  ["q", CURLY],
  ["q", SINGLE],
];

function replaceQuotes(text: string, put: (kind: string, raw: string, inside: string) => string): string {
  let out = "";
  let at = 0;
  while (at < text.length) {
    const found = text[at] === "{" ? jsonAt(text, at) : quoteAt(text, at);
    if (found === undefined) {
      out += text[at++];
      continue;
    }
    out += put(found.kind, found.raw, found.inside);
    at += found.raw.length;
  }
  return out;
}

function quoteAt(text: string, at: number): { kind: string; raw: string; inside: string } | undefined {
  if (!"`\"'“„«‘".includes(text[at] ?? "")) return undefined;
  for (const [kind, pattern] of KINDS) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const inside = match[1] ?? match[2] ?? "";
    return { kind, raw: match[0], inside: pattern === DOUBLE ? inside.replaceAll('\\"', '"') : inside };
  }
  return undefined;
}

/** A balanced `{…}` that is JSON. */
function jsonAt(text: string, at: number): { kind: string; raw: string; inside: string } | undefined {
  if (!/^\{\s*["}]/.test(text.slice(at, at + 100))) return undefined;
  let depth = 0;
  let inString = false;
  for (let end = at; end < text.length; end++) {
    const character = text[end];
    if (inString) {
      if (character === "\\") end++;
      else if (character === '"') inString = false;
      continue;
    }
    if (character === '"') inString = true;
    if (character === "{") depth++;
    if (character !== "}" || --depth > 0) continue;
    const raw = text.slice(at, end + 1);
    return isJson(raw) ? { kind: "j", raw, inside: raw } : undefined;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
