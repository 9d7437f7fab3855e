/** The aionrs `--json-stream` wire, protocol 0.1.0: every command and every event, as the document spells them. */
import * as v from "valibot";

export const VERSION = "0.1.0";

function message<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ type: v.literal(type), ...entries });
}

const text = v.string();

// --- commands: host → agent ---

/** `content` is what later revisions call `input`; one of the two must be there. Hosts that have nothing to say for a field say null. */
const Message = v.pipe(
  message("message", {
    msg_id: text,
    input: v.nullish(text),
    content: v.nullish(text),
    files: v.nullish(v.array(text)),
  }),
  v.check(({ input, content }) => typeof (input ?? content) === "string", "input is missing"),
);
const Stop = message("stop", {});
const ToolApprove = message("tool_approve", { call_id: text, scope: v.nullish(v.picklist(["once", "always"])) });
const ToolDeny = message("tool_deny", { call_id: text, reason: v.nullish(text) });
const InitHistory = message("init_history", { text });
export const WireMode = v.picklist(["default", "auto_edit", "yolo"]);
const SetMode = message("set_mode", { mode: WireMode });

export const commands = {
  message: Message,
  stop: Stop,
  tool_approve: ToolApprove,
  tool_deny: ToolDeny,
  init_history: InitHistory,
  set_mode: SetMode,
} as const;
export const Command = v.union([Message, Stop, ToolApprove, ToolDeny, InitHistory, SetMode]);
export type Command = v.InferOutput<typeof Command>;

// --- events: agent → host ---

const Ready = message("ready", {
  version: text,
  session_id: v.optional(text),
  capabilities: v.looseObject({ tool_approval: v.boolean(), thinking: v.boolean(), mcp: v.boolean() }),
});
const StreamStart = message("stream_start", { msg_id: text });
const TextDelta = message("text_delta", { text, msg_id: text });
const Thinking = message("thinking", { text, msg_id: text });
const Category = v.picklist(["info", "edit", "exec", "mcp"]);
const ToolRequest = message("tool_request", {
  msg_id: text,
  call_id: text,
  tool: v.looseObject({ name: text, category: Category, args: v.record(text, v.unknown()), description: text }),
});
const ToolRunning = message("tool_running", { msg_id: text, call_id: text, tool_name: text });
const ToolResult = message("tool_result", {
  msg_id: text,
  call_id: text,
  tool_name: text,
  status: v.picklist(["success", "error"]),
  output: text,
  output_type: v.optional(v.picklist(["text", "diff", "image"])),
  metadata: v.optional(v.record(text, v.unknown())),
});
const ToolCancelled = message("tool_cancelled", { msg_id: text, call_id: text, reason: v.optional(text) });
const WireUsage = v.looseObject({
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_tokens: v.optional(v.number()),
  cache_write_tokens: v.optional(v.number()),
});
export type WireUsage = v.InferOutput<typeof WireUsage>;
const StreamEnd = message("stream_end", { msg_id: text, usage: v.nullish(WireUsage) });
const ErrorEvent = message("error", {
  msg_id: v.optional(v.nullable(text)),
  error: v.looseObject({ code: text, message: text, retryable: v.optional(v.boolean()) }),
});
const Info = message("info", { msg_id: v.optional(v.nullable(text)), message: text });

export const events = {
  ready: Ready,
  stream_start: StreamStart,
  text_delta: TextDelta,
  thinking: Thinking,
  tool_request: ToolRequest,
  tool_running: ToolRunning,
  tool_result: ToolResult,
  tool_cancelled: ToolCancelled,
  stream_end: StreamEnd,
  error: ErrorEvent,
  info: Info,
} as const;

export const WireEvent = v.variant("type", [
  Ready,
  StreamStart,
  TextDelta,
  Thinking,
  ToolRequest,
  ToolRunning,
  ToolResult,
  ToolCancelled,
  StreamEnd,
  ErrorEvent,
  Info,
]);
export type WireEvent = v.InferOutput<typeof WireEvent>;
export type WireEventOf<T extends WireEvent["type"]> = Extract<WireEvent, { type: T }>;
