/** Combines steps of a side. */
import type { Step } from "../dialect.js";

export const NOTHING: Readonly<Step<never>> = { in: [], out: [] };

/** A step of ops or events alone. */
export function stepOf<T>(read: T[]): Step<T> {
  return { in: read, out: [] };
}

export function together<T>(first: Step<T>, second: Step<T>): Step<T> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}

/** Appends a step to another in place, as there may be many. */
export function append<T>(step: Step<T>, next: Step<T>): void {
  step.in.push(...next.in);
  step.out.push(...next.out);
}
