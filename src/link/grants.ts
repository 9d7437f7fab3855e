/** Grants that a driven agent's wire cannot hold: the link remembers them and answers what they cover. */
import { categoryOf } from "../core/names.js";
import type { Call, Event, EventOf } from "../core/event.js";
import type { Answer, Op, OpOf } from "../core/op.js";
import type { Coverage } from "../dialects/dialect.js";
import { includes } from "./gaps.js";

interface Asked {
  call: Call;
  session: string | undefined;
}

export class Grants {
  readonly #coverage: Coverage;
  #asked: Asked[] = [];
  readonly #tools = new Set<string>();
  readonly #categories = new Set<string>();

  constructor(coverage: Coverage) {
    this.#coverage = coverage;
  }

  /** Remembers what the wire cannot carry. */
  op(op: Op): void {
    if (op.type !== "approval.answer") return;
    for (const answer of op.answers) {
      const asked = this.#take(op.session, answer.call);
      if (asked === undefined || !this.#isOurs(answer)) continue;
      if (answer.grant === "tool") this.#tools.add(scoped(asked.session, asked.call.name));
      if (answer.grant === "category") this.#categories.add(scoped(asked.session, categoryIn(asked.call)));
    }
  }

  /** Splits an approval into the part that a grant answers and the part that the host must still see. */
  event(event: Event): { answer?: OpOf<"approval.answer">; pass?: Event } {
    if (event.type === "tool.ended") this.#take(event.session, event.call);
    if (event.type === "session.ended") this.#forget(event.session);
    if (event.type !== "approval.requested") return { pass: event };
    const open: Call[] = [];
    const answers: Answer[] = [];
    for (const call of event.calls) {
      if (this.#covers(event, call)) answers.push({ call: call.id, decision: "allow", grant: "call" });
      else open.push(call);
    }
    for (const call of open) this.#asked.push({ call, session: event.session });
    return {
      ...(answers.length > 0 && {
        answer: { type: "approval.answer", ...(event.session !== undefined && { session: event.session }), answers },
      }),
      ...(open.length > 0 && { pass: { ...event, calls: open } }),
    };
  }

  /** An answer that becomes a denial, because its arguments cannot be carried, grants nothing either. */
  #isOurs(answer: Answer): boolean {
    const covers = this.#coverage["approval.answer"];
    if (answer.decision !== "allow" || (answer.args !== undefined && !includes(covers, "args"))) return false;
    return !includes(covers, answer.grant ?? "call");
  }

  /** Calls of two sessions may have the same id; who names no session means the call wherever it is. */
  #take(session: string | undefined, call: string): Asked | undefined {
    const found = this.#asked.find((asked) => asked.call.id === call && (session === undefined || asked.session === session));
    this.#asked = this.#asked.filter((asked) => asked !== found);
    return found;
  }

  /** A session that is opened again under the same name has been granted nothing. */
  #forget(session: string | undefined): void {
    this.#asked = this.#asked.filter((asked) => asked.session !== session);
    for (const granted of [this.#tools, this.#categories]) {
      for (const name of granted) if (name.startsWith(scoped(session, ""))) granted.delete(name);
    }
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
