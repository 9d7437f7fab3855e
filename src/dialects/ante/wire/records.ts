/** Ante's wire: every operation and every event, as the document spells them. Variants are tagged from outside; one without fields is a string. */
import * as v from "valibot";

export const VERSION = "preview.19";

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0xffff_ffff));

/** A variant with fields: `{"Name": …}`, and no other key. */
function variant<N extends string, S extends v.GenericSchema>(name: N, schema: S) {
  return v.strictObject({ [name]: schema } as { [K in N]: S });
}

/** A variant without fields; hosts may also write `{"Name": null}`. */
function unit<N extends string>(name: N) {
  return v.union([v.literal(name), variant(name, v.null())]);
}

export const Thinking = v.picklist(["Disabled", "Enabled", "Deep", "Max"]);
/** The document names the type without its values: these are the values of that time, and of later hosts and SDKs. */
const Policy = v.picklist(["default", "yolo", "strict", "auto", "Ask", "Auto", "Deny"]);
const Decision = v.picklist(["Accept", "Skip", "AcceptForSession", "Abort"]);

const specFields = {
  description: v.nullish(text),
  temperature: v.nullish(v.number()),
  top_p: v.nullish(v.number()),
  top_k: v.nullish(count),
  max_tokens: v.nullish(count),
  stop_sequences: v.nullish(v.array(text)),
  context_limit: v.nullish(count),
  thinking: v.nullish(Thinking),
} as const;

/** Later revisions call `name` `id`; one of the two is required. */
export const ModelSpec = v.pipe(
  v.looseObject({ name: v.nullish(text), id: v.nullish(text), ...specFields }),
  v.check(({ name, id }) => typeof (name ?? id) === "string", "name is missing"),
);
export type ModelSpec = v.InferOutput<typeof ModelSpec>;

// --- operations: client → daemon ---

const SessionConfig = v.looseObject({
  model: text,
  provider: text,
  policy: v.nullish(Policy),
  permission_mode: v.nullish(Policy),
  streaming: v.nullish(v.boolean()),
  system_prompt: v.nullish(text),
  append_system_prompt: v.nullish(text),
  allowed_tools: v.nullish(v.array(text)),
  disallowed_tools: v.nullish(v.array(text)),
  cwd: v.nullish(text),
  thinking: v.nullish(Thinking),
});
export type WireSessionConfig = v.InferOutput<typeof SessionConfig>;

export const ops = {
  StartSession: SessionConfig,
  UpdateSession: v.looseObject({ model: ModelSpec }),
  ResumeSession: v.looseObject({ session_id: text }),
  Steer: text,
  UserInput: text,
  ApprovalResponse: v.looseObject({ turn_id: text, responses: v.array(v.strictTuple([text, Decision])) }),
  SlashCommand: v.looseObject({ name: text, args: v.nullish(text) }),
  RegisterLocalProvider: v.looseObject({
    port: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535)),
    model: v.nullish(ModelSpec),
  }),
  Interrupt: v.null(),
  Shutdown: v.null(),
  RestoreLocalProvider: v.null(),
} as const;
export type OpName = keyof typeof ops;
export const UNIT_OPS: ReadonlySet<string> = new Set<OpName>(["Interrupt", "Shutdown", "RestoreLocalProvider"]);

export const OpMsg = v.looseObject({
  op: v.union([
    variant("StartSession", ops.StartSession),
    variant("UpdateSession", ops.UpdateSession),
    variant("ResumeSession", ops.ResumeSession),
    variant("Steer", ops.Steer),
    variant("UserInput", ops.UserInput),
    variant("ApprovalResponse", ops.ApprovalResponse),
    variant("SlashCommand", ops.SlashCommand),
    variant("RegisterLocalProvider", ops.RegisterLocalProvider),
    unit("Interrupt"),
    unit("Shutdown"),
    unit("RestoreLocalProvider"),
  ]),
  id: text,
});

// --- events: daemon → client ---

const SessionInitialized = v.looseObject({
  model: ModelSpec,
  // Later revisions have an object here.
  provider: v.union([text, v.looseObject({ id: v.optional(text), name: v.optional(text) })]),
  session_id: text,
  cwd: text,
});

/** The document has `input`, and every known client reads `args`: both are written. */
export const ToolUse = v.looseObject({ id: text, name: text, input: v.optional(v.unknown()), args: v.optional(v.unknown()) });
export type ToolUse = v.InferOutput<typeof ToolUse>;

const TurnEndStatus = v.union([
  v.literal("Completed"),
  v.strictObject({ Interrupted: v.looseObject({ reason: v.nullish(text) }) }),
  v.strictObject({ Error: v.looseObject({ message: v.optional(text), headline: v.optional(text), kind: v.optional(text) }) }),
]);
export type TurnEndStatus = v.InferOutput<typeof TurnEndStatus>;

const WireUsage = v.looseObject({
  input_tokens: v.optional(v.number(), 0),
  output_tokens: v.optional(v.number(), 0),
  cache_read_tokens: v.nullish(v.number()),
  cache_creation_tokens: v.nullish(v.number()),
});
export type WireUsage = v.InferInput<typeof WireUsage>;

const Scope = v.picklist(["project", "user", "system"]);
const Skill = v.looseObject({ name: text, description: v.nullish(text), scope: v.optional(Scope), argument_hint: v.nullish(text) });
const SubAgent = v.looseObject({ name: text, description: v.nullish(text), scope: v.optional(Scope) });
const Parameter = v.looseObject({ name: text, param_type: text, required: v.boolean(), description: v.nullish(text) });
const McpTool = v.looseObject({ name: text, qualified_name: text, description: v.nullish(text), parameters: v.array(Parameter) });
const McpServer = v.looseObject({ name: text, command: v.optional(text), args: v.optional(v.array(text)), tools: v.array(McpTool) });
export type WireMcpServer = v.InferOutput<typeof McpServer>;

export const events = {
  SessionStart: SessionInitialized,
  SessionUpdated: SessionInitialized,
  SessionEnd: v.unknown(),
  TurnStart: v.looseObject({ turn_id: text }),
  TurnPause: v.looseObject({
    turn_id: text,
    reason: v.strictObject({ Approval: v.looseObject({ tools: v.array(ToolUse), message: v.optional(text, "") }) }),
  }),
  TurnEnd: v.looseObject({ turn_id: text, status: TurnEndStatus }),
  AgentMessage: text,
  Thinking: text,
  MessageDelta: text,
  ThinkingDelta: text,
  ToolStart: ToolUse,
  ToolUpdate: v.looseObject({ tool_use_id: text, seq: v.optional(v.number(), 0), message: v.optional(text, "") }),
  ToolEnd: v.looseObject({
    tool_use_id: text,
    status: v.picklist(["Completed", "Cancelled", "Denied", "Failed"]),
    result_json: v.optional(v.unknown()),
    is_error: v.optional(v.boolean()),
  }),
  CompactStart: v.unknown(),
  CompactEnd: v.unknown(),
  ExtensionRefreshed: v.looseObject({
    session_id: v.optional(text),
    skills: v.optional(v.array(Skill), []),
    subagents: v.optional(v.array(SubAgent), []),
    mcp_servers: v.optional(v.array(McpServer), []),
  }),
  UsageUpdate: v.looseObject({ usage: WireUsage, session_usage: v.optional(WireUsage) }),
  Info: text,
  InfoBlockStart: v.looseObject({ id: text, header: text }),
  InfoBlockAppend: v.looseObject({ id: text, detail: text }),
  Error: text,
  Goodbye: v.unknown(),
  UserInput: text,
} as const;
export type EventName = keyof typeof events;
export type EventFields<N extends EventName> = v.InferOutput<(typeof events)[N]>;

export const EventMsg = v.looseObject({
  timestamp: text,
  id: text,
  event: v.union([
    ...(["SessionEnd", "CompactStart", "CompactEnd", "Goodbye"] as const).map((name) => v.literal(name)),
    variant("SessionStart", events.SessionStart),
    variant("SessionUpdated", events.SessionUpdated),
    variant("TurnStart", events.TurnStart),
    variant("TurnPause", events.TurnPause),
    variant("TurnEnd", events.TurnEnd),
    variant("AgentMessage", text),
    variant("Thinking", text),
    variant("MessageDelta", text),
    variant("ThinkingDelta", text),
    variant("ToolStart", events.ToolStart),
    variant("ToolUpdate", events.ToolUpdate),
    variant("ToolEnd", events.ToolEnd),
    variant("ExtensionRefreshed", events.ExtensionRefreshed),
    variant("UsageUpdate", events.UsageUpdate),
    variant("Info", text),
    variant("InfoBlockStart", events.InfoBlockStart),
    variant("InfoBlockAppend", events.InfoBlockAppend),
    variant("Error", text),
    variant("UserInput", text),
  ]),
  parent: v.nullish(text),
});
