/** Ids in the form that hosts of stream-json wires expect: a ULID as a UUID of version 7. */

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isUuid(text: unknown): text is string {
  return typeof text === "string" && UUID.test(text);
}

/** An id that is not a ULID stays unchanged. The low bits, which differ between ids of the same millisecond, are kept. */
export function uuidOf(id: string): string {
  if (!ULID.test(id)) return id;
  const bits = Array.from(id).reduce((sum, letter) => (sum << 5n) | BigInt(ALPHABET.indexOf(letter)), 0n);
  const hex = bits.toString(16).padStart(32, "0");
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) & 3)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
