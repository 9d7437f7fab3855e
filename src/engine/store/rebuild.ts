/** From a log back to a session: its conversation exactly, its settings, and what a crash left open. */
import type { Part } from "../../core/content.js";
import type { Event, EventOf } from "../../core/event.js";
import type { CallResult, Message } from "../models/model.js";
import type { Entry } from "./entry.js";
import type { Crash, StoredSession } from "./store.js";

type Base = Omit<StoredSession, "crash">;

interface OpenTurn {
  started: EventOf<"turn.started">;
  calls: Map<string, { requested: EventOf<"tool.requested">; started: boolean; ended?: EventOf<"tool.ended"> }>;
  /** Text that no message holds yet: whole blocks, and the one that was being streamed. */
  said: string;
  partial: string;
}

/** `base` is what a snapshot already knows; the entries are those after it. */
export function rebuild(base: Base | undefined, entries: Iterable<Entry>): StoredSession | undefined {
  let session = base;
  let turn: OpenTurn | undefined;
  let asked: Part[] | undefined;
  for (const entry of entries) {
    if (entry.kind === "opened") {
      const { id, cwd, name, config } = entry;
      session = session === undefined ? { id, cwd, name, config, messages: [], seq: 0, prompted: false } : { ...session, config };
    }
    if (session === undefined) continue;
    if (entry.kind === "message") {
      session.messages.push(entry.message);
      if (entry.message.role === "user") asked = undefined;
      if (entry.message.role === "assistant" && turn !== undefined) turn.said = "";
    }
    if (entry.kind === "partial" && entry.block === "text" && turn?.started.turn === entry.turn) turn.partial += entry.text;
    if (entry.kind !== "event") continue;
    const { event } = entry;
    session.seq = Math.max(session.seq, event.seq ?? 0);
    if (event.type === "session.updated" && event.config !== undefined) session.config = event.config;
    if (event.type === "user.message") asked = event.parts;
    if (event.type === "turn.started") {
      session.prompted = true;
      turn = { started: event, calls: new Map(), said: "", partial: "" };
    } else if (event.type === "turn.ended") {
      turn = undefined;
    } else if (turn !== undefined) {
      follow(turn, event);
    }
  }
  if (session === undefined) return undefined;
  return { ...session, crash: turn === undefined ? undefined : mend(session, turn, asked) };
}

function follow(turn: OpenTurn, event: Event): void {
  if (event.type === "tool.requested") turn.calls.set(event.call.id, { requested: event, started: false });
  if (event.type === "text.done" && event.under === undefined) {
    turn.said += event.text;
    turn.partial = "";
  }
  if (event.type === "tool.started") {
    const call = turn.calls.get(event.call);
    if (call !== undefined) call.started = true;
  }
  if (event.type === "tool.ended") {
    const call = turn.calls.get(event.call);
    if (call !== undefined) call.ended = event;
  }
}

/** Closes the conversation where the crash cut it, and says what is owed. */
function mend(session: Base, turn: OpenTurn, asked: Part[] | undefined): Crash {
  const messages: Message[] = [];
  if (asked !== undefined) messages.push({ role: "user", parts: asked });
  const text = turn.said + turn.partial;
  if (text !== "") messages.push({ role: "assistant", blocks: [{ type: "text", text }] });
  const dangling = text === "" && asked === undefined ? danglingCalls(session.messages) : [];
  if (dangling.length > 0) messages.push({ role: "tool", results: dangling.map(({ id, name }) => resultOf(id, name, turn)) });
  session.messages.push(...messages);
  const open = [...turn.calls.values()].filter((call) => call.ended === undefined);
  const meta = addressOf(turn.started);
  const reason = "the process ended in the middle of the turn";
  return {
    turn: turn.started.turn ?? "",
    messages,
    unknown: open.filter((call) => call.started).map(({ requested: { call } }) => ({ id: call.id, name: call.name, title: call.title })),
    owed: [
      ...open.map(({ requested, started }): Event => {
        const under = requested.under === undefined ? {} : { under: requested.under };
        const output: Part[] = [{ type: "text", text: started ? UNKNOWN : NOT_STARTED }];
        return { type: "tool.ended", ...meta, ...under, call: requested.call.id, status: "cancelled", output, reason: started ? UNKNOWN : NOT_STARTED };
      }),
      { type: "turn.ended", ...meta, outcome: "failed", reason, fault: { code: "internal", message: reason, retryable: true } },
    ],
  };
}

const UNKNOWN = "The process ended while this call was running; whether it took effect is unknown. Look before you repeat it.";
const NOT_STARTED = "The process ended before this call was started; it did not run.";

/** Calls of the last assistant message that no result answers. */
function danglingCalls(messages: readonly Message[]): { id: string; name: string }[] {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.blocks.flatMap((block) => (block.type === "call" ? [block.call] : [])) : [];
}

function resultOf(call: string, name: string, turn: OpenTurn): CallResult {
  const known = turn.calls.get(call);
  if (known?.ended !== undefined) return { call, name, parts: known.ended.output ?? [], failed: known.ended.status !== "ok" };
  return { call, name, parts: [{ type: "text", text: known?.started === true ? UNKNOWN : NOT_STARTED }], failed: true };
}

function addressOf({ session, turn, parent }: Event): { session?: string; turn?: string; parent?: string } {
  return {
    ...(session !== undefined && { session }),
    ...(turn !== undefined && { turn }),
    ...(parent !== undefined && { parent }),
  };
}
