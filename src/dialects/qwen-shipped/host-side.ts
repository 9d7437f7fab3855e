/** The host's end of the wire. */
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Side, SideEnv } from "../dialect.js";

export function hostSide(_env: SideEnv): Side<Event, Op> {
  const nothing = { in: [], out: [] };
  return { read: () => nothing, write: () => nothing, end: () => nothing };
}
