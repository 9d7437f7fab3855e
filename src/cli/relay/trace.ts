/** Traces of a driven agent: turns, tools and approvals, as its events tell. The agent itself traces its model calls. */
import type { Event, EventOf } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Redactor } from "../../core/secrets/redact.js";
import { sessionTrace, type SessionTrace, type TracedSpan } from "../../engine/trace/trace.js";
import type { Tracer } from "../../engine/trace/tracer.js";

/** The open spans of a session. */
interface Following {
  trace: SessionTrace;
  model: { provider: string; id: string } | undefined;
  turns: Map<string, TracedSpan>;
  calls: Map<string, TracedSpan>;
  approvals: Map<string, TracedSpan>;
}

export class RelayTrace {
  readonly #tracer: Tracer;
  readonly #redactor: Redactor;
  readonly #sessions = new Map<string, Following>();
  /** The traces that prompts brought along, by the ids of their ops. */
  readonly #traces = new Map<string, string>();

  constructor(tracer: Tracer, redactor: Redactor) {
    this.#tracer = tracer;
    this.#redactor = redactor;
  }

  op(op: Op): void {
    if (op.type === "turn.prompt" && op.id !== undefined && op.trace !== undefined) this.#traces.set(op.id, op.trace);
    if (op.type === "approval.answer") this.#answered(op);
  }

  event(event: Event): void {
    const { session } = event;
    if (session === undefined) return;
    switch (event.type) {
      case "session.ready":
      case "session.updated":
        return this.#named(session, event);
      case "session.ended":
        return void this.#sessions.delete(session);
      case "turn.started":
        return this.#began(session, event);
      case "tool.requested":
        return this.#called(session, event);
      case "approval.requested":
        return this.#asked(session, event);
      case "tool.started":
        return this.#settled(session, event.call, "allow");
      case "tool.ended":
        return this.#returned(session, event);
      case "turn.ended":
        return this.#ended(session, event);
      case "session.changed":
      case "closed":
      case "text.delta":
      case "text.done":
      case "thinking.delta":
      case "thinking.done":
      case "user.message":
      case "tool.delta":
      case "tool.progress":
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
        break;
      default:
        event satisfies never;
    }
  }

  #of(session: string, sessionId?: string): Following {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const trace = sessionTrace(this.#tracer, { handle: session, sessionId }, this.#redactor);
    const following = { trace, model: undefined, turns: new Map(), calls: new Map(), approvals: new Map() };
    this.#sessions.set(session, following);
    return following;
  }

  #named(session: string, { sessionId, config }: EventOf<"session.ready" | "session.updated">): void {
    const { provider = "unknown", model } = config ?? {};
    if (model !== undefined) this.#of(session, sessionId).model = { provider, id: model };
  }

  #began(session: string, { turn = "", parent = "" }: EventOf<"turn.started">): void {
    const { trace, model, turns } = this.#of(session);
    const above = this.#traces.get(parent);
    this.#traces.delete(parent);
    const span = ((above === undefined ? undefined : trace.below(above)) ?? trace.root()).turn(turn);
    if (model !== undefined) span.model(model);
    turns.set(turn, span);
  }

  #called(session: string, { call, turn = "", under = "" }: EventOf<"tool.requested">): void {
    const { turns, calls } = this.#of(session);
    const span = (calls.get(under) ?? turns.get(turn))?.tool(call);
    if (span !== undefined) calls.set(call.id, span);
  }

  #asked(session: string, { calls: asked }: EventOf<"approval.requested">): void {
    const { calls, approvals } = this.#of(session);
    for (const { id, name } of asked) {
      const span = calls.get(id)?.approval(name);
      if (span !== undefined) approvals.set(id, span);
    }
  }

  #answered({ session, answers }: OpOf<"approval.answer">): void {
    for (const answer of answers) {
      const holder =
        session === undefined ? [...this.#sessions.values()].find(({ approvals }) => approvals.has(answer.call)) : this.#of(session);
      holder?.approvals.get(answer.call)?.endApproval(answer);
      holder?.approvals.delete(answer.call);
    }
  }

  /** Ends an approval that a grant, a deadline or an interrupt decided. */
  #settled(session: string, call: string, decision: "allow" | "deny" | "void"): void {
    const { approvals } = this.#of(session);
    approvals.get(call)?.endApproval({ decision });
    approvals.delete(call);
  }

  #returned(session: string, { call, status }: EventOf<"tool.ended">): void {
    const { calls } = this.#of(session);
    this.#settled(session, call, status === "denied" ? "deny" : "void");
    calls.get(call)?.endTool(status);
    calls.delete(call);
  }

  #ended(session: string, event: EventOf<"turn.ended">): void {
    const { turns } = this.#of(session);
    turns.get(event.turn ?? "")?.endTurn(event);
    turns.delete(event.turn ?? "");
  }
}
