/** Finds places where a secret of some shape may begin. Every delta passes here, so a character costs one look. */

/**
 * Letters before a beginning make it the middle of a word or of base64, except those of an escape sequence or a colour. A line of a
 * diff begins with a dash.
 */
const BORDER = /(?<![\w-])|(?<=\\[nrtbf]|%[\dA-Fa-f]{2}|\\u[\dA-Fa-f]{4}|\[[\d;]{0,9}[mK]|(?:^|\n|\\n)-)/y;
/** So many characters say whether there is a border behind them. */
export const CONTEXT = 12;

export function hasBorder(text: string, at: number): boolean {
  BORDER.lastIndex = at;
  return text.startsWith("-", at) || BORDER.test(text);
}

/** Properties of a character, as bits. */
const RARE = 1;
const OF_WORD = 2;
const FIRST = 4;
const BEFORE_ESCAPED = 8;
/** No escape and no colour has this character as its last one, or as its last but one. */
const NOT_LAST = 16;
const NOT_LAST_BUT_ONE = 32;

/** From this length on a pattern is faster than a look at each character. */
const SHORT = 12;

export class Beginnings {
  readonly #all: readonly string[];
  /** By the code of its rare character: the words, and the place of that character in them. */
  readonly #words = new Map<number, { word: string; rare: number }[]>();
  readonly #parts: ReadonlySet<string>;
  readonly #longestPart: number;
  /** Properties by code, below 128: a table is faster than sets. */
  readonly #kinds = new Uint8Array(128);
  readonly #pattern: RegExp;

  /** Each word has a character in it that text has rarely (`RARE_ONE`): the pattern looks for that first, and around it then. */
  constructor(words: readonly string[]) {
    this.#all = words;
    for (const word of words) {
      const rare = rareAt(word);
      const code = word.charCodeAt(rare);
      this.#words.set(code, [...(this.#words.get(code) ?? []), { word, rare }]);
    }
    this.#parts = new Set(words.flatMap((word) => Array.from({ length: word.length - 1 }, (_, at) => word.slice(0, at + 1))));
    this.#longestPart = Math.max(...words.map(({ length }) => length)) - 1;
    this.#pattern = new RegExp(`[-_AJ](?:${words.map(around).join("|")})`, "g");
    this.#mark(RARE, "-_AJ");
    this.#mark(OF_WORD, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    this.#mark(FIRST, words.map((word) => word.charAt(0)).join(""));
    this.#mark(BEFORE_ESCAPED, "\\%[;");
    this.#mark(NOT_LAST, "_GHIJLMNOPQRSTUVWXYZghijklopqsuvwxyz");
    this.#mark(NOT_LAST_BUT_ONE, "_GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz");
  }

  in(text: string): boolean {
    if (text.length <= SHORT && !this.#hasRare(text)) return false;
    this.#pattern.lastIndex = 0;
    return this.#pattern.test(text);
  }

  /**
   * Whether a piece has a beginning in it, or ends with a part of one. May be wrong with yes, never with no. `last` is the code of the
   * character before the piece, `lastButOne` that of the one before.
   */
  mayConcern(piece: string, last: number, lastButOne: number): boolean {
    return this.in(piece) || this.#mayEndInPart(piece, last, lastButOne);
  }

  /** The next place of one. */
  next(text: string, from: number): { at: number; word: string } | undefined {
    this.#pattern.lastIndex = from;
    while (this.#pattern.test(text)) {
      const last = this.#pattern.lastIndex - 1;
      for (const { word, rare } of this.#words.get(text.charCodeAt(last)) ?? []) {
        if (last - rare >= from && text.startsWith(word, last - rare)) return { at: last - rare, word };
      }
    }
    return undefined;
  }

  /** The one that stands there. */
  at(text: string, at: number): string | undefined {
    return this.#all.find((word) => text.startsWith(word, at));
  }

  /** Where a part of one stands at the end, or -1. */
  partAtEnd(text: string, from: number): number {
    for (let at = Math.max(from, text.length - this.#longestPart); at < text.length; at++) if (this.isPart(text, at)) return at;
    return -1;
  }

  isPart(text: string, at: number): boolean {
    return text.length - at <= this.#longestPart && this.#parts.has(text.slice(at)) && hasBorder(text, at);
  }

  #mayEndInPart(piece: string, last: number, lastButOne: number): boolean {
    const kinds = this.#kinds;
    let at = piece.length;
    const least = Math.max(0, at - this.#longestPart - 1);
    while (at > least && is(kinds, OF_WORD, piece.charCodeAt(at - 1))) at--;
    if (at === piece.length) return false;
    if (piece.endsWith("-")) return true;
    const before = at === 0 ? last : piece.charCodeAt(at - 1);
    const isWithin = at === 0 && is(kinds, OF_WORD, last);
    if (isWithin && (is(kinds, NOT_LAST, last) || is(kinds, NOT_LAST_BUT_ONE, lastButOne))) return false;
    // The part may stand behind the letters of an escape, or behind dashes.
    const isEscape = isWithin || is(kinds, BEFORE_ESCAPED, before) || piece.includes("-", at);
    const end = isEscape ? piece.length : at + 1;
    for (; at < end; at++) if (is(kinds, FIRST, piece.charCodeAt(at)) && this.#parts.has(piece.slice(at))) return true;
    return false;
  }

  #hasRare(text: string): boolean {
    const kinds = this.#kinds;
    for (let at = 0; at < text.length; at++) if (is(kinds, RARE, text.charCodeAt(at))) return true;
    return false;
  }

  #mark(kind: number, characters: string): void {
    for (const character of characters) this.#kinds[character.charCodeAt(0)] = (this.#kinds[character.charCodeAt(0)] ?? 0) | kind;
  }
}

function is(kinds: Uint8Array, kind: number, code: number): boolean {
  return code < 128 && ((kinds[code] ?? 0) & kind) !== 0;
}

function rareAt(word: string): number {
  return word.search(/[-_AJ][^-_AJ]*$/);
}

function around(word: string): string {
  const behind = rareAt(word) + 1;
  return `(?<=${word.slice(0, behind)})(?=${word.slice(behind)})`;
}
