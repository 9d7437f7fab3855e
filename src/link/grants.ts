/** Grants that a driven agent's wire cannot hold: the link remembers them and answers what they cover. */
import { categoryOf } from "../core/names.js";
import type { Call, Event, EventOf } from "../core/event.js";
import type { Op, OpOf } from "../core/op.js";
import type { Coverage } from "../dialects/dialect.js";
import { includes } from "./gaps.js";

export class Grants {
  readonly #coverage: Coverage;
  readonly #calls = new Map<string, Call>();
  readonly #tools = new Set<string>();
  readonly #categories = new Set<string>();

  constructor(coverage: Coverage) {
    this.#coverage = coverage;
  }

  /** Remembers what the wire cannot carry. */
  op(op: Op): void {
    if (op.type !== "approval.answer") return;
    for (const answer of op.answers) {
      const call = this.#calls.get(answer.call);
      this.#calls.delete(answer.call);
      if (call === undefined || answer.decision !== "allow" || includes(this.#coverage["approval.answer"], answer.grant ?? "call"))
        continue;
      if (answer.grant === "tool") this.#tools.add(scoped(op.session, call.name));
      if (answer.grant === "category") this.#categories.add(scoped(op.session, categoryIn(call)));
    }
  }

  /** Splits an approval into the part that a grant answers and the part that the host must still see. */
  event(event: Event): { answer?: OpOf<"approval.answer">; pass?: Event } {
    if (event.type === "tool.ended") this.#calls.delete(event.call);
    if (event.type !== "approval.requested") return { pass: event };
    const open: Call[] = [];
    const answers: OpOf<"approval.answer">["answers"] = [];
    for (const call of event.calls) {
      if (this.#covers(event, call)) answers.push({ call: call.id, decision: "allow", grant: "call" });
      else open.push(call);
    }
    for (const call of open) this.#calls.set(call.id, call);
    return {
      ...(answers.length > 0 && {
        answer: { type: "approval.answer", ...(event.session !== undefined && { session: event.session }), answers },
      }),
      ...(open.length > 0 && { pass: { ...event, calls: open } }),
    };
  }

  #covers(event: EventOf<"approval.requested">, call: Call): boolean {
    return this.#tools.has(scoped(event.session, call.name)) || this.#categories.has(scoped(event.session, categoryIn(call)));
  }
}

function categoryIn(call: Call): string {
  return call.category ?? categoryOf(call.name);
}

function scoped(session: string | undefined, name: string): string {
  return `${session ?? ""}\n${name}`;
}
