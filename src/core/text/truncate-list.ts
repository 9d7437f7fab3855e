/** Bounds the list of problems in an error to about a page. */

const TOLD = 20;
const LONGEST = 60;

/** The first items in words, and the number of the others. */
export function firstFew<T>(all: readonly T[], words: (one: T) => string, more: (count: number) => string): string[] {
  const told = all.slice(0, TOLD).map(words);
  return all.length > TOLD ? [...told, more(all.length - TOLD)] : told;
}

/** The beginning of a foreign text. */
export function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
