/** Events: messages of an agent. Past tense, `noun.verb`; the schema is the type. Events of a turn carry `turn`, others never do. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";
import { SessionConfig } from "./config.js";
import { Part } from "./content.js";
import { Fault } from "./errors.js";
import { Client, metaEntries } from "./meta.js";

function event<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ type: v.literal(type), ...metaEntries, ...entries });
}

const text = v.string();

/** How a process or connection ended. */
export const Closed = v.looseObject({
  code: v.optional(v.nullable(v.number())),
  signal: v.optional(v.nullable(text)),
  timedOut: v.optional(v.boolean()),
  reason: v.optional(text),
});
export type Closed = Known<v.InferOutput<typeof Closed>>;

/** Token counts, disjoint: `input` is uncached input, `output` does not include `reasoning`. */
export const Usage = v.looseObject({
  input: v.number(),
  output: v.number(),
  cacheRead: v.optional(v.number()),
  cacheWrite: v.optional(v.number()),
  reasoning: v.optional(v.number()),
});
export type Usage = Known<v.InferOutput<typeof Usage>>;

/** An open approval (`call`) or host request (`request`). `since` and `deadline` are milliseconds since 1970. */
export const Need = v.looseObject({
  call: v.optional(text),
  request: v.optional(text),
  title: text,
  since: v.number(),
  deadline: v.optional(v.number()),
});
export type Need = Known<v.InferOutput<typeof Need>>;

/**
 * A session as a hub lists it. `waiting`: for a person. `parked`: no process works on it, and the next op brings it back; it may have `needs`
 * all the same. `clients` counts those that are attached.
 */
export const SessionRow = v.looseObject({
  session: text,
  sessionId: v.optional(text),
  name: v.optional(text),
  agent: text,
  cwd: text,
  state: v.picklist(["idle", "running", "waiting", "parked", "ended"]),
  needs: v.array(Need),
  seq: v.number(),
  updatedAt: v.number(),
  clients: v.number(),
  usage: v.optional(Usage),
});
export type SessionRow = Known<v.InferOutput<typeof SessionRow>>;

/**
 * The effect of a call: `info` reads, `edit` changes files, `exec` runs commands or reaches the network, `mcp` is a tool of an MCP server.
 */
export const Category = v.picklist(["info", "edit", "exec", "mcp"]);
export type Category = v.InferOutput<typeof Category>;

/**
 * The calls that a yes with the grant "prefix" lets run unasked: commands with that beginning, a tool within the workspace, pages of a host, or
 * a tool.
 */
export const Covers = v.looseObject({
  prefix: v.optional(text),
  tool: v.optional(text),
  within: v.optional(v.literal("workspace")),
  domain: v.optional(text),
});
export type Covers = Known<v.InferOutput<typeof Covers>>;

/** `covers` in a question only, and only where a yes may reach further than the call. */
export const Call = v.looseObject({
  id: text,
  name: text,
  args: v.optional(v.record(v.string(), v.unknown())),
  category: v.optional(Category),
  title: v.optional(text),
  paths: v.optional(v.array(text)),
  preview: v.optional(v.array(Part)),
  covers: v.optional(Covers),
});
export type Call = Known<v.InferOutput<typeof Call>>;

/** The state of a session; `ready` and `updated` have the same fields. The capability `catalog` promises a `catalog.updated` after `ready`. */
const sessionEntries = {
  sessionId: v.optional(text),
  name: v.optional(text),
  config: v.optional(SessionConfig),
  capabilities: v.optional(v.record(v.string(), v.unknown())),
} as const;

/**
 * `replay`: that many replayed events follow. `gap`: the numbers of the first and the last event that were asked for and are
 * no longer held. `unfinished`: the stored conversation stops
 * at a prompt without an answer, or in the middle of a turn; a prompt that `continues` goes on from there.
 */
const SessionReady = v.looseObject({
  type: v.literal("session.ready"),
  ...metaEntries,
  ...sessionEntries,
  version: v.optional(text),
  replay: v.optional(v.union([v.number(), v.literal(true)])),
  gap: v.optional(v.looseObject({ from: v.number(), to: v.number() })),
  unfinished: v.optional(v.picklist(["prompt", "turn"])),
});
const SessionUpdated = event("session.updated", sessionEntries);
const SessionEnded = event("session.ended", { exit: v.optional(Closed) });

/** A row of `session.list` as it is now, of any session of a hub: for a host that said `session.watch`. */
const SessionChanged = event("session.changed", { row: SessionRow });

/** The whole agent is gone; nothing follows. */
const AgentClosed = event("closed", Closed.entries);

const TurnStarted = event("turn.started", {});

/** `finish` is the model's own stop reason ("stop", "length", "max_turns", "max_tool_calls", "max_cost", …); `fault` tells why a turn failed. */
const TurnEnded = event("turn.ended", {
  outcome: v.picklist(["completed", "interrupted", "failed"]),
  finish: v.optional(text),
  reason: v.optional(text),
  usage: v.optional(Usage),
  fault: v.optional(Fault),
});

const done = { text, streamed: v.optional(v.literal(true)) } as const;
const TextDelta = event("text.delta", { text });
const TextDone = event("text.done", done);
const ThinkingDelta = event("thinking.delta", { text });
const ThinkingDone = event("thinking.done", done);

/** The user's message: in a replay, and live if a hub tells which client it came from. */
const UserMessage = event("user.message", { parts: v.array(Part), by: v.optional(Client) });

const ToolRequested = event("tool.requested", { call: Call });

/** A piece of a call's arguments, as JSON text. */
const ToolDelta = event("tool.delta", { call: text, name: v.optional(text), text });

/** `args` only if the host changed them. */
const ToolStarted = event("tool.started", { call: text, args: v.optional(v.record(v.string(), v.unknown())) });
const ToolProgress = event("tool.progress", {
  call: text,
  text: v.optional(text),
  channel: v.optional(v.picklist(["stdout", "stderr"])),
  parts: v.optional(v.array(Part)),
});
const ToolEnded = event("tool.ended", {
  call: text,
  status: v.picklist(["ok", "failed", "denied", "cancelled"]),
  output: v.optional(v.array(Part)),
  reason: v.optional(text),
});

/** `deadline` is absolute (milliseconds since 1970): the calls are denied then. */
const ApprovalRequested = event("approval.requested", {
  calls: v.array(Call),
  message: v.optional(text),
  deadline: v.optional(v.number()),
});

/**
 * The question about a call is over: somebody answered, or nobody did before its deadline or the end of its turn, as the `reason` says. Told
 * where several hosts see one session, and of an agent that starts a call without waiting for the answer.
 */
const ApprovalSettled = event("approval.settled", {
  call: text,
  decision: v.picklist(["allow", "deny"]),
  by: v.optional(Client),
  reason: v.optional(text),
});

/**
 * `data` by kind: tool {name, args} · hook {callback, input} · mcp {server, message} · fs {do: read|write, path, …} · terminal {do:
 * create|output|wait|kill|release, …} · question {questions} (question.ts).
 */
const HostRequest = event("host.request", {
  request: text,
  kind: v.picklist(["tool", "hook", "mcp", "fs", "terminal", "question"]),
  call: v.optional(text),
  data: v.optional(v.unknown()),
  deadline: v.optional(v.number()),
});
const HostSettled = event("host.settled", { request: text, ok: v.boolean(), reason: v.optional(text) });

const UsageReported = event("usage", {
  scope: v.picklist(["call", "turn", "session"]),
  usage: Usage,
  context: v.optional(v.looseObject({ used: v.number(), limit: v.number() })),
  cost: v.optional(v.number()),
});

const Compaction = event("compaction", {
  phase: v.picklist(["started", "ended", "failed"]),
  before: v.optional(v.number()),
  after: v.optional(v.number()),
  summary: v.optional(text),
});

/** For people. `block` groups notices under the first of that name. */
const Notice = event("notice", {
  level: v.picklist(["debug", "info", "warning", "error"]),
  text,
  kind: v.optional(text),
  source: v.optional(text),
  block: v.optional(text),
  data: v.optional(v.unknown()),
});

const listed = { name: text, description: v.optional(text), scope: v.optional(text), argumentHint: v.optional(text) } as const;
const Listed = v.array(v.looseObject(listed));

const McpTool = v.looseObject({
  name: text,
  /** The name at the agent: `mcp__server__tool`. */
  qualifiedName: text,
  description: v.optional(text),
  parameters: v.optional(v.record(v.string(), v.unknown())),
});

/** A server that failed is listed without tools, with its error. */
export const ListedMcpServer = v.looseObject({
  name: text,
  status: v.picklist(["connecting", "ready", "failed"]),
  error: v.optional(text),
  command: v.optional(text),
  args: v.optional(v.array(text)),
  url: v.optional(text),
  tools: v.array(McpTool),
});
export type ListedMcpServer = Known<v.InferOutput<typeof ListedMcpServer>>;

/** The catalogue of the session. `whole`: loading is over; without it servers are still connecting. */
const CatalogUpdated = event("catalog.updated", {
  whole: v.boolean(),
  skills: v.optional(Listed),
  subagents: v.optional(Listed),
  mcpServers: v.optional(v.array(ListedMcpServer)),
  commands: v.optional(v.array(v.looseObject({ ...listed, aliases: v.optional(v.array(text)), source: v.optional(text) }))),
});

/** The answer to an op: `to` is its type, `parent` its id. A failed op is answered here and never by `error`. */
const Reply = event("reply", {
  to: text,
  status: v.picklist(["ok", "noop", "loading", "error"]),
  fault: v.optional(Fault),
  data: v.optional(v.unknown()),
});

/** A failure that answers no op. In a turn it tells the reason; `turn.ended` still follows. */
const ErrorRaised = event("error", { fault: Fault, fatal: v.optional(v.boolean()) });

const Other = event("other", { name: text, data: v.optional(v.unknown()) });

/** Something that an agent tells; docs/vocabulary.md has each of them. */
export const Event = v.variant("type", [
  SessionReady,
  SessionUpdated,
  SessionEnded,
  SessionChanged,
  AgentClosed,
  TurnStarted,
  TurnEnded,
  TextDelta,
  TextDone,
  ThinkingDelta,
  ThinkingDone,
  UserMessage,
  ToolRequested,
  ToolDelta,
  ToolStarted,
  ToolProgress,
  ToolEnded,
  ApprovalRequested,
  ApprovalSettled,
  HostRequest,
  HostSettled,
  UsageReported,
  Compaction,
  Notice,
  CatalogUpdated,
  Reply,
  ErrorRaised,
  Other,
]);
export type Event = Known<v.InferOutput<typeof Event>>;
/** The names of all events. */
export type EventType = Event["type"];
/** The event of that type. */
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;
