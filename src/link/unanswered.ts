/** Ops that a driven agent owes an answer. When the agent is gone, each of them is answered here, so that no op is dropped in silence. */
import type { Fault } from "../core/errors.js";
import type { Event, EventOf } from "../core/event.js";
import type { Op, OpType } from "../core/op.js";

/** These have an answer on every wire that has them: a ready, an update, a turn or a reply. */
const QUESTIONS: ReadonlySet<OpType> = new Set([
  "session.open",
  "session.configure",
  "session.list",
  "provider.set",
  "turn.prompt",
  "command.suggest",
  "ping",
]);

/** A wire that never answers one of them must not cost memory for ever: the oldest are forgotten. */
const LIMIT = 1024;

export class Unanswered {
  /** By id, in the order in which they came. */
  readonly #ops = new Map<string, Op>();

  /** The op waits to go out. */
  took(op: Op): void {
    this.#ops.set(op.id ?? "", op);
    const oldest = this.#ops.size > LIMIT ? this.#ops.keys().next().value : undefined;
    if (oldest !== undefined) this.#ops.delete(oldest);
  }

  /** The op went out, or waits as a prompt, or was answered by the link. */
  sent(op: Op): void {
    const known = this.#ops.get(op.id ?? "");
    if (known !== undefined && !QUESTIONS.has(known.type)) this.#ops.delete(op.id ?? "");
  }

  event(event: Event): void {
    if (event.parent !== undefined && isAnswer(event)) this.#ops.delete(event.parent);
  }

  /** The answers that will not come from the agent any more. */
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

/** A reply with the status `loading` is no answer yet. */
function isAnswer(event: Event): boolean {
  if (event.type === "reply") return event.status !== "loading";
  return event.type === "session.ready" || event.type === "session.updated" || event.type === "turn.started";
}
