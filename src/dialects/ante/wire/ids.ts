/** Ante's ids: a prefix of up to four bytes, `_`, and a ULID. A name of another form always gets the same id. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;
const PREFIX_CHARS = 4;
const EXAMPLE = "op_01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** The id as Ante writes it back (a longer prefix is cut, letters become upper case), or the problem with it. */
export function readId(text: string): { id: string } | { problem: string } {
  const at = text.indexOf("_");
  if (at === -1) return { problem: `missing separator; an id looks like ${EXAMPLE}` };
  const ulid = text.slice(at + 1);
  if (!ULID.test(ulid)) return { problem: `invalid ULID; an id looks like ${EXAMPLE}` };
  return { id: `${text.slice(0, Math.min(at, PREFIX_CHARS))}_${ulid.toUpperCase()}` };
}

/** The name behind the prefix. */
export function nameOf(id: string): string {
  return id.slice(id.indexOf("_") + 1).toUpperCase();
}

/** An id for a name of ours: the name itself if it is a ULID, else derived from it. */
export function wireId(prefix: string, name: string): string {
  return `${prefix}_${ULID.test(name) ? name.toUpperCase() : digest(name)}`;
}

/** The id of an op: unchanged if it has Ante's form. */
export function opId(name: string): string {
  const read = readId(name);
  return "id" in read && read.id === name ? name : wireId("op", name);
}

/** A number in that many digits of a ULID's alphabet; further leading digits are cut off. */
export function digits(number: number, count: number): string {
  let text = "";
  for (let rest = number; text.length < count; rest = Math.floor(rest / 32)) text = ALPHABET.charAt(rest % 32) + text;
  return text;
}

/** FNV-1a is enough: these ids are names, not secrets. */
export function hash(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)) >>> 0;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return value;
}

function digest(name: string): string {
  // The first digit of a ULID is at most 7.
  const first = ALPHABET.charAt(hash(name, 1) % 8);
  return first + [2, 3, 4, 5, 6].map((seed) => digits(hash(name, seed), 5)).join("");
}
