/** Reads a session's log: its entries, and the numbers of damaged lines. */
import { closeSync, openSync, readSync } from "node:fs";
import { readLineBytes } from "../../../os/files/log-file.js";
import { isSealed } from "./checksum.js";
import { parseEntry, type ReadEntry } from "../entry.js";

const LF = 0x0a;
const CHUNK = 256 * 1024;

/** Reads entries from `from`, which is the start of a line. An empty line, as editors leave it, is not damage. */
export function* readEntries(log: string, from: number): Generator<ReadEntry> {
  let number = 0;
  let before: number | undefined;
  for (const line of readLineBytes(log, from, lostItsEnd)) {
    number++;
    if (isBlank(line)) continue;
    const entry = parseEntry(line, number);
    if (entry.kind !== "unreadable") yield entry;
    // Lines before `from` are counted only when a damaged line needs its number.
    else yield { ...entry, line: number + (before ??= linesBefore(log, from)) };
  }
}

/** Whether turns of the session were undone. Only the beginnings of lines are checked, since most logs have none. */
export function holdsRewind(log: string): boolean {
  for (const line of readLineBytes(log, 0)) if (line.subarray(0, REWIND.length).equals(REWIND)) return true;
  return false;
}

const REWIND = Buffer.from('{"kind":"rewind"');

/** Whether the rest is a whole line without its LF. A crash leaves only the beginning of a line. */
export function lostItsEnd(rest: Buffer): boolean {
  return rest.length > 1 && isSealed(rest.subarray(0, -1));
}

/** A sentence about the damaged lines, by number; undefined if there are none. */
export function damageIn(id: string, lines: readonly number[]): string | undefined {
  const [first] = lines;
  if (first === undefined) return undefined;
  if (lines.length === 1) return `Line ${first} of the log of session '${id}' is damaged and was left out: what it said is missing`;
  const named = lines.slice(0, MOST_NAMED).join(", ") + (lines.length > MOST_NAMED ? ", …" : "");
  return `${lines.length} lines of the log of session '${id}' are damaged and were left out: what they said is missing (lines ${named})`;
}

const MOST_NAMED = 8;

export function isBlank(line: Buffer): boolean {
  return line.length < MOST_BLANKS && line.toString().trim() === "";
}

/** More blanks in a line count as damage. */
const MOST_BLANKS = 256;

function linesBefore(log: string, place: number): number {
  const fd = openSync(log, "r");
  try {
    const chunk = Buffer.alloc(CHUNK);
    let count = 0;
    for (let at = 0; at < place;) {
      const read = readSync(fd, chunk, 0, Math.min(CHUNK, place - at), at);
      if (read === 0) break;
      for (const byte of chunk.subarray(0, read)) if (byte === LF) count++;
      at += read;
    }
    return count;
  } finally {
    closeSync(fd);
  }
}
