/** Applies the hunks of a patch to a text. A hunk without a place, or with several, gives a sentence about it. */
import type { Redactor } from "../../../core/secrets/redact.js";
import { findBlocks, shifted, type Block } from "../files/find-block.js";
import { maskedQuote } from "../files/masked-text.js";
import { nearLines } from "../files/near-lines.js";
import { placesOf } from "../files/replace-text.js";
import type { Hunk } from "./parse-patch.js";

interface Change {
  from: number;
  to: number;
  put: string;
}

export interface Patched {
  text: string;
  notes: string[];
}

/** All places refer to the text before the first hunk is applied. */
export function patchText(name: string, text: string, hunks: readonly Hunk[], redactor: Redactor): Patched | { problem: string } {
  const changes: Change[] = [];
  const notes: string[] = [];
  let cursor = 0;
  for (const [at, hunk] of hunks.entries()) {
    const which = hunks.length === 1 ? "the hunk" : `hunk ${at + 1} of ${hunks.length}`;
    const found = placeOf(text, hunk, cursor);
    if ("problem" in found) return { problem: `${name}: ${which} ${found.problem}` };
    if ("missing" in found) return { problem: missing(name, which, text, hunk, redactor) };
    const { change, words } = found;
    if (changes.some(({ from, to }) => change.from < to && from < change.to)) {
      return { problem: `${name}: ${which} overlaps another one. Put them into one hunk.` };
    }
    changes.push(change);
    cursor = Math.max(cursor, change.to);
    if (words !== "") notes.push(`(${name}: ${which} differs from the file in ${words}; the file's own was kept)`);
  }
  return { text: withChanges(text, changes), notes };
}

function withChanges(text: string, changes: readonly Change[]): string {
  let result = "";
  let done = 0;
  for (const { from, to, put } of changes.toSorted((a, b) => a.from - b.from)) {
    result += text.slice(done, from) + put;
    done = to;
  }
  return result + text.slice(done);
}

type Found = { change: Change; words: string } | { missing: true } | { problem: string };

function placeOf(text: string, hunk: Hunk, cursor: number): Found {
  const old = hunk.lines.filter(({ mark }) => mark !== "+").map((line) => line.text);
  if (old.length === 0) return insertion(text, hunk, cursor);
  // Hunks come in the file's order; a hunk out of order is applied at its place.
  const found = findBlocks(text, old, cursor) ?? (cursor === 0 ? undefined : findBlocks(text, old));
  if (found === undefined) return { missing: true };
  const [block, ...others] = narrowed(text, hunk, found.blocks);
  if (block === undefined) return { missing: true };
  if (others.length > 0) {
    const places = placesOf(
      text,
      [block, ...others].map(({ from }) => from),
    );
    return {
      problem: `could stand in ${places}. Give it more unchanged lines, or an @@ line with the enclosing function or class.`,
    };
  }
  const change = changeOf(text, hunk, block);
  return change === undefined ? { missing: true } : { change, words: found.words };
}

/** The blocks at the end of the file if the hunk says so, else the first block behind each place of its anchors. */
function narrowed(text: string, { anchors, atEnd }: Hunk, blocks: readonly Block[]): readonly Block[] {
  if (atEnd) {
    const last = blocks.filter(({ to }) => text.slice(to).trim() === "");
    if (last.length > 0) return last;
  }
  if (blocks.length < 2 || anchors.length === 0) return blocks;
  const places = anchorPlaces(text, anchors);
  const behind = places.flatMap((place) => blocks.find(({ from }) => from >= place) ?? []);
  return behind.length === 0 ? blocks : [...new Set(behind)];
}

/** The starts of the lines of the last anchor, each behind a line of the anchor before it. */
function anchorPlaces(text: string, anchors: readonly string[]): number[] {
  let places = [0];
  for (const [nth, anchor] of anchors.entries()) {
    const lines = linesWith(text, anchor);
    const first = places[0] ?? 0;
    const below = lines.filter((line) => nth === 0 || line > first);
    if (below.length === 0) return [];
    places = nth === 0 ? below : [...new Set(places.flatMap((place) => below.find((line) => line > place) ?? []))];
  }
  return places;
}

/** The most anchor lines to look at. */
const MAX_LINES = 1000;

/** The starts of the lines that equal the anchor, else of those that contain it. */
function linesWith(text: string, anchor: string): number[] {
  const whole: number[] = [];
  const holding: number[] = [];
  let line = -1;
  for (let at = text.indexOf(anchor); at !== -1 && holding.length < MAX_LINES; at = text.indexOf(anchor, at + anchor.length)) {
    const from = text.lastIndexOf("\n", at) + 1;
    if (from === line) continue;
    line = from;
    const end = text.indexOf("\n", at);
    holding.push(from);
    if (text.slice(from, end === -1 ? text.length : end).trim() === anchor) whole.push(from);
  }
  return whole.length > 0 ? whole : holding;
}

/** Undefined if an added line has less indentation than the shift removes. */
function changeOf(text: string, { lines }: Hunk, block: Block): Change | undefined {
  const put: string[] = [];
  let own = 0;
  for (const { mark, text: line } of lines) {
    if (mark === "+") {
      const added = shifted(line, block.shift);
      if (added === undefined) return undefined;
      put.push(added);
    } else {
      if (mark === " ") put.push(block.lines[own] ?? "");
      own++;
    }
  }
  if (put.length > 0) return { from: block.from, to: block.to, put: put.join(block.lineBreak) };
  const isFollowed = text.startsWith(block.lineBreak, block.to);
  return { from: block.from, to: block.to + (isFollowed ? block.lineBreak.length : 0), put: "" };
}

/** A hunk of added lines only goes behind the anchor, or to the end of the file. */
function insertion(text: string, { anchors, lines }: Hunk, cursor: number): Found {
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const added = lines.map((line) => line.text + lineBreak).join("");
  if (anchors.length === 0) {
    const isOpen = text !== "" && !text.endsWith("\n");
    return { change: { from: text.length, to: text.length, put: (isOpen ? lineBreak : "") + added }, words: "" };
  }
  const places = anchorPlaces(text, anchors);
  const [place, ...others] = places.some((each) => each >= cursor) ? places.filter((each) => each >= cursor) : places;
  if (place === undefined) return { problem: `names the line ${JSON.stringify(anchors.at(-1))}, which the file does not hold.` };
  if (others.length > 0) {
    return { problem: `could stand in ${placesOf(text, [place, ...others])}. Give it unchanged lines from around the place.` };
  }
  const end = text.indexOf("\n", place);
  const at = end === -1 ? text.length : end + 1;
  return { change: { from: at, to: at, put: (end === -1 ? lineBreak : "") + added }, words: "" };
}

function missing(name: string, which: string, text: string, { lines }: Hunk, redactor: Redactor): string {
  const old = lines
    .filter(({ mark }) => mark !== "+")
    .map((line) => line.text)
    .join("\n");
  const masked = maskedQuote(name, old, redactor, which);
  if (masked !== undefined) return masked;
  const near = nearLines(redactor.text(text), old);
  const told = `${name}: the unchanged and removed lines of ${which} do not stand in the file`;
  return near === "" ? `${told}. Read it and quote it as it is.` : `${told}. The nearest lines are:\n${near}`;
}
