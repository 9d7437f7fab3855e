/**
 * How much the torture does. `npm test` runs a little of it; `npm run torture` runs all of it, with the seed that it is told, and
 * collects the figures.
 */
import { appendFileSync } from "node:fs";

export const isLong = process.env["PARLEY_TORTURE"] === "long";
export const SEED = Number(process.env["PARLEY_TORTURE_SEED"] ?? 1);

/** A figure for the report of the long run: what was tried how often, and what came of it. */
export function report(name: string, figures: Record<string, number | string>): void {
  const file = process.env["PARLEY_TORTURE_REPORT"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, figures })}\n`);
}

/** mulberry32: small, and the same everywhere. */
export function diceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
