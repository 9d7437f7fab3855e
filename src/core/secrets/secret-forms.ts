/** The forms in which programs show a secret: as it is, line by line, and as it is escaped or encoded for another place. */

/** A line of a longer secret counts as a secret from this length on; shorter lines and the headings of keys are ordinary text. */
const LONG_LINE = 16;

const END_OF_LINE = /(?:\r|\\r)?(?:\n|\\n)/;

/**
 * A secret of several lines counts line by line, too, as programs number or quote lines. A variable may hold a secret with `\n` for its
 * line ends, which its user turns into lines.
 */
export function formsOf(secret: string): string[] {
  const lines = secret.split(END_OF_LINE);
  const long = lines.length === 1 ? [] : lines.filter((line) => line.length >= LONG_LINE && !line.startsWith("-----"));
  return [secret, JSON.stringify(secret).slice(1, -1), ...long, ...encoded(secret)];
}

/** Percent-encoded, in hex digits, and in base64 wherever in a longer text it begins. */
function encoded(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].map((before) => base64At(bytes, before));
  const forWeb = base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([percent(secret), hex, hex.toUpperCase(), ...base64, ...forWeb])];
}

/** A lone surrogate has no percent-encoding. */
function percent(secret: string): string {
  return encodeURIComponent(secret.toWellFormed());
}

/** Four characters stand for three bytes: those that the secret alone decides, where so many bytes come before it in its group. */
function base64At(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}
