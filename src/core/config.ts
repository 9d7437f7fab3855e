/** The configuration of a session, on the wire and inside. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";

/**
 * When the agent asks before it acts: `default` before anything that is not allowed, `auto_edit` not before edits, `sandboxed` nor before
 * commands in a sandbox, `plan` only reads, `yolo` never asks.
 */
export const Mode = v.picklist(["default", "auto_edit", "plan", "yolo", "sandboxed"]);
export type Mode = v.InferOutput<typeof Mode>;

/** How much a model thinks before it answers. */
export const Thinking = v.picklist(["disabled", "enabled", "low", "medium", "high", "deep", "max"]);
export type Thinking = v.InferOutput<typeof Thinking>;

/** How far a tool's output is shortened before anybody sees it. `safe` removes terminal codes, `full` also repetitions. */
export const OutputCompaction = v.picklist(["off", "safe", "full"]);
export type OutputCompaction = v.InferOutput<typeof OutputCompaction>;

/** `Tool` or `Tool(pattern)`; exactly one of the three keys. Deny beats ask beats allow, whatever their order. */
export const Rule = v.union([
  v.strictObject({ deny: v.string() }),
  v.strictObject({ ask: v.string() }),
  v.strictObject({ allow: v.string() }),
]);
export type Rule = v.InferOutput<typeof Rule>;

/** A tool that the host runs: calls of it go out as `host.request` of kind "tool". */
export const HostTool = v.looseObject({
  name: v.string(),
  description: v.optional(v.string()),
  parameters: v.optional(v.record(v.string(), v.unknown())),
});
export type HostTool = Known<v.InferOutput<typeof HostTool>>;

/** A kind of sub-agent from the host. `system` is its system prompt; `tools` are the tools that it keeps of its parent's. */
const SessionSubAgent = v.looseObject({
  name: v.string(),
  description: v.string(),
  system: v.optional(v.string()),
  tools: v.optional(v.array(v.string())),
  model: v.optional(v.string()),
});

const Where = v.picklist(["local", "host"]);

/** An MCP server of the session: a command, an address, or `host` for a server that is reached by `host.request`. */
export const McpServer = v.looseObject({
  type: v.optional(v.string()),
  command: v.optional(v.string()),
  args: v.optional(v.array(v.string())),
  env: v.optional(v.record(v.string(), v.string())),
  url: v.optional(v.string()),
  headers: v.optional(v.record(v.string(), v.string())),
  enabledTools: v.optional(v.array(v.string())),
  timeoutMs: v.optional(v.number()),
});
export type McpServer = Known<v.InferOutput<typeof McpServer>>;

/** The keys that a prompt may override for its own turn. */
export const sampling = {
  provider: v.optional(v.string()),
  model: v.optional(v.string()),
  thinking: v.optional(Thinking),
  thinkingBudget: v.optional(v.number()),
  effort: v.optional(v.string()),
  maxTokens: v.optional(v.number()),
  temperature: v.optional(v.number()),
  topP: v.optional(v.number()),
  topK: v.optional(v.number()),
  stop: v.optional(v.array(v.string())),
} as const;

/**
 * `allowedTools` and `disallowedTools` decide which tools exist; `approveTools` names those that run unasked.
 * `answerSeconds` is how long an approval or a host request waits before its default (deny, error).
 * `policy` is the host's own name of the mode, kept for a resume. An empty `effort` means none. `images` overrides whether the model takes images.
 * `maxTurns` bounds the model calls of one turn, `maxToolCalls` its tool calls, `maxSeconds` its time; `nesting` bounds the levels of sub-agents.
 * `maxCost` bounds what the model calls of the session may cost in US dollars, from its opening on.
 * `agent` names an agent of a hub's own config, and `labels` the nodes that may work for the session: both mean something to a hub alone.
 * `directories` belong to the workspace beside `cwd`. `fallbackModels` are asked in turn when the model's server is overloaded. `hostHooks` names the host's callback for an event, as the config's hooks name commands.
 */
export const SessionConfig = v.looseObject({
  ...sampling,
  agent: v.optional(v.string()),
  labels: v.optional(v.record(v.string(), v.string())),
  cwd: v.optional(v.string()),
  directories: v.optional(v.array(v.string())),
  fallbackModels: v.optional(v.array(v.string())),
  mode: v.optional(Mode),
  policy: v.optional(v.string()),
  system: v.optional(v.string()),
  appendSystem: v.optional(v.string()),
  allowedTools: v.optional(v.array(v.string())),
  disallowedTools: v.optional(v.array(v.string())),
  approveTools: v.optional(v.array(v.string())),
  rules: v.optional(v.array(Rule)),
  hostTools: v.optional(v.array(HostTool)),
  mcpServers: v.optional(v.record(v.string(), McpServer)),
  subagents: v.optional(v.array(SessionSubAgent)),
  hostHooks: v.optional(v.record(v.string(), v.string())),
  workspace: v.optional(v.looseObject({ read: v.optional(Where), write: v.optional(Where), exec: v.optional(Where) })),
  maxTurns: v.optional(v.number()),
  maxToolCalls: v.optional(v.number()),
  maxSeconds: v.optional(v.number()),
  maxCost: v.optional(v.number()),
  nesting: v.optional(v.number()),
  contextLimit: v.optional(v.number()),
  outputCompaction: v.optional(OutputCompaction),
  images: v.optional(v.boolean()),
  answerSeconds: v.optional(v.number()),
  streaming: v.optional(v.boolean()),
});
export type SessionConfig = Known<v.InferOutput<typeof SessionConfig>>;
