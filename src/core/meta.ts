/** Fields that every op and event may carry beside its own. */
import * as v from "valibot";

/**
 * `at` (milliseconds since 1970) and `seq` are stamped by whoever makes the event. `id` belongs to ops. `parent` is the id of the op
 * that an event answers. `session` is the handle minted by the opener. `under` names the Spawn call an event belongs to.
 * `ext` holds, per dialect, what only that dialect says.
 */
export const metaEntries = {
  at: v.optional(v.number()),
  seq: v.optional(v.number()),
  id: v.optional(v.string()),
  parent: v.optional(v.string()),
  session: v.optional(v.string()),
  turn: v.optional(v.string()),
  under: v.optional(v.string()),
  replay: v.optional(v.literal(true)),
  ext: v.optional(v.record(v.string(), v.unknown())),
} as const;

export const Meta = v.object(metaEntries);
export type Meta = v.InferOutput<typeof Meta>;
