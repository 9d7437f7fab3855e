/** The blocks and calls that a replayed turn has begun and not ended, so that they can be ended before the recording ends them. */
import type { Event, EventOf } from "../../core/event.js";

export class OpenWork {
  turn: string | undefined;
  #parent: string | undefined;
  #block: { kind: "text" | "thinking"; text: string } | undefined;
  readonly #calls = new Set<string>();

  follow(event: Event): void {
    if (event.under !== undefined) return;
    switch (event.type) {
      case "turn.started":
        this.turn = event.turn;
        this.#parent = event.parent;
        return;
      case "turn.ended":
        this.turn = undefined;
        this.#block = undefined;
        this.#calls.clear();
        return;
      case "text.delta":
      case "thinking.delta": {
        const kind = event.type === "text.delta" ? "text" : "thinking";
        this.#block = { kind, text: (this.#block?.kind === kind ? this.#block.text : "") + event.text };
        return;
      }
      case "text.done":
      case "thinking.done":
        this.#block = undefined;
        return;
      case "tool.requested":
        this.#calls.add(event.call.id);
        return;
      case "tool.ended":
        this.#calls.delete(event.call);
        return;
      case "session.ready":
      case "session.updated":
      case "session.ended":
      case "session.changed":
      case "closed":
      case "user.message":
      case "tool.delta":
      case "tool.started":
      case "tool.progress":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "compaction":
      case "notice":
      case "catalog.updated":
      case "reply":
      case "error":
      case "other":
        return;
      default:
        event satisfies never;
        return;
    }
  }

  has(call: string): boolean {
    return this.#calls.has(call);
  }

  /** The events that end the turn; none where none runs. */
  ending(outcome: "interrupted" | "failed", reason: string): Event[] {
    const { turn } = this;
    if (turn === undefined) return [];
    const address = { turn, ...(this.#parent !== undefined && { parent: this.#parent }) };
    const block: Event[] =
      this.#block === undefined
        ? []
        : [{ type: this.#block.kind === "text" ? "text.done" : "thinking.done", ...address, text: this.#block.text, streamed: true }];
    const calls = [...this.#calls].map((call): EventOf<"tool.ended"> => ({
      type: "tool.ended",
      ...address,
      call,
      status: "cancelled",
      reason,
    }));
    const error: Event[] = outcome === "failed" ? [{ type: "error", ...address, fault: { code: "replay", message: reason } }] : [];
    return [...block, ...calls, ...error, { type: "turn.ended", ...address, outcome, reason }];
  }
}
