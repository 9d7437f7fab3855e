/** Agent → host: `chat.completion` lines, chunks, annotations, `result/*`, control requests and the fatal error, as the RFC spells them. */
import * as v from "valibot";
import type { Known } from "../../../core/values/without-index-signature.js";
import { CommandRef } from "./op-records.js";

export const VERSION = "1";
/** The version as the wire spells it. */
export const PROTOCOL_VERSION = 1;

const text = v.string();
const count = v.number();
const json = v.record(v.string(), v.unknown());

/** The known words; a later agent may have others. */
function open<const W extends readonly string[]>(words: W) {
  return v.union([v.picklist(words), text]);
}

const LogScope = open(["system", "tool", "debug"]);

// --- annotations ---

/** `start` and `end` count UTF-16 units of the line's `content`, the end excluded. */
const Span = v.looseObject({ start: count, end: count, style: v.looseObject({ theme_token: text }) });

export const Terminal = v.looseObject({
  type: v.literal("x-qwen-terminal"),
  channel: open(["stdout", "stderr"]),
  source: open(["assistant", "tool", "console", "system"]),
  spans: v.optional(v.array(Span)),
  ansi: v.optional(v.array(v.looseObject({ offset: count, code: text }))),
  console_level: v.nullish(open(["info", "warn", "error", "debug"])),
  exit_code: v.nullish(count),
  prompt_id: v.optional(text),
  log_scope: v.optional(LogScope),
});
export type Terminal = Known<v.InferOutput<typeof Terminal>>;

const scoped = { log_scope: v.optional(LogScope) } as const;

const LineStat = v.looseObject({
  ai_added_lines: count,
  ai_removed_lines: count,
  user_added_lines: count,
  user_removed_lines: count,
});

export const StringDisplay = v.looseObject({ kind: v.literal("string"), ...scoped, text });
export const FileDiff = v.looseObject({
  kind: v.literal("file_diff"),
  ...scoped,
  file_name: text,
  diff: text,
  original: v.nullable(text),
  modified: text,
  stat: v.optional(LineStat),
});
export const TodoList = v.looseObject({
  kind: v.literal("todo_list"),
  ...scoped,
  todos: v.array(v.looseObject({ id: text, content: text, status: open(["pending", "in_progress", "completed"]) })),
});
export const PlanSummary = v.looseObject({ kind: v.literal("plan_summary"), ...scoped, message: text, plan_markdown: text });
export const TaskExecution = v.looseObject({
  kind: v.literal("task_execution"),
  ...scoped,
  task_description: text,
  status: open(["running", "completed", "failed", "cancelled"]),
  tool_calls: v.array(v.looseObject({ tool_call_id: text, name: text, status: text })),
  result: v.optional(text),
});

export const ResultDisplay = v.union([
  StringDisplay,
  FileDiff,
  TodoList,
  PlanSummary,
  TaskExecution,
  v.looseObject({ kind: text }),
  // A plain string, as in the type that it mirrors.
  text,
]);
export type ResultDisplay = Known<v.InferOutput<typeof ResultDisplay>>;

/** The details of a call that needs an approval. */
export const Confirmation = v.variant("type", [
  v.looseObject({ type: v.literal("edit"), title: text, file_name: text, diff: text, original: v.nullable(text), modified: text }),
  v.looseObject({ type: v.literal("exec"), title: text, command: text }),
  v.looseObject({ type: v.literal("mcp"), title: text, server_name: text, tool_name: text }),
  v.looseObject({ type: v.literal("plan"), title: text, plan: text }),
  v.looseObject({ type: v.literal("info"), title: text, prompt: text }),
]);
export type Confirmation = Known<v.InferOutput<typeof Confirmation>>;

export const ToolDisplay = v.looseObject({
  type: v.literal("x-qwen-tool-display"),
  tool_call_id: text,
  session_id: v.optional(text),
  status: open(["pending", "confirming", "executing", "success", "error", "canceled"]),
  result_display: v.nullish(ResultDisplay),
  confirmation: v.nullish(v.union([Confirmation, json])),
  pending: v.optional(v.boolean()),
  timestamp: v.optional(count),
  log_scope: v.optional(LogScope),
});
export type ToolDisplay = Known<v.InferOutput<typeof ToolDisplay>>;

export const Thought = v.looseObject({ type: v.literal("x-qwen-thought"), subject: text, description: text });
export type Thought = Known<v.InferOutput<typeof Thought>>;

const eventFields = {
  event: open([
    "Finished",
    "ChatCompressed",
    "MaxSessionTurns",
    "SessionTokenLimitExceeded",
    "LoopDetected",
    "USER_CANCELLED",
    "MAX_TOKENS",
  ]),
  message: v.optional(text),
  metrics: v.optional(v.looseObject({ original_tokens: v.optional(count), compressed_tokens: v.optional(count) })),
} as const;

/** A line of its own; it is also accepted as an annotation. */
export const SessionEvent = v.looseObject({
  type: v.literal("x-qwen-session-event"),
  session_id: v.optional(text),
  prompt_id: v.optional(text),
  ...eventFields,
});
export type SessionEvent = Known<v.InferOutput<typeof SessionEvent>>;

const Annotation = v.union([
  v.variant("type", [Terminal, ToolDisplay, Thought]),
  // Also session events, and annotations of a later agent.
  v.looseObject({ type: text }),
]);
export type Annotation = Known<v.InferOutput<typeof Annotation>>;

// --- chat.completion and chunks ---

export const WireUsage = v.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  prompt_tokens_details: v.nullish(v.looseObject({ cached_tokens: v.nullish(count) })),
  completion_tokens_details: v.nullish(v.looseObject({ reasoning_tokens: v.nullish(count) })),
});
export type WireUsage = Known<v.InferOutput<typeof WireUsage>>;

export const WireError = v.looseObject({
  message: text,
  type: text,
  param: v.nullish(text),
  code: v.nullish(text),
});
export type WireError = Known<v.InferOutput<typeof WireError>>;

export const ControlFailure = v.looseObject({
  request_id: text,
  subtype: v.optional(text),
  message: text,
  retryable: v.boolean(),
});
export type ControlFailure = Known<v.InferOutput<typeof ControlFailure>>;

const Summary = v.looseObject({ prompt_id: text, num_turns: count, duration_ms: count, is_error: v.boolean() });
export type Summary = Known<v.InferOutput<typeof Summary>>;

/** `protocol_version` to `capabilities` are on the receipt only; `summary` is on the last line of a turn. */
export const Metadata = v.looseObject({
  session_id: v.optional(text),
  prompt_id: v.optional(text),
  parent_tool_call_id: v.optional(text),
  protocol_version: v.optional(count),
  input_format: v.optional(open(["text", "stream-json", "stream-chunk-json"])),
  output_format: v.optional(open(["stream-json", "stream-chunk-json"])),
  capabilities: v.optional(v.array(text)),
  summary: v.optional(Summary),
  cancelled: v.optional(v.boolean()),
  error: v.optional(v.union([WireError, text])),
  control_errors: v.optional(v.array(ControlFailure)),
});
export type Metadata = Known<v.InferOutput<typeof Metadata>>;

const FinishReason = open(["stop", "tool_calls", "error"]);

export const ToolCall = v.looseObject({
  id: text,
  type: v.literal("function"),
  function: v.looseObject({ name: text, arguments: text }),
});
export type ToolCall = Known<v.InferOutput<typeof ToolCall>>;

/** Only the first delta of a call has `id`, `type` and `name`. */
export const ToolCallPiece = v.looseObject({
  index: v.optional(count),
  id: v.optional(text),
  type: v.optional(text),
  function: v.optional(v.looseObject({ name: v.optional(text), arguments: v.optional(text) })),
});
export type ToolCallPiece = Known<v.InferOutput<typeof ToolCallPiece>>;

const head = {
  id: text,
  created: count,
  model: text,
  usage: v.nullish(WireUsage),
  metadata: v.optional(Metadata),
  system_fingerprint: v.nullish(text),
} as const;

export const Completion = v.looseObject({
  object: v.literal("chat.completion"),
  ...head,
  choices: v.array(
    v.looseObject({
      index: count,
      message: v.looseObject({
        role: v.literal("assistant"),
        content: v.nullish(text),
        tool_calls: v.nullish(v.array(ToolCall)),
        annotations: v.optional(v.array(Annotation)),
      }),
      finish_reason: v.nullish(FinishReason),
    }),
  ),
});
export type Completion = Known<v.InferOutput<typeof Completion>>;

export const Chunk = v.looseObject({
  object: v.literal("chat.completion.chunk"),
  ...head,
  choices: v.array(
    v.looseObject({
      index: count,
      delta: v.looseObject({
        role: v.optional(v.literal("assistant")),
        content: v.nullish(text),
        tool_calls: v.nullish(v.array(ToolCallPiece)),
        annotations: v.optional(v.array(Annotation)),
      }),
      finish_reason: v.nullish(FinishReason),
    }),
  ),
});
export type Chunk = Known<v.InferOutput<typeof Chunk>>;

// --- result/* ---

const Choice = v.looseObject({
  label: text,
  value: text,
  description: v.optional(text),
  current: v.optional(v.boolean()),
});

export const WireCommandResult = v.variant("type", [
  v.looseObject({ type: v.literal("message"), level: open(["info", "warning", "error"]), content: text }),
  v.looseObject({ type: v.literal("dialog"), dialog: text, content: v.optional(text), choices: v.optional(v.array(Choice)) }),
  v.looseObject({ type: v.literal("tool"), tool_name: text, result_display: v.optional(ResultDisplay) }),
  /** `auto_submitted`: the turn follows without a request. */
  v.looseObject({ type: v.literal("submit_prompt"), auto_submitted: v.optional(v.boolean()) }),
]);
export type WireCommandResult = Known<v.InferOutput<typeof WireCommandResult>>;

const named = { session_id: v.optional(text), prompt_id: v.optional(text) } as const;

const ResultCommand = v.looseObject({
  type: v.literal("result/command"),
  ...named,
  command: CommandRef,
  // The RFC's list is open: other results are known by their `type`.
  result: v.union([WireCommandResult, v.looseObject({ type: text })]),
});

const ResultHint = v.looseObject({
  type: v.literal("result/command_hint"),
  ...named,
  request_id: v.optional(text),
  trigger: open(["slash", "at"]),
  status: open(["ok", "loading", "error"]),
  suggestions: v.optional(v.array(v.looseObject({ label: text, value: text, description: v.optional(text) }))),
  metadata: v.optional(v.looseObject({ is_perfect_match: v.optional(v.boolean()) })),
  message: v.optional(text),
});

const ResultHeartbeat = v.looseObject({ type: v.literal("result/heartbeat"), ...named, status: open(["ok"]), ts: count });

const ResultCancel = v.looseObject({
  type: v.literal("result/cancel"),
  ...named,
  status: open(["ok", "noop"]),
  reason: v.optional(text),
  message: v.optional(text),
});

// --- the control channel ---

export const ControlRequest = v.looseObject({
  type: v.literal("control_request"),
  request_id: text,
  subtype: open(["can_use_tool", "hook_callback", "mcp_message"]),
  ...named,
  tool_call_id: v.optional(text),
  tool: v.optional(v.looseObject({ name: text, arguments: json })),
  payload: v.optional(json),
  metadata: v.optional(v.looseObject({ reason: v.optional(text) })),
});

/** The answer to a `control/cancel` with a `request_id`, and to control requests of a host. */
const ControlAck = v.looseObject({
  type: v.literal("control_response"),
  request_id: text,
  response: v.looseObject({
    request_id: v.optional(text),
    subtype: v.picklist(["success", "error"]),
    result: v.optional(json),
    error: v.optional(v.looseObject({ message: text, retryable: v.optional(v.boolean()) })),
  }),
});

/** The last line of a process that cannot go on. */
export const FatalError = v.looseObject({ error: WireError });

export const results = {
  "x-qwen-session-event": SessionEvent,
  "result/command": ResultCommand,
  "result/command_hint": ResultHint,
  "result/heartbeat": ResultHeartbeat,
  "result/cancel": ResultCancel,
  control_request: ControlRequest,
  control_response: ControlAck,
} as const;

const ResultLine = v.variant("type", [SessionEvent, ResultCommand, ResultHint, ResultHeartbeat, ResultCancel, ControlRequest, ControlAck]);

export const EventLine = v.union([Completion, Chunk, ResultLine, FatalError]);
