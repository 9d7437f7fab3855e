/** Reads names, numbers and lists out of the words of a clause. */
import { isMark, MARK, type Marked } from "./spans.js";

const KNOWN_NAMES = /^(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile|CONTRIBUTING)$/;
const NOT_NAMES = /^(?:e\.g|i\.e|etc|v?\d+(?:\.\d+)+|\d*\.\d+|https?:.*|www\..*)$/i;

function isPath(word: string): boolean {
  if (NOT_NAMES.test(word)) return false;
  return (
    /[\\/]/.test(word) || /^\.?[^.].*\.[\p{L}\p{N}_-]{1,16}$/u.test(word) || /^\.[\p{L}\p{N}_-]+$/u.test(word) || KNOWN_NAMES.test(word)
  );
}

/** A file as it may stand in a clause: quoted, or one word, after words that carry nothing. */
export const FILE = `(?:(?:a|an|the|my|this|that|new|empty|text|files?|named|called)\\s+)*(?:${MARK}|[^\\s,;\uE000]+)`;
const ONLY_FILE = new RegExp(`^${FILE}$`, "iu");
const ANNOUNCED = /\b(?:files?|named|called)\s+\S+$/i;

/** The file that the words name; undefined when nothing says that they name one, or when they say more. */
export function fileIn(marked: Marked, words: string): string | undefined {
  if (!ONLY_FILE.test(words)) return undefined;
  const word = words.split(/\s+/).at(-1) ?? "";
  const name = fileName(marked, word);
  return isMark(word) || isPath(name) || ANNOUNCED.test(words) ? name : undefined;
}

/** A file name without the punctuation of the sentence around it. */
export function fileName(marked: Marked, word: string): string {
  if (isMark(word) || /^\.{1,2}$/.test(word)) return marked.value(word);
  return marked
    .raw(word)
    .replace(/^[(<[@]+/, "")
    .replace(/(?:['’]s)?[.,;:!?)>\]]*$/u, "");
}

/** "a.txt, b.txt and c.txt"; undefined when any other word stands there. */
export function filesIn(marked: Marked, words: string): string[] | undefined {
  const files = words
    .replace(/^(?:(?:the|both|files?)\s+)+(?=\S)/i, "")
    .split(/\s*,\s*(?:and\s+)?|\s+(?:and\s+)?/i)
    .map((word) => fileIn(marked, word));
  return files.every((file) => file !== undefined) ? [...new Set(files)] : undefined;
}

const ONE_TO_TEN = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, once: 1, twice: 2, hundred: 100, thousand: 1000 };
const NUMBER_WORD = [...ONE_TO_TEN, ...Object.keys(NUMBERS)].join("|");
export const NUMBER = `(?:\\d[\\d,]*k?|(?:${NUMBER_WORD})(?:\\s+(?:hundred|thousand))?)\\b`;

/** Reads "20", "20,000", "10k", "three" and "a thousand". */
export function numberOf(words: string): number {
  const [, digits, thousands] = /^(\d[\d,]*)(k?)$/i.exec(words) ?? [];
  if (digits !== undefined) return Number(digits.replaceAll(",", "")) * (thousands === "" ? 1 : 1000);
  return words
    .toLowerCase()
    .split(/\s+/)
    .reduce((product, word) => product * (NUMBERS[word] ?? ONE_TO_TEN.indexOf(word) + 1), 1);
}

/** Items of a list: lines with or without bullets, else parts between semicolons, else parts between `separator`. */
export function itemsOf(marked: Marked, words: string, separator: RegExp): string[] {
  const list = isMark(words) ? marked.value(words) : words;
  return list
    .split([/\n/, /;/].find((one) => one.test(list)) ?? separator)
    .map((item) => marked.value(item.trim().replace(/^(?:\d+[.)]|[-*•]|\[ ?\])\s*/, "")).replace(/[.;,]+$/, ""))
    .filter((item) => item !== "");
}
