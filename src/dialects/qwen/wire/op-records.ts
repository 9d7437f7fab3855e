/** Host → agent: input, request events and control responses, as the RFC spells them. */
import * as v from "valibot";
import { HOST_EVENTS } from "../../../core/hooks.js";
import type { Known } from "../../../core/values/without-index-signature.js";

const text = v.string();
/** The name is bounded, since many lines repeat it. */
const name = v.pipe(text, v.maxLength(1024));
const json = v.record(v.string(), v.unknown());

// --- what a request is made of ---

/** A part in the form of `@google/genai`: its member tells its kind, without a `type`. */
function untagged<E extends v.ObjectEntries>(entries: E) {
  return v.pipe(
    v.looseObject(entries),
    v.check((part) => !("type" in part), "a part with a type"),
  );
}

const FunctionResponse = v.looseObject({ id: v.nullish(text), name: v.nullish(text), response: v.optional(v.unknown()) });
const FileData = v.looseObject({ file_uri: text, mime_type: v.nullish(text), display_name: v.nullish(text) });
const InlineData = v.looseObject({ mime_type: text, data: text, display_name: v.nullish(text) });

const TaggedPart = v.variant("type", [
  v.looseObject({ type: v.literal("text"), text }),
  /** The host's own text, for the session rather than from its user. */
  v.looseObject({ type: v.literal("instruction"), text }),
  v.looseObject({ type: v.literal("function_response"), function_response: FunctionResponse }),
  v.looseObject({ type: v.literal("file_data"), file_data: FileData }),
  v.looseObject({ type: v.literal("inline_data"), inline_data: InlineData }),
  /** The part in the form of OpenAI's messages. */
  v.looseObject({ type: v.literal("image_url"), image_url: v.looseObject({ url: text }) }),
]);

const PART_KINDS = "a part: text, instruction, function_response, file_data, inline_data or image_url";
export const WirePart = v.union(
  [
    TaggedPart,
    untagged({ text }),
    untagged({ functionResponse: FunctionResponse }),
    untagged({ fileData: v.looseObject({ fileUri: text, mimeType: v.nullish(text), displayName: v.nullish(text) }) }),
    untagged({ inlineData: v.looseObject({ mimeType: text, data: text, displayName: v.nullish(text) }) }),
  ],
  `Expected ${PART_KINDS}`,
);
export type WirePart = Known<v.InferOutput<typeof WirePart>>;

export const CommandRef = v.looseObject({
  kind: v.picklist(["slash", "at"]),
  path: v.array(text),
  args: v.nullish(text),
});
export type CommandRef = Known<v.InferOutput<typeof CommandRef>>;

/** A tool that the host runs, as OpenAI declares functions. */
export const FunctionTool = v.looseObject({
  type: v.literal("function"),
  function: v.looseObject({ name: v.pipe(text, v.minLength(1)), description: v.nullish(text), parameters: v.nullish(json) }),
});

/** Options of this request. `tools` is checked separately: an unusable tool ends the process. */
const Options = v.looseObject({
  model: v.nullish(text),
  temperature: v.nullish(v.number()),
  top_p: v.nullish(v.number()),
  top_k: v.nullish(v.number()),
  max_tokens: v.nullish(v.number()),
  stop: v.nullish(v.union([text, v.array(text)])),
  tool_overrides: v.nullish(v.array(text)),
  tools: v.nullish(v.unknown()),
});
export type WireOptions = Known<v.InferOutput<typeof Options>>;

const HostTool = v.looseObject({ name: text, description: v.nullish(text), parameters: v.nullish(json) });

/** Names that every object has already cannot be keys of one. */
const ServerName = v.pipe(
  text,
  v.check((given) => given !== "" && !(given in {}), "Expected a name for a server"),
);

const HookName = v.pipe(
  text,
  v.check((given) => HOST_EVENTS.some((event) => event === given), `Expected ${HOST_EVENTS.join(", ")}`),
);

/** The protocol that a host asks for, and its own tools, MCP servers and hooks. */
const RequestMetadata = v.looseObject({
  protocol_version: v.nullish(v.number()),
  required_capabilities: v.nullish(v.array(text)),
  host_tools: v.nullish(v.array(HostTool)),
  host_mcp_servers: v.nullish(v.array(ServerName)),
  host_hooks: v.nullish(v.record(HookName, v.string())),
  traceparent: v.nullish(text),
});
export type RequestMetadata = Known<v.InferOutput<typeof RequestMetadata>>;

/** Fields of any line of the host. */
export const asked = {
  session_id: v.nullish(text),
  prompt_id: v.nullish(name),
  protocol_version: v.nullish(v.number()),
  metadata: v.nullish(RequestMetadata),
} as const;

export const ToolRequest = v.looseObject({
  call_id: v.nullish(name),
  callId: v.nullish(name),
  name: text,
  args: json,
});
export type ToolRequest = Known<v.InferOutput<typeof ToolRequest>>;

const ORIGINS = ["user", "tool_response", "system"] as const;

const requested = { model: v.nullish(text), options: v.nullish(Options) } as const;

/** Without `type`, `input` tells the kind. `tool_request` is checked separately. */
export const ChatRequest = v.looseObject({
  type: v.optional(v.literal("qwen_chat_request")),
  ...asked,
  ...requested,
  input: v.looseObject({
    origin: v.optional(v.picklist(ORIGINS), "user"),
    parts: v.optional(v.union([text, v.array(WirePart)]), []),
    command: v.nullish(CommandRef),
  }),
  tool_call_id: v.nullish(text),
  continuation: v.nullish(v.boolean()),
  tool_request: v.nullish(v.unknown()),
});
export type ChatRequest = Known<v.InferOutput<typeof ChatRequest>>;

const ROLES = ["system", "user", "assistant"] as const;

const Message = v.looseObject({ role: v.picklist(ROLES), content: v.union([text, v.array(WirePart)]) });

/** A request in the form of OpenAI's `/chat/completions`: the last message is the prompt, the earlier ones are a new session's history. */
export const MessagesRequest = v.looseObject({
  ...asked,
  ...requested,
  messages: v.pipe(v.array(Message), v.minLength(1)),
  temperature: v.nullish(v.number()),
  tools: v.nullish(v.unknown()),
});
export type MessagesRequest = Known<v.InferOutput<typeof MessagesRequest>>;

// --- request events ---

const Trigger = v.picklist(["slash", "at"]);

export const CommandHintRequest = v.looseObject({
  type: v.literal("command_hint_request"),
  ...asked,
  request_id: v.nullish(text),
  trigger: Trigger,
  text,
  cursor: v.nullish(v.number()),
  context: v.nullish(v.looseObject({ cwd: v.nullish(text), selected_text: v.nullish(text) })),
});

export const CommandHintCancel = v.looseObject({
  type: v.literal("command_hint_cancel"),
  ...asked,
  trigger: v.nullish(Trigger),
});

export const HeartbeatRequest = v.looseObject({ type: v.literal("heartbeat_request"), ...asked });

export const ControlCancel = v.looseObject({
  type: v.literal("control/cancel"),
  ...asked,
  reason: v.nullish(text),
  request_id: v.nullish(text),
});

// --- the control channel ---

const ControlError = v.looseObject({ message: v.nullish(text), retryable: v.nullish(v.boolean()) });

const ControlResult = v.looseObject({
  behavior: v.nullish(text),
  message: v.nullish(text),
  updated_arguments: v.nullish(json),
  /** The name that hosts of Claude use. */
  updatedInput: v.nullish(json),
  mcp_response: v.nullish(v.unknown()),
});

export const ControlResponse = v.looseObject({
  type: v.literal("control_response"),
  ...asked,
  request_id: text,
  response: v.looseObject({
    subtype: v.picklist(["success", "error"]),
    result: v.nullish(ControlResult),
    error: v.nullish(v.union([text, ControlError])),
    mcp_response: v.nullish(v.unknown()),
  }),
});
export type ControlResponse = Known<v.InferOutput<typeof ControlResponse>>;

/** Lines with a `type`. */
export const requests = {
  qwen_chat_request: ChatRequest,
  command_hint_request: CommandHintRequest,
  command_hint_cancel: CommandHintCancel,
  heartbeat_request: HeartbeatRequest,
  "control/cancel": ControlCancel,
  control_response: ControlResponse,
} as const;

export const OpLine = v.union([
  v.variant("type", [CommandHintRequest, CommandHintCancel, HeartbeatRequest, ControlCancel, ControlResponse]),
  ChatRequest,
  MessagesRequest,
]);
