/** The Wayland Core `--json-stream` wire, protocol 0.2.0: its lines beyond those of aionrs, and the lines that it spells in another way. */
import * as v from "valibot";
import {
  AddMcpServer,
  capabilityEntries,
  laterCommands,
  ErrorEvent,
  Info,
  InitHistory,
  laterEvents,
  McpReady,
  message,
  LaterMessage,
  Ping,
  Pong,
  setConfigEntries,
  Stop,
  StreamStart,
  TextDelta,
  Thinking,
  ToolApprove,
  ToolCancelled,
  ToolDeny,
  ToolRequest,
  ToolResult,
  ToolRunning,
  WireUsage,
} from "../aionrs/wire/records.js";

const text = v.string();

// --- commands: host → agent ---

const SetMode = message("set_mode", { mode: v.picklist(["default", "auto_edit", "force", "yolo"]) });
const SetConfig = message("set_config", setConfigEntries);

export const commands = { ...laterCommands, set_mode: SetMode, set_config: SetConfig } as const;
export const Command = v.union([LaterMessage, Stop, ToolApprove, ToolDeny, InitHistory, SetMode, SetConfig, AddMcpServer, Ping]);

// --- events: agent → host ---

/** Capabilities that are off, and then left out, unless the user switches them on. */
export const SWITCHES = ["streaming_tools", "sub_agent_traces"] as const;

const Capabilities = v.looseObject({
  ...capabilityEntries,
  streaming_tools: v.optional(v.literal(true)),
  sub_agent_traces: v.optional(v.literal(true)),
});
const Ready = message("ready", { version: text, session_id: v.optional(text), capabilities: Capabilities });
const ConfigChanged = message("config_changed", { capabilities: Capabilities });
const StreamEnd = message("stream_end", {
  msg_id: text,
  finish_reason: v.optional(v.picklist(["stop", "length", "error", "max_turns"])),
  usage: v.nullish(WireUsage),
  /** The real program sends totals of the session as `usage`, and this run's share here. */
  usage_delta: v.nullish(WireUsage),
});
/** A call that needs no approval, before its first word: some hosts take no word of a call that they never heard of. */
const CallAnnounced = message("call_announced", {
  msg_id: text,
  call_id: text,
  tool: ToolRequest.entries.tool,
  critical: v.optional(v.boolean()),
});
const ToolChunk = message("tool_chunk", { msg_id: text, call_id: text, tool_name: text, chunk: text });
const McpFailed = message("mcp_failed", { name: text, reason: text });
const SubAgentEvent = message("sub_agent_event", {
  parent_call_id: text,
  agent_name: text,
  inner: v.looseObject({ type: text }),
});

/** The events that aionrs reads too. */
export const events = { ...laterEvents, ready: Ready, config_changed: ConfigChanged, stream_end: StreamEnd } as const;

export const WireEvent = v.variant("type", [
  Ready,
  StreamStart,
  TextDelta,
  Thinking,
  ToolRequest,
  CallAnnounced,
  ToolRunning,
  ToolChunk,
  ToolResult,
  ToolCancelled,
  StreamEnd,
  ErrorEvent,
  Info,
  ConfigChanged,
  McpReady,
  McpFailed,
  SubAgentEvent,
  Pong,
]);
export type WireEvent = v.InferOutput<typeof WireEvent>;
export type WireEventOf<T extends WireEvent["type"]> = Extract<WireEvent, { type: T }>;

// --- events that real ones send and we only read ---

const ToolPanicked = message("tool_panicked", { msg_id: text, call_id: text, tool_name: text, panic_message: text });
/** With an empty token the event repeats a `tool_request`; with a token it is answered by `approval_resume`. */
const ApprovalRequired = message("approval_required", {
  call_id: text,
  resume_token: text,
  reason: v.optional(text),
  context: v.optional(text),
});
const CompactOffload = message("compact_offload", { msg_id: text, reason: text, tokens_freed: v.number() });
const BudgetExceeded = message("budget_exceeded", { reason: text });
const MonitorDecision = message("mid_flight_monitor_decision", { directive: text, reason: text });

export const ownEvents = {
  call_announced: CallAnnounced,
  tool_chunk: ToolChunk,
  tool_panicked: ToolPanicked,
  approval_required: ApprovalRequired,
  mcp_failed: McpFailed,
  sub_agent_event: SubAgentEvent,
  compact_offload: CompactOffload,
  budget_exceeded: BudgetExceeded,
  mid_flight_monitor_decision: MonitorDecision,
} as const;
const OwnEvent = v.variant("type", [
  CallAnnounced,
  ToolChunk,
  ToolPanicked,
  ApprovalRequired,
  McpFailed,
  SubAgentEvent,
  CompactOffload,
  BudgetExceeded,
  MonitorDecision,
]);
export type OwnEvent = v.InferOutput<typeof OwnEvent>;
export type OwnEventOf<T extends OwnEvent["type"]> = Extract<OwnEvent, { type: T }>;

/** Events that are known by name, and passed on as they are. */
export const PASSED_ON: ReadonlySet<string> = new Set([
  "execution_policy",
  "workspace_policy",
  "capability_activation",
  "render_artifact",
  "suspend",
  "approval_resume",
  "mcp_removal_result",
  "provider_attempt",
  "provider_retry",
  "provider_failure",
  "provider_circuit_event",
  "provider_failover_receipt",
  "trace_event",
  "session_cost",
  "budget_grant_result",
  "workflow_started",
  "workflow_node_event",
  "workflow_finished",
  "session_recovery_snapshot",
  "session_recovery_replay",
  "session_recovery_unavailable",
  "turn_recovery_lifecycle",
  "unknown_tool_effect_resolved",
  "runtime_diagnostics_snapshot",
  "runtime_diagnostics_unavailable",
  "plugin_registration_failed",
  "plugin_event",
  "evolution_event",
  "browser_event",
  "browser_policy_denied",
  "cua_event",
  "cua_policy_denied",
  "host_send_message_request",
  "anvil_receipt",
  "anvil_receipt_invalidated",
  "goal_snapshot",
  "goal_transition",
  "goal_control_refused",
]);
