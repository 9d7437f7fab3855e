/** Daemon → client, read: records become events. */
import * as v from "valibot";
import type { SessionConfig } from "../../../core/config.js";
import { textPart } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import { protocolError } from "../../kit/bad-line.js";
import { issuesOf, shapeOf } from "../../kit/issues.js";
import { isRecord } from "../../../core/values/json-object.js";
import { readCatalogue } from "../wire/catalogue.js";
import { nameOf } from "../wire/ids.js";
import { begin, inTurn, onPause, onPiece, onRequest, onToolEnd, onTurnEnd, onUsage, onWhole, startTurn } from "./read-turns.js";
import { readSpec } from "../wire/spec.js";
import type { HostState, Reading } from "./state.js";
import { events, type EventFields, type EventName } from "../wire/records.js";

interface Envelope {
  name: string;
  fields: unknown;
  parent: string | undefined;
  at: number | undefined;
  rec: unknown;
}

export function readEvent(rec: unknown, state: HostState): Event[] {
  const envelope = readEnvelope(rec);
  if (typeof envelope === "string") return [protocolError(envelope, state.session)];
  // A record for an op that is not ours belongs to an earlier connection.
  const isReplay = state.isReady && envelope.parent !== undefined && !state.sent.has(envelope.parent);
  if (!isReplay) return told(envelope, state, state.now);
  if (!state.wantsReplay) return [];
  const { at, parent } = envelope;
  return told(envelope, state, state.before).map((event) => ({ ...event, replay: true, ...(at !== undefined && { at }), parent }));
}

function told(envelope: Envelope, state: HostState, reading: Reading): Event[] {
  const { name, fields, parent } = envelope;
  if (!isEventName(name)) return [stray(envelope, state)];
  // No turn runs in a session that has not started.
  if (!state.isReady && (name === "TurnStart" || OF_A_TURN.has(name))) return [stray(envelope, state)];
  const begun = OF_A_TURN.has(name) ? begin(parent, state, reading) : [];
  if (begun === undefined) return reading.isReplay ? [] : [stray(envelope, state)];
  const read = READERS[name](fields, state, reading, envelope);
  if (read !== undefined) return [...begun, ...read];
  return [...begun, protocolError(`The daemon wrote an invalid ${name}: ${issuesOf(events[name], fields)}`, state.session)];
}

const EnvelopeShape = v.looseObject({
  event: v.union([v.string(), v.record(v.string(), v.unknown())]),
  timestamp: v.optional(v.string()),
  parent: v.nullish(v.string()),
});

function readEnvelope(rec: unknown): Envelope | string {
  if (!v.is(EnvelopeShape, rec)) return `The daemon wrote a line that is ${shapeOf(rec)} and no EventMsg`;
  const { event, timestamp, parent } = rec;
  const when = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  const head = { parent: parent ?? undefined, at: Number.isNaN(when) ? undefined : when, rec };
  if (typeof event === "string") return { name: event, fields: null, ...head };
  const [entry, ...more] = Object.entries(event);
  if (entry === undefined || more.length > 0) return `The daemon wrote an event with ${Object.keys(event).length} variants in one`;
  return { name: entry[0], fields: entry[1], ...head };
}

function isEventName(name: string): name is EventName {
  return Object.hasOwn(events, name);
}

/** Events that are only valid inside a turn. */
const OF_A_TURN: ReadonlySet<EventName> = new Set([
  "TurnPause",
  "AgentMessage",
  "Thinking",
  "MessageDelta",
  "ThinkingDelta",
  "ToolStart",
  "ToolUpdate",
  "ToolEnd",
]);

type Read = (fields: unknown, state: HostState, reading: Reading, envelope: Envelope) => Event[] | undefined;

/** Undefined if the fields do not match the event's schema. */
function reader<N extends EventName>(
  name: N,
  read: (fields: EventFields<N>, state: HostState, reading: Reading, envelope: Envelope) => Event[],
): Read {
  const schema: v.GenericSchema<unknown, EventFields<N>> = events[name];
  return (fields, state, reading, envelope) => {
    const parsed = v.safeParse(schema, fields);
    return parsed.success ? read(parsed.output, state, reading, envelope) : undefined;
  };
}

const READERS: Readonly<Record<EventName, Read>> = {
  SessionStart: reader("SessionStart", onStart),
  SessionUpdated: reader("SessionUpdated", onUpdated),
  // The exit of the process reports both.
  SessionEnd: () => [],
  Goodbye: () => [],
  ExtensionRefreshed: reader("ExtensionRefreshed", (fields, state) => {
    const event = readCatalogue(fields, state.session, state.catalogued);
    state.catalogued = true;
    return [event];
  }),
  TurnStart: reader("TurnStart", ({ turn_id }, state, reading, { parent }) => startTurn(turn_id, parent, state, reading)),
  TurnPause: reader("TurnPause", onPause),
  TurnEnd: (fields, state, reading) =>
    isRecord(fields) ? onTurnEnd(String(fields["turn_id"]), fields["status"], state, reading) : undefined,
  MessageDelta: reader("MessageDelta", (text, _, reading) => onPiece("text", text, reading)),
  ThinkingDelta: reader("ThinkingDelta", (text, _, reading) => onPiece("thinking", text, reading)),
  AgentMessage: reader("AgentMessage", (text, _, reading) => onWhole("text", text, reading)),
  Thinking: reader("Thinking", (text, _, reading) => onWhole("thinking", text, reading)),
  ToolStart: reader("ToolStart", onRequest),
  ToolUpdate: reader("ToolUpdate", ({ tool_use_id, message: text }, _, { turn }) => turn?.progress(tool_use_id, { text }) ?? []),
  ToolEnd: (fields, state, reading, envelope) => readToolEnd(repaired(fields), state, reading, envelope),
  CompactStart: (_, state, reading) => [
    ...(reading.turn?.closeBlock() ?? []),
    { type: "compaction", ...inTurn(state, reading), phase: "started" },
  ],
  CompactEnd: (_, state, reading) => [{ type: "compaction", ...inTurn(state, reading), phase: "ended" }],
  UsageUpdate: reader("UsageUpdate", ({ usage }, state, reading) => onUsage(usage, state, reading)),
  Info: reader("Info", onInfo),
  InfoBlockStart: reader("InfoBlockStart", ({ id, header }, state, reading) => {
    state.blocks.add(id);
    return [{ type: "notice", ...inTurn(state, reading), level: "info", text: header, block: blockName(id, state) }];
  }),
  InfoBlockAppend: reader("InfoBlockAppend", ({ id, detail }, state, reading) =>
    state.blocks.has(id) ? [{ type: "notice", ...inTurn(state, reading), level: "info", text: detail, block: blockName(id, state) }] : [],
  ),
  Error: reader("Error", onError),
  UserInput: reader("UserInput", (text, state, reading) => [{ type: "user.message", ...inTurn(state, reading), parts: [textPart(text)] }]),
};

const readToolEnd = reader("ToolEnd", onToolEnd);

/** An unknown kind of end, from a later revision, still ends the call. */
function repaired(fields: unknown): unknown {
  if (!isRecord(fields) || v.is(events.ToolEnd, fields)) return fields;
  return { ...fields, status: fields["is_error"] === true ? "Failed" : "Completed" };
}

/** A pause of an unknown kind cannot be answered. */
export function isUnknownPause(rec: unknown): boolean {
  const envelope = readEnvelope(rec);
  return typeof envelope !== "string" && envelope.name === "TurnPause" && !v.is(events.TurnPause, envelope.fields);
}

// --- sessions ---

function onStart(fields: EventFields<"SessionStart">, state: HostState): Event[] {
  if (state.isReady) return [];
  state.isReady = true;
  state.sessionId = fields.session_id;
  state.config = configOf(fields);
  return [
    {
      type: "session.ready",
      session: state.session,
      ...(state.opener !== undefined && { parent: state.opener }),
      sessionId: nameOf(fields.session_id),
      config: state.config,
      capabilities: { approvals: true, steering: true, thinking: true, catalog: true },
    },
  ];
}

function onUpdated(fields: EventFields<"SessionUpdated">, state: HostState, _: Reading, { parent }: Envelope): Event[] {
  state.config = configOf(fields);
  const op = parent === undefined ? undefined : state.sent.get(parent)?.id;
  const { session, sessionId, config } = state;
  return [{ type: "session.updated", session, sessionId: nameOf(sessionId), config, ...(op !== undefined && { parent: op }) }];
}

function configOf({ model, provider, cwd }: EventFields<"SessionStart">): SessionConfig {
  const name = typeof provider === "string" ? provider : (provider.id ?? provider.name ?? "");
  return { ...readSpec(model), provider: name, cwd };
}

// --- words of the daemon itself ---

/** An Info that answers a command without a turn is the command's result. */
function onInfo(text: string, state: HostState, reading: Reading, { parent }: Envelope): Event[] {
  const op = parent === undefined ? undefined : state.sent.get(parent);
  const at = op?.command === undefined ? -1 : state.prompts.indexOf(op);
  if (op?.command === undefined || at === -1) return [{ type: "notice", ...inTurn(state, reading), level: "info", text }];
  state.prompts.splice(at, 1);
  const result = { type: "message", level: "info", text };
  const { session } = state;
  return [{ type: "reply", to: op.type, status: "ok", session, parent: op.id, data: { command: op.command, result } }];
}

/** An error that answers an op of ours is its refusal; other errors belong to the turn or the session. */
function onError(message: string, state: HostState, reading: Reading, { parent }: Envelope): Event[] {
  const fault: Fault = { code: "agent", message, retryable: false };
  const { session } = state;
  if (!state.isReady) {
    state.refused = fault;
    return [];
  }
  const op = parent === undefined ? undefined : state.sent.get(parent);
  const waits = op === undefined ? -1 : state.prompts.indexOf(op);
  if (waits !== -1) state.prompts.splice(waits, 1);
  if (op !== undefined && (op.type !== "turn.prompt" || waits !== -1)) {
    if (op.id === undefined) return [{ type: "notice", session, level: "warning", text: message, source: "ante" }];
    return [{ type: "reply", to: op.type, status: "error", session, parent: op.id, fault }];
  }
  return [{ type: "error", ...inTurn(state, reading), fault }];
}

/** Passes on a record without a name of ours, or in an unexpected place. */
function stray({ name, rec }: Envelope, state: HostState): Event {
  const said = isRecord(rec) ? rec["event"] : undefined;
  return { type: "other", session: state.session, name, data: said, ext: { ante: said } };
}

/** The id of a block without its last part, which is the wire's name of the session: our host knows another name. */
function blockName(id: string, { sessionId }: HostState): string {
  return id.endsWith(`-${sessionId}`) ? id.slice(0, -sessionId.length - 1) : id;
}
