/** The aionrs `--json-stream` wire: every command and event of 0.1.0, as the document spells them, and the additions of 0.2.0. */
import * as v from "valibot";

export function message<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ type: v.literal(type), ...entries });
}

const text = v.string();

// --- commands: host → agent ---

/** Later revisions call `content` `input`; one of the two is required. Hosts write null for an empty field. */
function messageWith(name: "input" | "content") {
  const entries = { msg_id: text, input: v.nullish(text), content: v.nullish(text), files: v.nullish(v.array(text)) };
  return v.pipe(
    message("message", entries),
    v.check(({ input, content }) => typeof (input ?? content) === "string", `${name} is missing`),
  );
}
const Message = messageWith("input");
export const LaterMessage = messageWith("content");
export const Stop = message("stop", {});
export const ToolApprove = message("tool_approve", { call_id: text, scope: v.nullish(v.picklist(["once", "always"])) });
export const ToolDeny = message("tool_deny", { call_id: text, reason: v.nullish(text) });
export const InitHistory = message("init_history", { text });
const WireMode = v.picklist(["default", "auto_edit", "yolo"]);
const SetMode = message("set_mode", { mode: WireMode });

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const setConfigEntries = {
  model: v.nullish(text),
  thinking: v.nullish(v.picklist(["enabled", "disabled"])),
  thinking_budget: v.nullish(count),
  /** An empty name is none. */
  effort: v.nullish(text),
  compaction: v.nullish(v.picklist(["off", "safe", "full"])),
} as const;
const ImageInput = v.picklist(["supported", "unsupported", "unknown"]);
const SetConfig = message("set_config", { ...setConfigEntries, image_input: v.nullish(ImageInput) });

const texts = v.record(text, text);
export const AddMcpServer = v.pipe(
  message("add_mcp_server", {
    // A server of this name cannot be a field of an object.
    name: v.pipe(text, v.nonEmpty("a server needs a name"), v.notValue("__proto__", "a server cannot be called __proto__")),
    transport: v.picklist(["stdio", "sse", "streamable-http", "streamable_http"]),
    command: v.nullish(text),
    args: v.nullish(v.array(text)),
    env: v.nullish(texts),
    url: v.nullish(text),
    headers: v.nullish(texts),
  }),
  v.check(({ transport, command }) => transport !== "stdio" || Boolean(command), "transport stdio needs a command"),
  v.check(({ transport, url }) => transport === "stdio" || Boolean(url), "this transport needs a url"),
);
export const Ping = message("ping", {});

/** Accepted in every revision: a host of a later revision may not name its revision. */
export const commands = {
  message: Message,
  stop: Stop,
  tool_approve: ToolApprove,
  tool_deny: ToolDeny,
  init_history: InitHistory,
  set_mode: SetMode,
  set_config: SetConfig,
  add_mcp_server: AddMcpServer,
  ping: Ping,
} as const;
export const Command = v.union([Message, Stop, ToolApprove, ToolDeny, InitHistory, SetMode]);
export const laterCommands = { ...commands, message: LaterMessage } as const;
export const LaterCommand = v.union([LaterMessage, Stop, ToolApprove, ToolDeny, InitHistory, SetMode, SetConfig, AddMcpServer, Ping]);
/** Protocols built on this one have other names of modes; the schemas have them. */
export type Command = Exclude<v.InferOutput<typeof LaterCommand>, { type: "set_mode" }> | { type: "set_mode"; mode: string };
export type CommandOf<T extends Command["type"]> = Extract<Command, { type: T }>;

// --- events: agent → host ---

const basics = { tool_approval: v.boolean(), thinking: v.boolean(), mcp: v.boolean() } as const;
const Ready = message("ready", { version: text, session_id: v.optional(text), capabilities: v.looseObject(basics) });
export const StreamStart = message("stream_start", { msg_id: text });
export const TextDelta = message("text_delta", { text, msg_id: text });
export const Thinking = message("thinking", { text, msg_id: text });
const Category = v.picklist(["info", "edit", "exec", "mcp"]);
export const ToolRequest = message("tool_request", {
  msg_id: text,
  call_id: text,
  tool: v.looseObject({ name: text, category: Category, args: v.record(text, v.unknown()), description: text }),
});
export const ToolRunning = message("tool_running", { msg_id: text, call_id: text, tool_name: text });
export const ToolResult = message("tool_result", {
  msg_id: text,
  call_id: text,
  tool_name: text,
  status: v.picklist(["success", "error"]),
  output: text,
  output_type: v.optional(v.picklist(["text", "diff", "image"])),
  metadata: v.optional(v.record(text, v.unknown())),
});
export const ToolCancelled = message("tool_cancelled", { msg_id: text, call_id: text, reason: v.optional(text) });
export const WireUsage = v.looseObject({
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_tokens: v.optional(v.number()),
  cache_write_tokens: v.optional(v.number()),
});
export type WireUsage = v.InferOutput<typeof WireUsage>;
const StreamEnd = message("stream_end", { msg_id: text, usage: v.nullish(WireUsage) });
export const ErrorEvent = message("error", {
  msg_id: v.optional(v.nullable(text)),
  error: v.looseObject({ code: text, message: text, retryable: v.optional(v.boolean()) }),
});
export const Info = message("info", { msg_id: v.optional(v.nullable(text)), message: text });

// --- events of 0.2 ---

export const capabilityEntries = {
  ...basics,
  effort: v.optional(v.boolean()),
  effort_levels: v.optional(v.array(text)),
  modes: v.optional(v.array(text)),
  current_mode: v.optional(text),
} as const;
const LaterCapabilities = v.looseObject({ ...capabilityEntries, image_input: v.optional(ImageInput) });
const LaterReady = message("ready", { version: text, session_id: v.optional(text), capabilities: LaterCapabilities });
const ConfigChanged = message("config_changed", { capabilities: LaterCapabilities });
export const McpReady = message("mcp_ready", { name: text, tools: v.array(text) });
export const Pong = message("pong", {});

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

export const laterEvents = { ...events, ready: LaterReady, config_changed: ConfigChanged, mcp_ready: McpReady, pong: Pong } as const;
export const LaterEvent = v.variant("type", [
  LaterReady,
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
  ConfigChanged,
  McpReady,
  Pong,
]);
export type LaterEvent = v.InferOutput<typeof LaterEvent>;
export type LaterEventOf<T extends LaterEvent["type"]> = Extract<LaterEvent, { type: T }>;
