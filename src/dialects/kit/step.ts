/** Steps of a side, put together. */
import type { Step } from "../dialect.js";

export const NOTHING: Readonly<Step<never>> = { in: [], out: [] };

export function together<T>(first: Step<T>, second: Step<T>): Step<T> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}
