/** Schemas that stream-json wires share: content blocks, messages and their pieces, prompts, envelopes of control requests. */
import * as v from "valibot";

export const text = v.string();

/** `parent_tool_use_id` is null, or the call of the tool under which a sub-agent works. */
export const meta = { uuid: text, session_id: text, parent_tool_use_id: v.nullish(text) } as const;

// --- messages ---

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

/** The real programs write `tool_use`, `end_turn` or nothing as `stop_reason`; other agents of this family write more. */
export function messageOf<U extends v.GenericSchema>(usage: U) {
  return v.looseObject({
    id: text,
    type: v.optional(v.literal("message")),
    role: v.literal("assistant"),
    model: text,
    content: v.array(content.Block),
    stop_reason: v.nullish(v.union([v.literal("tool_use"), text])),
    usage: v.optional(usage),
  });
}

const index = { index: v.number() } as const;

/** The `event` of a `stream_event` line, by its type. */
export const pieces = {
  message_start: v.looseObject({
    type: v.literal("message_start"),
    message: v.looseObject({ id: text, role: v.literal("assistant"), model: text, content: v.array(v.unknown()) }),
  }),
  content_block_start: v.looseObject({ type: v.literal("content_block_start"), ...index, content_block: content.Block }),
  content_block_delta: v.looseObject({
    type: v.literal("content_block_delta"),
    ...index,
    delta: v.variant("type", [
      v.looseObject({ type: v.literal("text_delta"), text }),
      v.looseObject({ type: v.literal("thinking_delta"), thinking: text }),
      v.looseObject({ type: v.literal("input_json_delta"), partial_json: text }),
    ]),
  }),
  content_block_stop: v.looseObject({ type: v.literal("content_block_stop"), ...index }),
  message_stop: v.looseObject({ type: v.literal("message_stop") }),
} as const;
export type BlockStart = v.InferOutput<typeof pieces.content_block_start>;
export type BlockDelta = v.InferOutput<typeof pieces.content_block_delta>;

// --- what a host writes ---

/** `session_id`, `uuid` and `options` of a prompt are ignored: a process has one session. */
export const Prompt = v.looseObject({
  type: v.literal("user"),
  session_id: v.nullish(text),
  message: v.looseObject({ role: v.literal("user"), content: v.union([text, v.array(content.Given)]) }),
  parent_tool_use_id: v.nullish(text),
});
export type Prompt = v.InferOutput<typeof Prompt>;

/** The answer to `can_use_tool`. Any behavior except allow, in any case of letters, denies. */
export const Permission = v.looseObject({
  behavior: v.union([v.picklist(["allow", "deny"]), text]),
  updatedInput: v.nullish(v.record(text, v.unknown())),
  message: v.nullish(text),
  interrupt: v.nullish(v.boolean()),
});
export type Permission = v.InferOutput<typeof Permission>;

/** The answer to `mcp_message`; a notification is answered, too. */
export const McpAnswer = v.looseObject({ mcp_response: v.optional(v.record(text, v.unknown())) });

// --- control requests, in both directions ---

export function request<N extends string, E extends v.ObjectEntries>(subtype: N, entries: E) {
  return v.looseObject({ subtype: v.literal(subtype), ...entries });
}

export function controlRequest<S extends v.GenericSchema>(schema: S) {
  return v.looseObject({ type: v.literal("control_request"), request_id: text, request: schema });
}

const Failure = v.looseObject({ subtype: v.literal("error"), request_id: text, error: v.union([text, v.looseObject({ message: text })]) });

export function controlResponse<S extends v.GenericSchema>(answer: S) {
  return v.looseObject({
    type: v.literal("control_response"),
    response: v.variant("subtype", [
      v.looseObject({ subtype: v.literal("success"), request_id: text, response: v.nullish(answer) }),
      Failure,
    ]),
  });
}

export const HostResponse = controlResponse(v.union([Permission, McpAnswer, v.unknown()]));
export type HostResponse = v.InferOutput<typeof HostResponse>;

export const CancelRequest = v.looseObject({ type: v.literal("control_cancel_request"), request_id: v.nullish(text) });

/** Fields of `can_use_tool` that every wire has. */
export const permissionRequest = { tool_name: text, tool_use_id: text, input: v.record(text, v.unknown()) } as const;
export interface PermissionRequest {
  tool_name: string;
  tool_use_id: string;
  input: Record<string, unknown>;
}

export const McpMessage = request("mcp_message", { server_name: text, message: v.record(text, v.unknown()) });
export type McpMessage = v.InferOutput<typeof McpMessage>;
