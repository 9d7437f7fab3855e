/** The data of the reply to a `session.rewind`; the schema is the type. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

/**
 * Paths are relative to the workspace where they lie in it. `files` are as they were; `left` stay as they are, each for a reason (`why`). Of a
 * preview `files` would go back, and `stat` counts the lines that would come back and go.
 */
export const RewindReply = v.looseObject({
  files: v.array(v.string()),
  left: v.array(v.string()),
  why: v.optional(v.record(v.string(), v.string())),
  stat: v.optional(v.looseObject({ added: v.number(), removed: v.number() })),
});
export type RewindReply = Known<v.InferOutput<typeof RewindReply>>;
