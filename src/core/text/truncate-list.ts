/** How much of what is wrong is told: a page of it, whatever there is. */

const TOLD = 20;
const LONGEST = 60;

/** The first of them in words, and how many more there are. */
export function firstFew<T>(all: readonly T[], words: (one: T) => string, more: (count: number) => string): string[] {
  const told = all.slice(0, TOLD).map(words);
  return all.length > TOLD ? [...told, more(all.length - TOLD)] : told;
}

/** The beginning of somebody else's words. */
export function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST).toWellFormed()}…`;
}
