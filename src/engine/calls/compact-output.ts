/** Shortens a tool's output: removes terminal codes and, when asked for, repetitions and the layout of JSON. */
import type { OutputCompaction } from "../../core/config.js";

export function compactOutput(text: string, level: OutputCompaction): string {
  if (level === "off") return text;
  const safe = withoutTerminal(text);
  return level === "safe" ? safe : folded(flatJson(safe) ?? safe);
}

/** CSI and OSC sequences, and escape sequences of two characters. */
// oxlint-disable-next-line no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

function withoutTerminal(text: string): string {
  const lines = text
    .replace(ESCAPES, "")
    .split("\n")
    .map((line) => lastWritten(line).trimEnd());
  return lines.filter((line, at) => line !== "" || lines[at - 1] !== "").join("\n");
}

/** Keeps the last state of a line that was overwritten by carriage returns. */
function lastWritten(line: string): string {
  const states = line.split("\r");
  return states.findLast((state) => state !== "") ?? "";
}

function flatJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Fewer equal lines stay: a note about them would not be shorter. */
const LEAST_FOLDED = 3;

/** Replaces lines that are equal, or differ only in numbers, by the first of them and a count. */
function folded(text: string): string {
  const runs: { first: string; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const last = runs.at(-1);
    if (last !== undefined && shapeOf(last.first) === shapeOf(line)) last.lines.push(line);
    else runs.push({ first: line, lines: [line] });
  }
  return runs.flatMap(({ first, lines }) => (lines.length < LEAST_FOLDED ? lines : [first, note(lines)])).join("\n");
}

function shapeOf(line: string): string {
  return line.replace(/\d+/g, "0");
}

function note(lines: readonly string[]): string {
  const kind = lines.every((line) => line === lines[0]) ? "identical" : "similar";
  return `[... ${lines.length - 1} ${kind} lines]`;
}
