/** Orders the events of a running turn: adds the events that are missing before each. */
import type { Call, Event, EventOf, Usage } from "../../../core/event.js";
import type { Meta } from "../../../core/meta.js";
import type { Answer, Op } from "../../../core/op.js";
import { addUsage } from "../../../core/usage.js";
import type { Step } from "../../dialect.js";
import { NOTHING } from "../../kit/step.js";
import type { TurnReader } from "../../kit/turn-reader.js";

export interface Running {
  /** The turn's name on the wire. */
  wireId: string;
  reader: TurnReader;
  usage: Usage | undefined;
  /** The turn's start is missing. */
  isCut: boolean;
}

export function readInTurn(said: Exclude<Event, EventOf<"turn.ended">>, running: Running): Step<Event> {
  const { reader } = running;
  const event = running.isCut ? behindCut(said, reader) : said;
  switch (event.type) {
    case "text.delta":
    case "thinking.delta":
      return spoken(event, reader.piece(event.type === "text.delta" ? "text" : "thinking", event.text, event.under));
    case "text.done":
    case "thinking.done":
      return whole(event, reader);
    case "tool.requested":
      return spoken(event, reader.request(event.call, event.under));
    case "tool.started":
    case "tool.progress":
    case "tool.ended":
      return mentioned(event, reader);
    case "approval.requested":
      return asked(event, reader);
    case "approval.settled":
      return settled(event, reader);
    case "usage":
      if (event.scope !== "session") running.usage = addUsage(event.scope === "turn" ? undefined : running.usage, event.usage);
      return passed(event, reader);
    case "host.request":
      return passed(event, reader, event.call === undefined ? [] : reader.known(event.call));
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "user.message":
    case "tool.delta":
    case "host.settled":
    case "compaction":
    case "notice":
    case "catalog.updated":
    case "reply":
    case "error":
    case "other":
      return passed(event, reader);
    default:
      event satisfies never;
      return passed(event, reader);
  }
}

/** In a cut turn the calls that an event mentions were requested before the cut. No call is under itself. */
function behindCut<E extends Event>(event: E, reader: TurnReader): E {
  const calls =
    event.type === "approval.requested" ? event.calls : "call" in event && typeof event.call === "string" ? [named(event.call)] : [];
  const now = event.type === "tool.progress" || event.type === "tool.ended" || event.type === "host.request" ? "started" : "requested";
  if (event.type !== "tool.delta") for (const call of calls) reader.knownBeforeCut(call, now);
  if (event.under === undefined) return event;
  if (calls.some(({ id }) => id === event.under)) return { ...event, under: undefined };
  reader.knownBeforeCut(named(event.under), "started");
  return event;
}

function named(id: string): Call {
  return { id, name: "" };
}

function whole(event: EventOf<"text.done" | "thinking.done">, reader: TurnReader): Step<Event> {
  const { streamed, ...rest } = event;
  const kind = event.type === "text.done" ? "text" : "thinking";
  if (streamed === true) reader.streamedBeforeCut(kind, event.under);
  return spoken(rest, reader.whole(kind, event.text, event.under));
}

/** Builds the event as the turn's reader does, with the event's own further fields. */
function spoken(event: Meta & Pick<Event, "type">, made: readonly Event[]): Step<Event> {
  const { under: _told, ...own }: Meta = event;
  return tell(...made.map((each) => (each.type === event.type ? { ...own, ...each } : each)));
}

function mentioned(event: EventOf<"tool.started" | "tool.progress" | "tool.ended">, reader: TurnReader): Step<Event> {
  const announced = reader.known(event.call);
  const call = reader.callOf(event.call);
  if (call === undefined || call.now === "ended" || (event.type === "tool.started" && call.now === "started")) return tell(...announced);
  if (event.type === "tool.started") call.now = "started";
  if (event.type === "tool.ended") call.now = "ended";
  return passed({ ...event, call: call.id }, reader, announced);
}

/** A started call cannot be asked about: the agent, which waits for the answer, gets a denial. */
function asked(event: EventOf<"approval.requested">, reader: TurnReader): Step<Event> {
  const announced = event.calls.flatMap((call) => reader.request(call, event.under));
  const isLate = (call: Call): boolean => reader.callOf(call.id)?.now !== "requested";
  const late = event.calls.filter(isLate);
  const calls = event.calls.filter((call) => !isLate(call)).map((call) => ({ ...call, id: reader.callOf(call.id)?.id ?? call.id }));
  const step = calls.length === 0 ? tell(...announced) : passed({ ...event, calls }, reader, announced);
  return late.length === 0 ? step : { ...step, out: [denial(reader.address.session, late)] };
}

/** A call that the host does not know was not asked about here. */
function settled(event: EventOf<"approval.settled">, reader: TurnReader): Step<Event> {
  const call = reader.callOf(event.call);
  return call === undefined ? NOTHING : passed({ ...event, call: call.id }, reader);
}

function passed(event: Event, reader: TurnReader, announced: readonly Event[] = []): Step<Event> {
  const { under } = event;
  if (under === undefined) return tell(...announced, { ...event, ...reader.address });
  const above = reader.known(under, "Spawn");
  return tell(...announced, ...above, { ...event, ...reader.address, under: reader.callOf(under)?.id ?? under });
}

/** Denies calls that the host cannot be asked about. */
export function denial(session: string | undefined, calls: readonly Call[]): { rec: Op } {
  const answers = calls.map(({ id }): Answer => ({ call: id, decision: "deny", reason: "it cannot be asked about any more" }));
  return { rec: { type: "approval.answer", ...(session !== undefined && { session }), answers } };
}

export function tell(...events: Event[]): Step<Event> {
  return { in: events, out: [] };
}

export function isTurnScoped({ type }: Event): boolean {
  return /^(turn|text|thinking|tool|approval)\./.test(type);
}

/** An event of a turn that does not run: its turn is removed. */
export function withoutTurn({ turn: _turn, under: _call, ...alone }: Event): Event {
  return alone;
}
