/** Reads names, numbers and lists out of a clause: which words are files, what "twenty" and "10k" are, what "its content" means. */
import { pattern } from "./rule.js";
import { MARK, QUOTED, type Marked } from "./spans.js";
import { RESULT, type Content } from "./step.js";

/** A file as it may stand in a clause: quoted, or one word. */
export const FILE = `(?:${QUOTED}|[^\\s,;\uE000]+)`;
/** Words around a file name that carry nothing. */
export const THE_FILE = "(?:(?:a|an|the|my|this|that|new|empty|text|existing|file|document|script|named|called)\\s+)*";

const KNOWN_NAMES = /^(?:README|LICENSE|CHANGELOG|Makefile|Dockerfile|Gemfile|Procfile|CONTRIBUTING)$/;
const NOT_NAMES = /^(?:e\.g|i\.e|etc|v?\d+(?:\.\d+)+|\d*\.\d+|https?:.*|www\..*)$/i;

export function isPath(word: string): boolean {
  if (NOT_NAMES.test(word)) return false;
  return (
    /[\\/]/.test(word) || /^\.?[^.].*\.[\p{L}\p{N}_-]{1,16}$/u.test(word) || /^\.[\p{L}\p{N}_-]+$/u.test(word) || KNOWN_NAMES.test(word)
  );
}

/** A file name without the punctuation of the sentence around it. */
export function fileName(marked: Marked, word: string): string {
  const trimmed = word.trim();
  if (isMark(trimmed)) return marked.value(trimmed);
  if (/^\.{1,2}$/.test(trimmed)) return trimmed;
  return marked
    .raw(trimmed)
    .replace(/^[(<[@]+/, "")
    .replace(/(?:['’]s)?[.,;:!?)>\]]*$/u, "");
}

/** The files that the words name, in order: quoted ones, path-like ones, and what follows "file", "named" or "called". */
export function filesIn(marked: Marked, words: string): string[] {
  const found: string[] = [];
  let announced = false;
  for (const word of words.match(WORD) ?? []) {
    const name = fileName(marked, word);
    if (name !== "" && (isQuoted(word) || isPath(name) || (announced && !STOP.test(name)))) found.push(name);
    announced = /^(?:files?|named|called)$/i.test(word);
  }
  return found;
}

const WORD = new RegExp(`${MARK}|[^\\s,;\uE000]+`, "gu");
const STOP = pattern`
  ^(?:a|an|the|it|its|in|into|to|at|of|and|or|for|with|from|that|which|containing|contains?|says?|saying|named|
  called|here|there|please|matching|is|are|as|you|i|then|files?|whose|on|by|=)$
`;

export function isMark(word: string): boolean {
  return new RegExp(`^${MARK}$`, "u").test(word);
}

export function isQuoted(word: string): boolean {
  return new RegExp(`^${QUOTED}$`, "u").test(word);
}

/** What the words stand for: quoted text, something an earlier step brings ("its content"), or just the words. */
export function contentOf(marked: Marked, words: string): Content {
  const trimmed = words.trim();
  if (REFERS_BACK.test(trimmed)) return RESULT;
  const [quoted, ...more] = trimmed.match(new RegExp(QUOTED, "gu")) ?? [];
  if (quoted !== undefined && more.length === 0 && LABEL.test(trimmed.replace(quoted, ""))) return marked.value(quoted);
  return marked.value(
    trimmed.replace(/^(?:the|this) (?:text|words?|content|contents|line|string|message|phrase|following)\b:?\s*(?=\S)/i, ""),
  );
}

/** "the text 'hello'", "'hello' in it": words beside a quotation that only introduce it. */
const LABEL = pattern`
  ^\s*(?:(?:the|a|this|following|text|words?|contents?|lines?|string|message|phrase|sentence|code|exactly|in|
  inside|it|as|of|is|to|be|single|one|just|only)\b[\s:,]*)*[.:!]?\s*$
`;

export const REFERS_BACK = pattern`
  ^(?:it|them|that|this|both|everything|the (?:same|above)|(?:(?:it|their|the file|the command)(?:'?s)?|the|that|
  this|your|all the) (?:whole |full |same |two )?(?:results?|outputs?|contents?|texts?|answers?|responses?|data|
  findings|matches|list|summary|lines)(?: (?:of|from) (?:it|that|this|them|both|the (?:file|command|search|
  page))?)?|what(?:ever)? (?:it|you|they|that|the \w+|is|was) ?(?:is |was |have |has )?(?:read|says?|said|prints?|
  printed|returns?|returned|finds?|found|got|get|outputs?|contains?|in it|there)?)$
`;

const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  once: 1,
  two: 2,
  twice: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  thirty: 30,
  fifty: 50,
  hundred: 100,
  thousand: 1000,
  million: 1_000_000,
};
export const NUMBER =
  "(?:\\d[\\d,_]*(?:\\.\\d+)?k?|" +
  "(?:(?:a|one|two|three|four|five|six|seven|eight|nine|ten|twenty|fifty)\\s+)?(?:hundred|thousand|million)|" +
  "an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|fifty)";

export function numberOf(words: string): number {
  const digits = /^(\d[\d,_]*(?:\.\d+)?)(k?)$/i.exec(words.trim());
  if (digits?.[1] !== undefined) return Number(digits[1].replaceAll(/[,_]/g, "")) * (digits[2] === "" ? 1 : 1000);
  return words
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .reduce((product, word) => product * (NUMBERS[word] ?? 1), 1);
}

/** "a, b and c", "a; b", one a line, with or without bullets. */
export function itemsOf(marked: Marked, words: string): string[] {
  const list = isMark(words.trim()) ? marked.value(words) : words;
  const isNumbered = /(?:^|\s)1[.)]\s.*\s2[.)]\s/.test(list);
  const separator = isNumbered
    ? /(?:^|\s+)\d+[.)]\s+/
    : list.includes("\n")
      ? /\n/
      : list.includes(";")
        ? /;/
        : /,\s*(?:and\s+|then\s+)?|\s+and\s+(?:then\s+)?/;
  return list
    .split(separator)
    .map((item) =>
      marked
        .value(
          item
            .trim()
            .replace(/^(?:\d+[.)]|[-*•]|\(?\d+\)|\[ ?\])\s*/, "")
            .replace(/^(?:and|then)\s+/i, ""),
        )
        .trim(),
    )
    .map((item) => item.replace(/[.;,]+$/, ""))
    .filter((item) => item !== "");
}
