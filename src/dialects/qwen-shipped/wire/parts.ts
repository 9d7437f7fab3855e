/** What the lines of the wire are made of: content blocks, messages, counts, envelopes. */
import * as v from "valibot";

export const text = v.string();

/** `parent_tool_use_id` is null, or the call of the agent tool under which it happened. */
export const meta = { uuid: text, session_id: text, parent_tool_use_id: v.nullish(text) } as const;

/** `input_tokens` includes what was read from the cache. */
export const WireUsage = v.looseObject({
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_input_tokens: v.optional(v.number()),
  total_tokens: v.optional(v.number()),
});
export type WireUsage = v.InferOutput<typeof WireUsage>;

const Text = v.looseObject({ type: v.literal("text"), text });
const Thinking = v.looseObject({ type: v.literal("thinking"), thinking: text, signature: v.optional(text) });
const ToolUse = v.looseObject({ type: v.literal("tool_use"), id: text, name: text, input: v.unknown() });
const ToolResult = v.looseObject({
  type: v.literal("tool_result"),
  tool_use_id: text,
  is_error: v.optional(v.boolean()),
  content: v.optional(v.union([text, v.array(v.unknown())])),
});
const Image = v.looseObject({
  type: v.literal("image"),
  source: v.variant("type", [
    v.looseObject({ type: v.literal("base64"), media_type: text, data: text }),
    v.looseObject({ type: v.literal("url"), url: text }),
  ]),
});

/** `Given` are the blocks of a prompt, `Block` those of an answer. */
export const content = {
  Text,
  ToolResult,
  Given: v.variant("type", [Text, Image, ToolResult]),
  Block: v.variant("type", [Text, Thinking, ToolUse]),
} as const;
export type Given = v.InferOutput<typeof content.Given>;
export type Block = v.InferOutput<typeof content.Block>;

/** The real one says `tool_use` or nothing; other agents of this family say more. */
export const message = v.looseObject({
  id: text,
  type: v.optional(v.literal("message")),
  role: v.literal("assistant"),
  model: text,
  content: v.array(content.Block),
  stop_reason: v.nullish(v.union([v.literal("tool_use"), text])),
  usage: v.optional(WireUsage),
});

export function request<N extends string, E extends v.ObjectEntries>(subtype: N, entries: E) {
  return v.looseObject({ subtype: v.literal(subtype), ...entries });
}

export function controlRequest<S extends v.GenericSchema>(schema: S) {
  return v.looseObject({ type: v.literal("control_request"), request_id: text, request: schema });
}
