/** Fields that every op and event may carry beside its own. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

/**
 * The maker of an event stamps `at` (milliseconds since 1970) and `seq`. `id` belongs to ops. `parent` is the id of the op
 * that an event answers. `session` is the handle minted by the opener. `under` names the Spawn call an event belongs to.
 * `ext` holds fields of single dialects, by dialect.
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

/** A client of a hub. */
export const Client = v.looseObject({ client: v.string(), name: v.optional(v.string()) });
export type Client = Known<v.InferOutput<typeof Client>>;

/**
 * `key`: a client that lost its connection repeats an op with the same key, and the session takes it once. `by` is the client
 * that sent the op to the hub: only the hub sets it, on every op, and no agent accepts it from others.
 */
export const opMetaEntries = { ...metaEntries, key: v.optional(v.string()), by: v.optional(Client) } as const;

export const Meta = v.object(metaEntries);
export type Meta = v.InferOutput<typeof Meta>;
