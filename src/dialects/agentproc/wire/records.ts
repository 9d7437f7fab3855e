/** The shapes of the AgentProc wires: environment and prefixed lines (0.1, 0.2), JSON objects a line (0.3, 0.4). */
import * as v from "valibot";

const text = v.string();

// --- 0.1 and 0.2: into the agent ---

/** The agent's environment. `AGENT_STREAMING` is "0" or "1"; `AGENT_PERMISSION=1` (0.2): it may ask, and is answered on its stdin. */
const Environment = v.looseObject({
  AGENT_MESSAGE: v.optional(text),
  AGENT_SESSION_ID: v.optional(text),
  AGENT_SESSION_NAME: v.optional(text),
  AGENT_FROM_USER: v.optional(text),
  AGENT_STREAMING: v.optional(v.pipe(text, v.regex(/^[01]$/))),
  AGENT_PROTOCOL_VERSION: v.optional(text),
  AGENT_PERMISSION: v.optional(text),
  AGENT_IMAGE_URL: v.optional(text),
  AGENT_FILE_URL: v.optional(text),
  AGENT_ATTACHMENTS: v.optional(text),
});

/** Variables that the protocol reserves. */
export const ENV_NAMES: readonly string[] = Object.keys(Environment.entries);

/** An item of the JSON list in AGENT_ATTACHMENTS. */
export const EnvAttachment = v.looseObject({ type: v.picklist(["image", "file", "audio", "video"]), url: text, name: text });
export type EnvAttachment = v.InferOutput<typeof EnvAttachment>;

/** The prefixes of lines that are not body. */
export const SESSION = "AGENT_SESSION:";
export const PARTIAL = "AGENT_PARTIAL:";
export const ERROR = "AGENT_ERROR:";
export const REQUEST = "AGENT_PERMISSION_REQUEST:";
export const RESPONSE = "AGENT_PERMISSION_RESPONSE:";

const ResponseLine = v.pipe(text, v.regex(/^AGENT_PERMISSION_RESPONSE:\{/));
/** Every line is valid: a line without a prefix is body. */
const OutputLine = text;

/** Lines of wires 0.1 and 0.2. */
export const lineWire = { op: v.union([Environment, ResponseLine]), event: OutputLine };

// --- 0.3 and 0.4 ---

export const RecordAttachment = v.looseObject({
  kind: v.picklist(["image", "file", "audio", "video", "other"]),
  url: text,
  filename: v.optional(text),
  mime_type: v.optional(text),
  size: v.optional(v.number()),
});
export type RecordAttachment = v.InferOutput<typeof RecordAttachment>;

/** `session_id` "" is a new session. `from_user` belongs to 0.3. */
const Turn = v.looseObject({
  type: v.literal("turn"),
  message: text,
  session_id: text,
  session_name: v.optional(text),
  from_user: v.optional(text),
  protocol_version: text,
  attachments: v.optional(v.array(RecordAttachment)),
  permission: v.optional(v.boolean()),
});
export type Turn = v.InferOutput<typeof Turn>;

const answer = {
  request_id: text,
  behavior: v.picklist(["allow", "deny"]),
  updated_input: v.optional(v.record(v.string(), v.unknown())),
  message: v.optional(text),
} as const;
/** The answer behind the prefix of 0.2; an answer as a line has a type. */
export const PermissionAnswer = v.looseObject(answer);
export type PermissionAnswer = v.InferOutput<typeof PermissionAnswer>;
const PermissionResponse = v.looseObject({ type: v.literal("permission_response"), ...answer });

export const PermissionRequest = v.looseObject({
  request_id: text,
  tool_name: text,
  input: v.record(v.string(), v.unknown()),
  description: v.optional(text),
  tool_use_id: v.optional(text),
});
export type PermissionRequest = v.InferOutput<typeof PermissionRequest>;

const count = v.optional(v.number());
/** Counts as Anthropic's API has them: cache reads and writes beside `input_tokens`, reasoning within `output_tokens`. */
const WireUsage = v.looseObject({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  reasoning_tokens: count,
  duration_ms: count,
  cost_usd: count,
});
export type WireUsage = v.InferOutput<typeof WireUsage>;

const sessionId = { session_id: v.optional(text) } as const;
const Role = v.picklist(["output", "thinking", "other"]);
export type Role = v.InferOutput<typeof Role>;

const recordsOf04 = [
  v.looseObject({ type: v.literal("partial"), text, role: v.optional(Role), ...sessionId }),
  v.looseObject({ type: v.literal("result"), text, ...sessionId, usage: v.optional(WireUsage) }),
  v.looseObject({ type: v.literal("error"), message: text, ...sessionId, usage: v.optional(WireUsage) }),
  v.looseObject({ type: v.literal("permission_request"), ...PermissionRequest.entries, ...sessionId }),
] as const;
/** Records of 0.3 alone: a piece of the reply, and the session's id. */
const recordsOf03 = [v.looseObject({ type: v.literal("text"), text }), v.looseObject({ type: v.literal("session"), id: text })] as const;
const AgentRecord = v.variant("type", [...recordsOf04, ...recordsOf03]);
export type AgentRecord = v.InferOutput<typeof AgentRecord>;

const recordOp = v.variant("type", [Turn, PermissionResponse]);
/** Records of wire 0.4. */
export const recordWire = { op: recordOp, event: v.variant("type", [...recordsOf04]) };
/** Records of wire 0.3, and of `auto`, which takes the records of both. */
export const mixedRecordWire = { op: recordOp, event: AgentRecord };
