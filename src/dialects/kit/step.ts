/** Steps of a side, put together. */
import type { Step } from "../dialect.js";

export const NOTHING: Readonly<Step<never>> = { in: [], out: [] };

/** A step of nothing but ops or events. */
export function stepOf<T>(read: T[]): Step<T> {
  return { in: read, out: [] };
}

export function together<T>(first: Step<T>, second: Step<T>): Step<T> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}

/** Puts a step behind another in place, where there may be many. */
export function append<T>(step: Step<T>, next: Step<T>): void {
  step.in.push(...next.in);
  step.out.push(...next.out);
}
