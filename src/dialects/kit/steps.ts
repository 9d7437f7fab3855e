/** Steps of a host's side, put together. */
import type { Event } from "../../core/event.js";
import type { Step } from "../dialect.js";

export const NOTHING: Readonly<Step<never>> = { in: [], out: [] };

export function together(first: Step<Event>, second: Step<Event>): Step<Event> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}
