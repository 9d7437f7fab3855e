/** Replaces curly quotes, long dashes and unusual spaces by the plain characters that models write, one for one. */

const PLAIN: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201A": "'",
  "\u201B": "'",
  "\u201C": '"',
  "\u201D": '"',
  "\u201E": '"',
  "\u201F": '"',
  "\u2010": "-",
  "\u2011": "-",
  "\u2012": "-",
  "\u2013": "-",
  "\u2014": "-",
  "\u2015": "-",
  "\u2212": "-",
  "\u00A0": " ",
  "\u2007": " ",
  "\u202F": " ",
};

const UNUSUAL = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/** The result has the same length. */
export function plainCharacters(text: string): string {
  return text.replace(UNUSUAL, (character) => PLAIN[character] ?? character);
}

/** The replacement with the file's own characters where it repeats the beginning and the end of the quoted text. */
export function withOwnCharacters(own: string, quoted: string, replacement: string): string {
  if (own.length !== quoted.length) return replacement;
  const most = Math.min(quoted.length, replacement.length);
  let head = 0;
  while (head < most && quoted[head] === replacement[head]) head++;
  let tail = 0;
  while (tail < most - head && quoted.at(-1 - tail) === replacement.at(-1 - tail)) tail++;
  return own.slice(0, head) + replacement.slice(head, replacement.length - tail) + own.slice(own.length - tail);
}
