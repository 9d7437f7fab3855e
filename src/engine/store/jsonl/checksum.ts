/**
 * A checksum at the end of a JSON object in one line: `{…,"sum":"0f1e2d3c"}`, the CRC-32 of the bytes before `,"sum"`. The line stays one
 * JSON object, and a reader without checksums finds one more key. Any single flipped bit is detected, also in the checksum itself.
 */
import { crc32 } from "node:zlib";

const BEFORE = ',"sum":"';
const DIGITS = 8;
const BEHIND = '"}';
const LENGTH = BEFORE.length + DIGITS + BEHIND.length;

/** `json` is an object with at least one key. */
export function seal(json: string): string {
  const body = json.slice(0, -1);
  return body + BEFORE + sumOf(body) + BEHIND;
}

/** The object without its checksum, or unchanged if an older version wrote it without one; undefined if it is damaged. */
export function unseal(line: Buffer): string | undefined {
  const tail = tailOf(line);
  if (tail === undefined) return line.toString();
  const body = line.subarray(0, -LENGTH);
  return tail === BEFORE + sumOf(body) + BEHIND ? `${body.toString()}}` : undefined;
}

/** Whether the line has a correct checksum. */
export function isSealed(line: Buffer): boolean {
  return tailOf(line) !== undefined && unseal(line) !== undefined;
}

function sumOf(body: string | Buffer): string {
  return crc32(body).toString(16).padStart(DIGITS, "0");
}

/** A damaged character around the digits still shows that there was a checksum. */
function tailOf(line: Buffer): string | undefined {
  if (line.length <= LENGTH) return undefined;
  const tail = line.toString("latin1", line.length - LENGTH);
  const differences = differ(tail.slice(0, BEFORE.length), BEFORE) + differ(tail.slice(-BEHIND.length), BEHIND);
  return differences <= 1 ? tail : undefined;
}

function differ(found: string, wanted: string): number {
  let count = 0;
  for (let at = 0; at < wanted.length; at++) if (found[at] !== wanted[at]) count++;
  return count;
}
