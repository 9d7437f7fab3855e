/** Ops: what a host can ask of an agent. Imperative, `noun.verb`; the schema is the type. */
import * as v from "valibot";
import type { Known } from "./values/without-index-signature.js";
import { HostTool, SessionConfig, sampling } from "./config.js";
import { Part } from "./content.js";
import { opMetaEntries } from "./meta.js";

function op<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ type: v.literal(type), ...opMetaEntries, ...entries });
}

const text = v.string();

/**
 * `session` is the handle that later ops use; `sessionId` is the agent's own name for a stored session. `fork`, of a resume: the stored
 * session stays as it is, and a copy of it under a name of its own goes on; `before` that turn, where one is named, or with `next` before the one behind it. `as`, of an attach: an
 * observer's ops are refused.
 */
const SessionOpen = v.looseObject({
  type: v.literal("session.open"),
  ...opMetaEntries,
  session: text,
  open: v.picklist(["new", "resume", "attach"]),
  sessionId: v.optional(text),
  after: v.optional(v.looseObject({ seq: v.number() })),
  as: v.optional(v.picklist(["controller", "observer"])),
  fork: v.optional(v.boolean()),
  before: v.optional(v.looseObject({ turn: text, next: v.optional(v.boolean()) })),
  name: v.optional(text),
  config: v.optional(SessionConfig),
});

const SessionConfigure = op("session.configure", { patch: SessionConfig });

/** Context before the first prompt. `messages` has the same text message by message, if the host knows the authors. */
const SessionSeed = op("session.seed", {
  text,
  messages: v.optional(v.array(v.looseObject({ role: v.picklist(["user", "assistant"]), text }))),
});

const SessionClose = op("session.close", {});
const SessionList = op("session.list", {});

/** Switches notifications about changed rows of `session.list`. Only a hub takes it. */
const SessionWatch = op("session.watch", { on: v.boolean() });

/**
 * Undoes `turn` and all later ones: their file changes, and the conversation; both by default. A file that
 * others have changed since is not touched, unless `force` is given. `preview`: nothing is undone, and the reply tells what would be.
 */
const SessionRewind = v.looseObject({
  type: v.literal("session.rewind"),
  ...opMetaEntries,
  turn: text,
  files: v.optional(v.boolean()),
  conversation: v.optional(v.boolean()),
  force: v.optional(v.boolean()),
  preview: v.optional(v.boolean()),
});

/** Removes a stored session for good. A session that is open is refused: close it first. */
const SessionDelete = op("session.delete", { sessionId: text });

/** Changes how a stored session is listed, whether it is open or not: its name, and whether it is out of the way. */
const SessionMark = v.looseObject({
  type: v.literal("session.mark"),
  ...opMetaEntries,
  sessionId: text,
  name: v.optional(text),
  archived: v.optional(v.boolean()),
});

const ProviderSet = op("provider.set", { name: text, baseUrl: v.nullable(text), model: v.optional(text) });

const Overrides = v.looseObject({
  ...sampling,
  tools: v.optional(v.array(text)),
  hostTools: v.optional(v.array(HostTool)),
});

/** A call that the host asks for in the model's place. */
const AskedCall = v.looseObject({ id: v.optional(text), name: text, args: v.record(v.string(), v.unknown()) });

/**
 * A prompt may carry the id of the turn that it begins. A command `of: "skill"` is that skill, and one of ours only where there is none
 * of that name. `mentions`: `@path` in its text attaches that file, folder or glob, each judged as a call of Read. Without it, and without
 * `command`, the text is words: a driver writes it so that its agent expands nothing in it.
 * `calls` are run first, approvals included, as if the model had asked for them, and it is told what came of them.
 * `continues`: there is no new message; the turn goes on where the last one stopped. `trace` is a W3C traceparent.
 */
const TurnPrompt = op("turn.prompt", {
  parts: v.array(Part),
  from: v.optional(v.picklist(["user", "system", "tool"])),
  command: v.optional(v.looseObject({ name: text, args: v.optional(text), of: v.optional(v.literal("skill")) })),
  mentions: v.optional(v.boolean()),
  calls: v.optional(v.array(AskedCall)),
  continues: v.optional(v.boolean()),
  trace: v.optional(text),
  overrides: v.optional(Overrides),
});

const TurnSteer = op("turn.steer", { parts: v.array(Part) });

/** Without `turn` the running turn; with it that turn, queued or running. */
const TurnInterrupt = op("turn.interrupt", { reason: v.optional(text) });

/**
 * `grant` says how far a yes reaches in this session: `prefix` as far as the question's `covers`, and without one no further than the call.
 * `keep: "project"` keeps such a grant for later sessions in the same workspace.
 */
export const Answer = v.looseObject({
  call: text,
  decision: v.picklist(["allow", "deny"]),
  grant: v.optional(v.picklist(["call", "prefix", "tool", "category"])),
  keep: v.optional(v.literal("project")),
  args: v.optional(v.record(v.string(), v.unknown())),
  reason: v.optional(text),
});
export type Answer = Known<v.InferOutput<typeof Answer>>;

const ApprovalAnswer = op("approval.answer", { answers: v.array(Answer) });

const HostAnswer = op("host.answer", { request: text, ok: v.boolean(), data: v.optional(v.unknown()) });

/**
 * `text` is what was written, with its trigger (`/`, `@`) or without; `cursor` says how much of it counts. Answered `ok`, by `loading` before
 * when it takes a while, and `noop` when a later one of the same trigger came first. `cancel` ends the one that waits.
 */
const CommandSuggest = op("command.suggest", {
  trigger: v.picklist(["slash", "at"]),
  text,
  cursor: v.optional(v.number()),
  context: v.optional(v.record(v.string(), v.unknown())),
  cancel: v.optional(v.boolean()),
});

const Ping = op("ping", {});

/** `drained`: no more input comes; what runs and waits may end. `now`: interrupt and leave. */
const Shutdown = op("shutdown", { when: v.picklist(["now", "drained"]) });

const Other = op("other", { name: text, data: v.optional(v.unknown()) });

/** Something that a host asks of an agent; docs/vocabulary.md has each of them. */
export const Op = v.variant("type", [
  SessionOpen,
  SessionConfigure,
  SessionSeed,
  SessionClose,
  SessionList,
  SessionWatch,
  SessionRewind,
  SessionDelete,
  SessionMark,
  ProviderSet,
  TurnPrompt,
  TurnSteer,
  TurnInterrupt,
  ApprovalAnswer,
  HostAnswer,
  CommandSuggest,
  Ping,
  Shutdown,
  Other,
]);
export type Op = Known<v.InferOutput<typeof Op>>;
/** The names of all ops. */
export type OpType = Op["type"];
/** The op of that type. */
export type OpOf<T extends OpType> = Extract<Op, { type: T }>;
