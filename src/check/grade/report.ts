/** The report of a grading: for people, and for programs. */
import type { Outcome, Result, ShownLine } from "./outcome.js";

const LEVELS = ["must", "should", "may"] as const;
const OUTCOMES = ["pass", "fail", "unknown", "skipped"] as const;

export function summaryOf(results: readonly Result[]): Record<Outcome, number> {
  const count = (outcome: Outcome): number => results.filter((result) => result.outcome === outcome).length;
  return { pass: count("pass"), fail: count("fail"), unknown: count("unknown"), skipped: count("skipped") };
}

export function textReport(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ id }) => id.length));
  const rows = results.flatMap(({ id, level, outcome, title, why, lines }) => [
    `${outcome.padEnd(7)}  ${id.padEnd(width)}  ${level.padEnd(6)}  ${title}`,
    ...(why === undefined ? [] : [`         ${why}`]),
    ...(outcome === "fail" ? (lines ?? []).map(shown) : []),
  ]);
  const summary = LEVELS.flatMap((level) => {
    const own = results.filter((result) => result.level === level);
    const counts = summaryOf(own);
    return own.length === 0 ? [] : [`${level}: ${OUTCOMES.map((outcome) => `${counts[outcome]} ${outcome}`).join(", ")}`];
  });
  return [...rows, "", ...summary, ""].join("\n");
}

function shown({ from, text, isMarked }: ShownLine): string {
  return `       ${isMarked === true ? "!" : " "} ${from === "host" ? "→" : "←"} ${text}`;
}
