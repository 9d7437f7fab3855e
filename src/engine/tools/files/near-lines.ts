/** Shows the lines of a file that are nearest to a text that was not found in it. */
import { headOf, wellFormed } from "../../workspace/output.js";

/** The most lines to show, and the most characters of each. */
const MAX_SHOWN = 12;
const MAX_LINE_CHARS = 200;
/** The most characters of the file to compare. */
const MAX_VOTED_CHARS = 20 * 1024 * 1024;
const MAX_ALIKE_CHARS = 2 * 1024 * 1024;
/** The most lines of the text to look for. */
const MAX_QUOTED = 200;
const LEAST_ALIKE = 0.5;

/** `text` is redacted. Returns numbered lines; empty if no line of the file is near. */
export function nearLines(text: string, quoted: string): string {
  const lines = quoted.split("\n").slice(0, MAX_QUOTED);
  const first = mostVoted(text, lines) ?? mostAlike(text, lines);
  if (first === undefined) return "";
  const from = Math.max(1, first - 1);
  const shown = linesFrom(text, from, Math.min(MAX_SHOWN, lines.length + 2));
  return shown.map((line, at) => `${String(from + at).padStart(6)}\t${cut(line)}`).join("\n");
}

/** The line, counted from 1, at which most lines of the quote would be in their place. */
function mostVoted(text: string, quoted: readonly string[]): number | undefined {
  const places = new Map<string, number>();
  for (const [at, line] of quoted.entries()) if (line.trim().length > 2 && !places.has(line.trim())) places.set(line.trim(), at);
  if (places.size === 0) return undefined;
  const votes = new Map<number, number>();
  let best: { first: number; votes: number } | undefined;
  eachLine(text, MAX_VOTED_CHARS, (line, number) => {
    const at = places.get(line.trim());
    if (at === undefined) return;
    const first = Math.max(1, number - at);
    const count = (votes.get(first) ?? 0) + 1;
    votes.set(first, count);
    if (count > (best?.votes ?? 0)) best = { first, votes: count };
  });
  return best?.first;
}

/** The line that shares the most pairs of letters with the longest line of the quote. */
function mostAlike(text: string, quoted: readonly string[]): number | undefined {
  const longest = quoted.reduce((a, b) => (b.trim().length > a.trim().length ? b : a), "");
  const wanted = pairsOf(longest.trim().slice(0, MAX_LINE_CHARS));
  if (wanted.size < 2) return undefined;
  const at = Math.max(0, quoted.indexOf(longest));
  let best: { number: number; alike: number } | undefined;
  eachLine(text, MAX_ALIKE_CHARS, (line, number) => {
    const pairs = pairsOf(line.trim().slice(0, MAX_LINE_CHARS));
    let common = 0;
    for (const pair of pairs) if (wanted.has(pair)) common++;
    const alike = (2 * common) / (pairs.size + wanted.size);
    if (alike >= LEAST_ALIKE && alike > (best?.alike ?? 0)) best = { number, alike };
  });
  return best === undefined ? undefined : Math.max(1, best.number - at);
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2).toLowerCase());
  return pairs;
}

function eachLine(text: string, most: number, see: (line: string, number: number) => void): void {
  for (let from = 0, number = 1; from < Math.min(text.length, most); number++) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    if (to > from) see(text.slice(from, to), number);
    from = to + 1;
  }
}

function linesFrom(text: string, first: number, count: number): string[] {
  let from = 0;
  for (let left = first - 1; left > 0; left--) from = text.indexOf("\n", from) + 1;
  const lines: string[] = [];
  while (lines.length < count && from < text.length) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    lines.push(text.slice(from, to));
    from = to + 1;
  }
  return lines;
}

function cut(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length <= MAX_LINE_CHARS ? wellFormed(text) : `${wellFormed(headOf(text, MAX_LINE_CHARS))}…`;
}
