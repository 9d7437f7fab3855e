/** The past of a loaded session as replayed turns, each beginning with the user's message. Beyond a bound the oldest turns are dropped. */
import type { Part } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import type { SideEnv } from "../../dialect.js";
import { TurnReader } from "../../kit/turn-reader.js";
import { partOf } from "../wire/content.js";
import type { KnownUpdate } from "../wire/updates.js";
import { readCall, newTurn } from "./read-calls.js";
import type { RunningTurn } from "./state.js";

/** The largest number of replayed events that are kept. */
const MOST_EVENTS = 20_000;

export interface Replay {
  read(update: KnownUpdate): void;
  end(): Event[];
}

/** Without `isWanted` the past is read and dropped. */
export function newReplay(session: string, isWanted: boolean, env: SideEnv): Replay {
  const turns: Event[][] = [];
  let kept = 0;
  let events: Event[] = [];
  let said: Part[] = [];
  let turn: RunningTurn | undefined;
  return { read: (update) => (isWanted ? read(update) : undefined), end };

  function read(update: KnownUpdate): void {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
        if (said.length === 0) close();
        said.push(partOf(update.content));
        return;
      case "agent_message_chunk":
        return words("text", update.content);
      case "agent_thought_chunk":
        return words("thinking", update.content);
      case "tool_call":
      case "tool_call_update":
        events.push(...readCall(update, begun()).map(asPast));
        return;
      default:
    }
  }

  function words(kind: "text" | "thinking", content: Parameters<typeof partOf>[0]): void {
    const part = partOf(content);
    if (part.type === "text") events.push(...begun().reader.piece(kind, part.text).map(asPast));
  }

  /** Starts the turn if none is open, and emits the user's message that came before. */
  function begun(): RunningTurn {
    if (turn === undefined) {
      turn = newTurn(new TurnReader({ session, turn: env.stamp().id }));
      events.push(...turn.reader.start().map(asPast));
    }
    if (said.length > 0) events.push({ type: "user.message", ...turn.reader.address, replay: true, parts: said });
    said = [];
    return turn;
  }

  function close(): void {
    if (said.length > 0) begun();
    if (turn === undefined) return;
    events.push(...turn.reader.close({ outcome: "completed" }).map(asPast));
    turn = undefined;
    // Replayed blocks are whole: their deltas are dropped.
    const whole = events.flatMap((event) => (event.type === "text.delta" || event.type === "thinking.delta" ? [] : [unstreamed(event)]));
    turns.push(whole);
    kept += whole.length;
    events = [];
    while (kept > MOST_EVENTS && turns.length > 1) kept -= turns.shift()?.length ?? 0;
  }

  function end(): Event[] {
    close();
    return turns.flat();
  }
}

function asPast(event: Event): Event {
  return { ...event, replay: true };
}

function unstreamed(event: Event): Event {
  if (event.type !== "text.done" && event.type !== "thinking.done") return event;
  const { streamed: _streamed, ...rest } = event;
  return rest;
}
