/**
 * Finds a block of whole lines in a file: an exact match, else one that differs in trailing space, in indentation (all lines shifted by one
 * amount), or in quotes and dashes. The work is linear in the file.
 */
import { plainCharacters, withOwnCharacters } from "./plain-characters.js";

/** `add`: the indentation that the file's lines have and the quote's lack; `cut`: the reverse. */
interface Shift {
  add: string;
  cut: string;
}

export interface Block {
  /** From the start of the first line to the end of the last line, without its line break. */
  from: number;
  to: number;
  /** The file's own lines. */
  lines: readonly string[];
  lineBreak: "\n" | "\r\n";
  shift: Shift;
}

interface Loosening {
  /** The kind of difference in words; empty for an exact match. */
  words: string;
  plain: boolean;
  space: "kept" | "end" | "indent";
}

const LOOSENINGS: readonly Loosening[] = [
  { words: "", plain: false, space: "kept" },
  { words: "trailing space or line ends", plain: false, space: "end" },
  { words: "indentation", plain: false, space: "indent" },
  { words: "quotes or dashes", plain: true, space: "end" },
  { words: "indentation, quotes or dashes", plain: true, space: "indent" },
];

export interface FoundBlocks {
  words: string;
  blocks: Block[];
}

/** The most candidates for one block; a block with more counts as not found. */
const MAX_CANDIDATES = 10_000;
/** The most blocks in a result. */
const MAX_BLOCKS = 100;

/** The blocks at or after `start`, by the strictest comparison that finds one. A quote of blank lines matches nothing. */
export function findBlocks(text: string, wanted: readonly string[], start = 0): FoundBlocks | undefined {
  let plain: string | undefined;
  for (const loosening of LOOSENINGS) {
    const searched = loosening.plain ? (plain ??= plainCharacters(text)) : text;
    const quoted = loosening.plain ? wanted.map(plainCharacters) : wanted;
    const blocks = blocksIn({ text, searched, start }, quoted, loosening.space);
    if (blocks.length > 0) return { words: loosening.words, blocks };
  }
  return undefined;
}

interface Searched {
  text: string;
  /** The normalised text for the comparison; it has the same length. */
  searched: string;
  start: number;
}

function blocksIn({ text, searched, start }: Searched, wanted: readonly string[], space: Loosening["space"]): Block[] {
  const anchor = longestLine(wanted);
  const needle = wanted[anchor]?.trim() ?? "";
  if (needle === "") return [];
  const blocks: Block[] = [];
  let candidates = 0;
  for (let at = searched.indexOf(needle, start); at !== -1; at = searched.indexOf(needle, at + needle.length)) {
    if (++candidates > MAX_CANDIDATES) return [];
    if (blocks.length === MAX_BLOCKS) break;
    const from = beginning(searched, lineStart(searched, at), anchor);
    if (from === undefined || from < start) continue;
    const block = blockAt(text, searched, from, wanted, space);
    if (block !== undefined) blocks.push(block);
  }
  return blocks;
}

function longestLine(lines: readonly string[]): number {
  let longest = 0;
  for (const [at, line] of lines.entries()) if (line.trim().length > (lines[longest]?.trim().length ?? 0)) longest = at;
  return longest;
}

/** Undefined if other characters than blanks stand before the text on its line. */
function lineStart(text: string, at: number): number | undefined {
  let from = at;
  while (from > 0 && (text[from - 1] === " " || text[from - 1] === "\t")) from--;
  return from === 0 || text[from - 1] === "\n" ? from : undefined;
}

/** The start of the line that many lines above. */
function beginning(text: string, from: number | undefined, above: number): number | undefined {
  let start = from;
  for (let left = above; left > 0 && start !== undefined; left--)
    start = start < 2 ? aboveFirst(start) : text.lastIndexOf("\n", start - 2) + 1;
  return start;
}

/** Position 1 is in the second line if the first line is empty. */
function aboveFirst(start: number): number | undefined {
  return start === 1 ? 0 : undefined;
}

function blockAt(text: string, searched: string, from: number, wanted: readonly string[], space: Loosening["space"]): Block | undefined {
  const lines: string[] = [];
  let shift: Shift = { add: "", cut: "" };
  let isShifted = space !== "indent";
  let breaks = "\n";
  let to = from;
  for (const [at, quoted] of wanted.entries()) {
    const start = at === 0 ? from : to + 1;
    if (start > text.length) return undefined;
    const end = text.indexOf("\n", start);
    to = end === -1 ? text.length : end;
    const own = searched.slice(start, to).replace(/\r$/, "");
    const written = quoted.replace(/\r$/, "");
    if (!isShifted && written.trim() !== "") {
      const found = shiftOf(own, written);
      if (found === undefined) return undefined;
      shift = found;
      isShifted = true;
    }
    if (!isSame(own, written, space, shift)) return undefined;
    if (end !== -1 && text[end - 1] === "\r") breaks = "\r\n";
    if (end === -1 && at < wanted.length - 1) return undefined;
    lines.push(text.slice(start, start + own.length));
  }
  const isCut = text[to - 1] === "\r" && to > from;
  return { from, to: isCut ? to - 1 : to, lines, lineBreak: breaks === "\r\n" ? "\r\n" : "\n", shift };
}

function isSame(own: string, written: string, space: Loosening["space"], { add, cut }: Shift): boolean {
  if (space === "kept") return own === written;
  if (own.trim() === "" || written.trim() === "") return own.trim() === written.trim();
  return cut + own.trimEnd() === add + written.trimEnd();
}

function shiftOf(own: string, written: string): Shift | undefined {
  const [had, given] = [indentOf(own), indentOf(written)];
  if (had.endsWith(given)) return { add: had.slice(0, had.length - given.length), cut: "" };
  if (given.endsWith(had)) return { add: "", cut: given.slice(0, given.length - had.length) };
  return undefined;
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

// The replacement of a block

/** The largest product of line counts that is compared line by line; above it only common beginnings and ends are. */
const MAX_PRODUCT = 1_000_000;

/**
 * The text that replaces the block: unchanged lines keep the file's own form, and new lines get the block's
 * indentation. Undefined if a new line has less indentation than the shift removes.
 */
export function rewritten(
  { lines, lineBreak, shift }: Block,
  wanted: readonly string[],
  replacement: readonly string[],
): string | undefined {
  const put: string[] = [];
  for (const { old, fresh } of steps(wanted, replacement)) {
    if (old.length === fresh.length && old.every((at, nth) => isKept(wanted[at], replacement[fresh[nth] ?? -1]))) {
      put.push(...old.map((at) => lines[at] ?? ""));
      continue;
    }
    for (const [nth, at] of fresh.entries()) {
      const line = shifted((replacement[at] ?? "").replace(/\r$/, ""), shift);
      if (line === undefined) return undefined;
      const before = old.length === fresh.length ? old[nth] : undefined;
      const quoted = before === undefined ? undefined : shifted(wanted[before] ?? "", shift);
      put.push(quoted === undefined || before === undefined ? line : withOwnCharacters(lines[before] ?? "", quoted, line));
    }
  }
  return put.join(lineBreak);
}

function isKept(quoted: string | undefined, put: string | undefined): boolean {
  return quoted?.trimEnd() === put?.trimEnd();
}

/** A new line with the block's indentation; undefined if it has less than the shift removes. */
export function shifted(line: string, { add, cut }: Shift): string | undefined {
  if (line.trim() === "") return line.trim() === line ? line : "";
  if (cut === "") return add + line;
  return line.startsWith(cut) ? line.slice(cut.length) : undefined;
}

/** Pairs the lines of both texts: equal lines with each other, and between them the changed lines as groups. */
interface StepOfLines {
  old: number[];
  fresh: number[];
}

function steps(wanted: readonly string[], replacement: readonly string[]): StepOfLines[] {
  const found: StepOfLines[] = [];
  let change: StepOfLines = { old: [], fresh: [] };
  const close = (): void => {
    if (change.old.length + change.fresh.length > 0) found.push(change);
    change = { old: [], fresh: [] };
  };
  for (const [old, fresh] of commonLines(wanted, replacement)) {
    const last = found.at(-1);
    const { old: doneOld, fresh: doneFresh } = lastOf(last);
    change.old.push(...between(doneOld, old));
    change.fresh.push(...between(doneFresh, fresh));
    close();
    found.push({ old: [old], fresh: [fresh] });
  }
  const done = lastOf(found.at(-1));
  change.old.push(...between(done.old, wanted.length));
  change.fresh.push(...between(done.fresh, replacement.length));
  close();
  return found;
}

function lastOf(step: StepOfLines | undefined): { old: number; fresh: number } {
  return { old: step?.old.at(-1) ?? -1, fresh: step?.fresh.at(-1) ?? -1 };
}

function between(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from - 1) }, (_, nth) => from + 1 + nth);
}

/** Pairs of equal lines in order: the longest common subsequence. */
function commonLines(a: readonly string[], b: readonly string[]): [number, number][] {
  let head = 0;
  while (head < a.length && head < b.length && isKept(a[head], b[head])) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && isKept(a.at(-1 - tail), b.at(-1 - tail))) tail++;
  const [inner, other] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  return [
    ...Array.from({ length: head }, (_, at): [number, number] => [at, at]),
    ...(inner.length * other.length > MAX_PRODUCT ? [] : commonWithin(inner, other)).map(([x, y]): [number, number] => [
      x + head,
      y + head,
    ]),
    ...Array.from({ length: tail }, (_, at): [number, number] => [a.length - tail + at, b.length - tail + at]),
  ];
}

function commonWithin(a: readonly string[], b: readonly string[]): [number, number][] {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const length = (x: number, y: number): number => lengths[x * width + y] ?? 0;
  for (let x = a.length - 1; x >= 0; x--)
    for (let y = b.length - 1; y >= 0; y--)
      lengths[x * width + y] = isKept(a[x], b[y]) ? length(x + 1, y + 1) + 1 : Math.max(length(x + 1, y), length(x, y + 1));
  const pairs: [number, number][] = [];
  for (let x = 0, y = 0; x < a.length && y < b.length;) {
    if (isKept(a[x], b[y])) pairs.push([x++, y++]);
    else if (length(x + 1, y) >= length(x, y + 1)) x++;
    else y++;
  }
  return pairs;
}
