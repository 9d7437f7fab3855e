/**
 * What a session of a driven agent has open: its turn, blocks and calls. When the agent is gone (or its wire simply does not say the
 * ends), this closes everything in grammatical order, so that each turn ends exactly once whatever died.
 */
import type { Event, EventOf, Usage } from "../../core/event.js";
import type { Fault } from "../../core/errors.js";
import { addUsage } from "../../core/usage.js";

interface Block {
  type: "text.done" | "thinking.done";
  text: string;
}

interface OpenTurn {
  session: string | undefined;
  turn: string;
  parent: string | undefined;
  blocks: Map<string, Block>;
  calls: Set<string>;
  usage: Usage | undefined;
}

export class OpenWork {
  readonly #turns = new Map<string, OpenTurn>();
  readonly #sessions = new Set<string>();

  /** Call it with every event in the order in which the host sees them. */
  follow(event: Event): void {
    const key = event.session ?? "";
    if (event.replay === true) return;
    if (event.type === "session.ready") return void this.#sessions.add(key);
    if (event.type === "session.ended") return void this.#sessions.delete(key);
    if (event.type === "turn.started") {
      this.#turns.set(key, {
        session: event.session,
        turn: event.turn ?? "",
        parent: event.parent,
        blocks: new Map(),
        calls: new Set(),
        usage: undefined,
      });
      return;
    }
    const turn = this.#turns.get(key);
    if (turn === undefined || turn.turn !== event.turn) return;
    if (event.type === "turn.ended") this.#turns.delete(key);
    else followInTurn(turn, event);
  }

  /** The same for many, which are passed on. */
  followed(events: Event[]): Event[] {
    for (const event of events) this.follow(event);
    return events;
  }

  /** Calls of the session's turn that have no end yet. */
  openCalls(session: string): string[] {
    return [...(this.#turns.get(session)?.calls ?? [])];
  }

  /** The events that end all of it: blocks, calls, turns as failed, sessions. */
  close(fault: Fault): Event[] {
    const events: Event[] = [...this.#turns.values()].flatMap((turn) => closeTurn(turn, fault));
    for (const session of this.#sessions) events.push({ type: "session.ended", ...(session !== "" && { session }) });
    this.#turns.clear();
    this.#sessions.clear();
    return events;
  }
}

function followInTurn(turn: OpenTurn, event: Event): void {
  const key = event.under ?? "";
  switch (event.type) {
    case "text.delta":
    case "thinking.delta": {
      const block = turn.blocks.get(key);
      if (block === undefined)
        turn.blocks.set(key, { type: event.type === "text.delta" ? "text.done" : "thinking.done", text: event.text });
      else block.text += event.text;
      return;
    }
    case "text.done":
    case "thinking.done":
      turn.blocks.delete(key);
      return;
    case "tool.requested":
      turn.calls.add(event.call.id);
      return;
    case "tool.ended":
      turn.calls.delete(event.call);
      return;
    case "usage":
      if (event.scope !== "session") turn.usage = addUsage(event.scope === "turn" ? undefined : turn.usage, event.usage);
      return;
    default:
  }
}

function closeTurn(turn: OpenTurn, fault: Fault): Event[] {
  const meta = {
    ...(turn.session !== undefined && { session: turn.session }),
    ...(turn.parent !== undefined && { parent: turn.parent }),
    turn: turn.turn,
  };
  const events: Event[] = [];
  for (const [under, block] of turn.blocks) events.push({ ...meta, ...block, streamed: true, ...(under !== "" && { under }) });
  for (const call of turn.calls) events.push({ type: "tool.ended", ...meta, call, status: "cancelled", reason: fault.message });
  events.push({ type: "error", ...meta, fault });
  const ended: EventOf<"turn.ended"> = { type: "turn.ended", ...meta, outcome: "failed", reason: fault.message, fault };
  events.push(turn.usage === undefined ? ended : { ...ended, usage: turn.usage });
  return events;
}
