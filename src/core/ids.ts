/**
 * Ids: ULIDs (48 bits of time, 80 random bits, in Crockford's base 32), ordered within one process. Ids are names, not secrets,
 * so Math.random is random enough, and no crypto has to be loaded before the first line.
 */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TIME_CHARS = 10;
const CHANCE_CHARS = 16;

let lastTime = 0;
let lastTimePart = "";
let lastChance: number[] = [];

/** A new id that sorts after all earlier ids of this process. */
export function mintId(): string {
  const now = Math.max(Date.now(), lastTime);
  if (now === lastTime) advance(lastChance);
  else {
    lastTime = now;
    lastTimePart = timePart(now);
    lastChance = chance();
  }
  let id = lastTimePart;
  for (const digit of lastChance) id += ALPHABET.charAt(digit);
  return id;
}

function chance(): number[] {
  const digits: number[] = [];
  while (digits.length < CHANCE_CHARS) digits.push(Math.floor(Math.random() * 32));
  return digits;
}

function timePart(time: number): string {
  let text = "";
  for (let rest = time; text.length < TIME_CHARS; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

function advance(digits: number[]): void {
  let at = digits.length - 1;
  while (at >= 0 && digits[at] === 31) digits[at--] = 0;
  if (at >= 0) digits[at] = (digits[at] ?? 0) + 1;
}
