/** Ops that a driven agent has to answer. When the agent is gone, each open one is answered here, so that no op is dropped in silence. */
import type { Fault } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import type { Op, OpType } from "../core/op.js";

/** On every wire that has these ops, they get an answer: a ready, an update, a turn or a reply. */
const QUESTIONS: ReadonlySet<OpType> = new Set([
  "session.open",
  "session.configure",
  "session.list",
  "session.rewind",
  "session.delete",
  "session.mark",
  "provider.set",
  "turn.prompt",
  "command.suggest",
  "ping",
]);

/** Bounds the memory for a wire that never answers one of them: the oldest are forgotten. */
const LIMIT = 1024;

export class Unanswered {
  /** By id, in the order of their arrival. */
  readonly #ops = new Map<string, Op>();

  /** Adds an op that waits to go out. */
  took(op: Op): void {
    this.#ops.set(op.id ?? "", op);
    const oldest = this.#ops.size > LIMIT ? this.#ops.keys().next().value : undefined;
    if (oldest !== undefined) this.#ops.delete(oldest);
  }

  /** Removes an op that expects no answer of the agent: it asks for none, waits as a prompt, or was answered by the link. */
  sent(op: Op): void {
    const known = this.#ops.get(op.id ?? "");
    if (known !== undefined && !QUESTIONS.has(known.type)) this.#ops.delete(op.id ?? "");
  }

  event(event: Event): void {
    if (event.parent !== undefined && isAnswer(event)) this.#ops.delete(event.parent);
  }

  /** The answers that the agent will not give any more. */
  close(fault: Fault): Event[] {
    const answers = [...this.#ops.values()].map((op) => refusal(op, fault));
    this.#ops.clear();
    return answers;
  }
}

export function refusal(op: Op, fault: Fault): EventOf<"reply"> {
  return {
    type: "reply",
    to: op.type,
    status: "error",
    fault,
    ...(op.session !== undefined && { session: op.session }),
    ...(op.id !== undefined && { parent: op.id }),
  };
}

/** A reply with the status `loading` is not the answer yet. */
function isAnswer(event: Event): boolean {
  if (event.type === "reply") return event.status !== "loading";
  return event.type === "session.ready" || event.type === "session.updated" || event.type === "turn.started";
}
