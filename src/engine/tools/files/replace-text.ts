/** One replacement in a text: at an exact match, else at the one place that differs only in space, indentation, or quotes and dashes. */
import type { Redactor } from "../../../core/secrets/redact.js";
import { findBlocks, rewritten } from "./find-block.js";
import { maskedQuote } from "./masked-text.js";
import { nearLines } from "./near-lines.js";
import { plainCharacters, withOwnCharacters } from "./plain-characters.js";

export interface Replacement {
  old_string: string;
  new_string: string;
  replace_all?: boolean | undefined;
}

/** `forgiven` names the differences between quote and file that were ignored. */
export interface Replaced {
  text: string;
  count: number;
  forgiven?: string;
}

/** The most places that a refusal names. */
const MAX_PLACES = 10;

export function replaceText(name: string, text: string, replacement: Replacement, redactor: Redactor): Replaced | { problem: string } {
  const { old_string: old, new_string: put, replace_all: isAll } = replacement;
  if (old === "") return { problem: "old_string is empty. To make a new file use Write; to insert, quote the text beside the place." };
  if (old === put) return { problem: "old_string and new_string are the same; there is nothing to change." };
  const exact = cut(text, old, put);
  const count = exact.pieces.length - 1;
  if (count === 1 || (count > 1 && isAll === true)) return { text: exact.pieces.join(exact.put), count };
  if (count > 1) {
    const places = placesOf(text, startsOf(exact.pieces, exact.find));
    return { problem: `Multiple matches found (${count}), in ${places}. Use replace_all or provide more context.` };
  }
  const loose = isAll === true ? undefined : loosely(text, old, put);
  if (loose === undefined) return { problem: missing(name, text, replacement, redactor) };
  const [only, ...others] = loose.places;
  if (only !== undefined && others.length === 0) {
    return { text: text.slice(0, only.from) + only.put + text.slice(only.to), count: 1, forgiven: loose.words };
  }
  const places = placesOf(
    text,
    loose.places.map(({ from }) => from),
  );
  return {
    problem:
      `old_string not found in file ${name} exactly. But for ${loose.words} it stands in ${places}: ` +
      "quote one of them exactly, with more of the lines around it.",
  };
}

// Exact matches

/** Joins the text between the places with the replacement for each place. */
function cut(text: string, old: string, replacement: string): { pieces: string[]; find: string; put: string } {
  const { find, put } = lineEndingsOf(text, old, replacement);
  return { pieces: text.split(find), find, put };
}

/** Models write LF. In a CRLF file both strings get CRLF; in a mixed file only if the LF form is not found. */
function lineEndingsOf(text: string, find: string, put: string): { find: string; put: string } {
  const meantAsIs = find.includes("\r") || !text.includes("\r\n") || (/(?:^|[^\r])\n/.test(text) && text.includes(find));
  return meantAsIs ? { find, put } : { find: toCrlf(find), put: toCrlf(put) };
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

function startsOf(pieces: readonly string[], find: string): number[] {
  const starts: number[] = [];
  let at = 0;
  for (const piece of pieces.slice(0, MAX_PLACES + 1)) {
    at += piece.length;
    starts.push(at);
    at += find.length;
  }
  return starts.slice(0, pieces.length - 1);
}

// Matches with differences

interface LoosePlaces {
  words: string;
  places: { from: number; to: number; put: string }[];
}

function loosely(text: string, old: string, put: string): LoosePlaces | undefined {
  return byLines(text, old, put) ?? byCharacters(text, old, put);
}

/** Matches whole lines. A line break at the end of both strings is left out. */
function byLines(text: string, old: string, put: string): LoosePlaces | undefined {
  const endsLine = old.endsWith("\n");
  const staysLine = put.endsWith("\n");
  const wanted = (endsLine ? old.slice(0, -1) : old).split("\n");
  const lines = endsLine && put === "" ? [] : (endsLine && staysLine ? put.slice(0, -1) : put).split("\n");
  const found = findBlocks(text, wanted);
  if (found === undefined) return undefined;
  const places = found.blocks.map((block) => {
    const takesBreak = endsLine && !staysLine && text.startsWith(block.lineBreak, block.to);
    return { from: block.from, to: block.to + (takesBreak ? block.lineBreak.length : 0), put: rewritten(block, wanted, lines) };
  });
  const fitting = places.flatMap((place) => (place.put === undefined ? [] : [{ ...place, put: place.put }]));
  return fitting.length < places.length || fitting.length === 0 ? undefined : { words: found.words || "line ends", places: fitting };
}

/** Matches a part of one or more lines whose quotes and dashes differ. */
function byCharacters(text: string, old: string, put: string): LoosePlaces | undefined {
  const plain = plainCharacters(text);
  const { find, put: meant } = lineEndingsOf(text, plainCharacters(old), put);
  const quoted = find.includes("\r") && !old.includes("\r") ? toCrlf(old) : old;
  if (find.trim() === "") return undefined;
  const places: LoosePlaces["places"] = [];
  for (let at = plain.indexOf(find); at !== -1 && places.length <= MAX_PLACES; at = plain.indexOf(find, at + find.length)) {
    places.push({ from: at, to: at + find.length, put: withOwnCharacters(text.slice(at, at + find.length), quoted, meant) });
  }
  return places.length === 0 ? undefined : { words: "quotes or dashes", places };
}

// Refusals

/** The numbers of the lines, without counting a large file's lines again for each. */
export function placesOf(text: string, starts: readonly number[]): string {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const start of starts.slice(0, MAX_PLACES)) {
    for (let end = text.indexOf("\n", at); end !== -1 && end < start; end = text.indexOf("\n", at)) {
      line++;
      at = end + 1;
    }
    numbers.push(line);
  }
  const more = starts.length > MAX_PLACES ? " and further ones" : "";
  const shown = [...new Set(numbers)];
  return `${shown.length === 1 ? "line" : "lines"} ${shown.join(", ")}${more}`;
}

function missing(name: string, text: string, { old_string: old, replace_all: isAll }: Replacement, redactor: Redactor): string {
  const masked = maskedQuote(name, old, redactor);
  if (masked !== undefined) return masked;
  // The whole text is redacted, not only the shown lines: half a secret would not be found.
  const near = nearLines(redactor.text(text), old);
  const exactly = isAll === true ? " (replace_all matches exactly)" : "";
  if (near === "") return `old_string not found in file ${name}${exactly}`;
  return `old_string not found in file ${name}${exactly}. The nearest lines are:\n${near}`;
}
