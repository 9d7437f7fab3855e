/** Fits answers to approvals to a driven agent's wire. The link remembers grants that the wire lacks, and answers the calls that they cover. */
import { categoryOf } from "../core/names.js";
import type { Call, Event, EventOf } from "../core/event.js";
import type { Answer, Op, OpOf } from "../core/op.js";
import type { Dialect } from "../dialects/dialect.js";
import { includes } from "../dialects/kit/covers.js";
import { withoutChanges } from "./gaps.js";

interface Asked {
  call: Call;
  session: string | undefined;
}

export class Grants {
  readonly #dialect: Dialect;
  #asked: Asked[] = [];
  /** The calls that were requested and that nobody has asked about or answered yet: some agents ask about one at a time. */
  #unasked: { call: string; session: string | undefined }[] = [];
  /** The calls among them that the host has answered all the same. */
  #early: { call: string; session: string | undefined }[] = [];
  readonly #tools = new Set<string>();
  readonly #categories = new Set<string>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Returns the op for the agent, and remembers the grants that the wire cannot carry. Only the agent can judge a prefix, so a lost prefix grants one call. */
  op(op: Op): Op {
    if (op.type !== "approval.answer") return op;
    return { ...op, answers: op.answers.map((answer) => this.#answered(op.session, answer)) };
  }

  /** An answer that becomes a denial, because the wire cannot carry its arguments, grants nothing. */
  #answered(session: string | undefined, given: Answer): Answer {
    const asked = this.#take(session, given.call);
    if (asked === undefined) this.#answeredEarly(session, given.call);
    const answer = withoutChanges(this.#dialect, given, asked?.call);
    if (asked === undefined || !this.#isOurs(answer)) return answer;
    if (answer.grant === "tool") this.#tools.add(scoped(asked.session, asked.call.name));
    if (answer.grant === "category") this.#categories.add(scoped(asked.session, categoryIn(asked.call)));
    return answer;
  }

  /** An answer about a call that nobody has heard of answers nothing. */
  #answeredEarly(session: string | undefined, call: string): void {
    const found = this.#unasked.find((each) => each.call === call && (session === undefined || each.session === session));
    if (found === undefined) return;
    this.#unasked = this.#unasked.filter((each) => each !== found);
    this.#early.push(found);
  }

  /**
   * Splits an approval into the calls that a grant answers and the calls that the host must see. An agent that starts a call without
   * waiting for the answer has settled the question itself: that is told first.
   */
  event(event: Event): { answer?: OpOf<"approval.answer">; before?: EventOf<"approval.settled">; pass?: Event } {
    if (event.replay === true) return { pass: event };
    if (event.type === "tool.ended" || event.type === "approval.settled") this.#take(event.session, event.call);
    if (event.type === "tool.started" && this.#take(event.session, event.call) !== undefined)
      return { before: settledBy(event), pass: event };
    if (event.type === "tool.requested") this.#unasked.push({ call: event.call.id, session: event.session });
    if (event.type === "turn.ended") this.#forgetCalls(event.session);
    if (event.type === "session.ended") this.#forget(event.session);
    if (event.type !== "approval.requested") return { pass: event };
    const open: Call[] = [];
    const answers: Answer[] = [];
    for (const call of event.calls) {
      if (this.#covers(event, call)) answers.push({ call: call.id, decision: "allow", grant: "call" });
      else open.push(call);
    }
    for (const call of open) if (!this.#isAnswered(event.session, call.id)) this.#asked.push({ call, session: event.session });
    return {
      ...(answers.length > 0 && {
        answer: { type: "approval.answer", ...(event.session !== undefined && { session: event.session }), answers },
      }),
      ...(open.length > 0 && { pass: { ...event, calls: open } }),
    };
  }

  /** The host said it before the question came. */
  #isAnswered(session: string | undefined, call: string): boolean {
    const isIt = (each: { call: string; session: string | undefined }): boolean => each.call === call && each.session === session;
    this.#unasked = this.#unasked.filter((each) => !isIt(each));
    const found = this.#early.find(isIt);
    this.#early = this.#early.filter((early) => early !== found);
    return found !== undefined;
  }

  #isOurs(answer: Answer): boolean {
    return answer.decision === "allow" && !includes(this.#dialect.coverage["approval.answer"], answer.grant ?? "call");
  }

  /** Calls of two sessions may have the same id; an answer without a session matches the call in any session. */
  #take(session: string | undefined, call: string): Asked | undefined {
    const found = this.#asked.find((asked) => asked.call.id === call && (session === undefined || asked.session === session));
    this.#asked = this.#asked.filter((asked) => asked !== found);
    return found;
  }

  #forgetCalls(session: string | undefined): void {
    this.#unasked = this.#unasked.filter((each) => each.session !== session);
    this.#early = this.#early.filter((each) => each.session !== session);
  }

  /** A session that is opened again under the same name starts without grants. */
  #forget(session: string | undefined): void {
    this.#asked = this.#asked.filter((asked) => asked.session !== session);
    this.#forgetCalls(session);
    for (const granted of [this.#tools, this.#categories]) {
      for (const name of granted) if (name.startsWith(scoped(session, ""))) granted.delete(name);
    }
  }

  #covers(event: EventOf<"approval.requested">, call: Call): boolean {
    return this.#tools.has(scoped(event.session, call.name)) || this.#categories.has(scoped(event.session, categoryIn(call)));
  }
}

function settledBy({ session, turn, under, call }: EventOf<"tool.started">): EventOf<"approval.settled"> {
  const place = { session, turn, ...(under !== undefined && { under }) };
  return { type: "approval.settled", ...place, call, decision: "allow", reason: "the agent did not wait for the answer" };
}

function categoryIn(call: Call): string {
  return call.category ?? categoryOf(call.name);
}

function scoped(session: string | undefined, name: string): string {
  return `${session ?? ""}\n${name}`;
}
