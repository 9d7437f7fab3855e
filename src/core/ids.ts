/**
 * Ids: ULIDs (48 bits of time, 80 of chance, in Crockford's base 32), ordered within one process. Ids name things, they guard nothing,
 * so Math.random is chance enough, and no crypto has to be loaded before the first line.
 */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARS = 10;
const CHANCE_CHARS = 16;

let lastTime = 0;
let lastChance: number[] = [];

/** A new one, after all earlier ones of this process. */
export function mintId(): string {
  const now = Math.max(Date.now(), lastTime);
  lastChance = now === lastTime ? successor(lastChance) : Array.from({ length: CHANCE_CHARS }, () => Math.floor(Math.random() * 32));
  lastTime = now;
  return timePart(now) + lastChance.map((digit) => ALPHABET.charAt(digit)).join("");
}

function timePart(time: number): string {
  let text = "";
  for (let rest = time; text.length < TIME_CHARS; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

function successor(digits: readonly number[]): number[] {
  const next = [...digits];
  let at = next.length - 1;
  while (at >= 0 && next[at] === 31) next[at--] = 0;
  if (at >= 0) next[at] = (next[at] ?? 0) + 1;
  return next;
}
