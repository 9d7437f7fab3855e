/** Fields that every op and event may carry beside its own. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

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

/** A client of a hub, as the hub knows it. */
export const Client = v.looseObject({ client: v.string(), name: v.optional(v.string()) });
export type Client = Known<v.InferOutput<typeof Client>>;

/**
 * `key`: the same op said again, by a client that lost its connection, has the same key, and is taken once in a session. `by` is the client
 * that a hub got the op from: the hub alone sets it, on every op, and no agent believes it of anybody else.
 */
export const opMetaEntries = { ...metaEntries, key: v.optional(v.string()), by: v.optional(Client) } as const;

export const Meta = v.object(metaEntries);
export type Meta = v.InferOutput<typeof Meta>;
