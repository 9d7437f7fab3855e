/**
 * The grammar of an event stream, as a checker. Readers of a wire guarantee it, writers rely on it; tests and `relay --check` run it.
 *  1. `session.ready` before any turn.
 *  2. Exactly one `turn.ended` per `turn.started`; turns of a session do not nest.
 *  3. A `*.done` closes each block (keyed by turn and `under`) with its whole text; `streamed` says that deltas went out.
 *  4. `tool.requested` precedes every mention of a call (`under` too) but `tool.delta`; exactly one `tool.ended` per call, before its
 *     `turn.ended`.
 *  5. A call in an open `approval.requested` does not start until answered, here or, as `approval.settled` tells, by another host. A yes
 *     may come before the question: a wire may ask about one call at a time.
 *  6. `turn.ended.usage` is present whenever usage was reported.
 *  7. `closed` is last on the connection.
 *
 * A replay is a stream of its own, unless the host attached to a running session. A replay with `after` (of `session.open`) may begin inside
 * a turn: its first turn then lacks its start, and may mention calls that were requested before. Only the op tells this.
 */
import type { Event, EventOf } from "./event.js";
import type { Answer, Op, OpOf } from "./op.js";

interface Block {
  kind: "text" | "thinking";
  text: string;
  /** The block may have begun before the first known event of its turn. */
  isCut: boolean;
}

interface Turn {
  id: string;
  blocks: Map<string, Block>;
  calls: Map<string, "requested" | "started" | "ended">;
  /** Calls with an open approval. */
  asked: Set<string>;
  /** Calls that were allowed before the question, with the op that allowed them. */
  allowed: Map<string, string | undefined>;
  usage: boolean;
  /** The turn's start is missing. */
  cut: boolean;
  /** In a cut turn: the blocks whose first part, with a missing start, has been closed. */
  passedCut: Set<string>;
}

interface Session {
  ready: boolean;
  turn: Turn | undefined;
  ended: Set<string>;
  /** The next event may belong to a turn whose start is missing. */
  midway: boolean;
}

/** Feed it every event and, where possible, every op; each call returns the violations as sentences. */
export class Grammar {
  readonly #sessions = new Map<string, Session>();
  /** Sessions whose replay begins at a place. */
  readonly #cursors = new Set<string>();
  /** Sessions to which the host attached while they ran: replay and live events are one stream. */
  readonly #attached = new Set<string>();
  #closed = false;
  #seesOps = false;

  /** Notes ops that answer approvals and ops that ask for a replay. Without any op, rule 5 is not checked. */
  op(op: Op): void {
    this.#seesOps = true;
    if (op.type === "session.open") this.#opens(op);
    if (op.type !== "approval.answer") return;
    for (const [key, session] of this.#sessions) {
      if (op.session !== undefined && op.session !== key) continue;
      for (const answer of op.answers) if (session.turn !== undefined) answered(session.turn, answer, op.id);
    }
  }

  #opens({ session, open, after }: OpOf<"session.open">): void {
    this.#sessions.delete(replayOf(session));
    if (after !== undefined && after.seq >= 0) this.#cursors.add(session);
    else this.#cursors.delete(session);
    if (open === "attach") this.#attached.add(session);
    else this.#attached.delete(session);
  }

  event(event: Event): string[] {
    const wrong: string[] = [];
    if (this.#closed) wrong.push(`rule 7: ${event.type} after closed`);
    if (event.type === "closed") this.#closed = true;
    const session = this.#session(event);
    const say = (rule: number, text: string): number => wrong.push(`rule ${rule}: ${text}`);
    if (event.type === "reply" && event.status !== "ok") notTaken(event, session);
    if (event.type === "session.ready") this.#sessionReady(event, session);
    else if (event.type === "session.ended") this.#sessionEnded(session, say);
    else if (event.type === "turn.started") this.#turnStarted(event, session, say);
    else if (event.turn !== undefined) this.#inTurn(event, session, say);
    else if (isTurnScoped(event)) say(2, `${event.type} without a turn`);
    return wrong;
  }

  /** Returns the violations of all that is still open at the end. */
  end(): string[] {
    return [...this.#sessions.values()].flatMap((session) =>
      session.turn === undefined ? [] : [`rule 2: turn ${session.turn.id} never ended`],
    );
  }

  /** A replay is a stream of its own within its session. */
  #session(event: Event): Session {
    const name = event.session ?? "";
    const isReplay = event.replay === true && !this.#attached.has(name);
    const key = isReplay ? replayOf(name) : name;
    let session = this.#sessions.get(key);
    if (session === undefined) {
      session = { ready: isReplay, turn: undefined, ended: new Set(), midway: isReplay && this.#cursors.has(name) };
      this.#sessions.set(key, session);
    }
    return session;
  }

  /** Events of an earlier replay may come again. */
  #sessionReady(event: EventOf<"session.ready">, session: Session): void {
    session.ready = true;
    const name = event.session ?? "";
    if (this.#attached.has(name)) {
      session.turn = undefined;
      session.ended.clear();
      session.midway = this.#cursors.has(name) || event.gap !== undefined;
    }
    this.#sessions.delete(replayOf(name));
  }

  #sessionEnded(session: Session, say: Say): void {
    session.ready = false;
    if (session.turn !== undefined) say(2, `the session ended inside turn ${session.turn.id}`);
  }

  #turnStarted(event: EventOf<"turn.started">, session: Session, say: Say): void {
    const id = event.turn ?? "";
    if (id === "") say(2, "turn.started without a turn");
    if (!session.ready) say(1, `turn ${id} started before session.ready`);
    if (session.turn !== undefined) say(2, `turn ${id} started inside turn ${session.turn.id}`);
    if (session.ended.has(id)) say(2, `turn ${id} started again`);
    session.midway = false;
    session.turn = begun(id, false);
  }

  #inTurn(event: Event, session: Session, say: Say): void {
    if (session.midway) session.turn = begun(event.turn ?? "", true);
    session.midway = false;
    const turn = session.turn;
    if (turn === undefined || turn.id !== event.turn) {
      const why = session.ended.has(event.turn ?? "") ? "has ended" : "is not running";
      say(2, `${event.type} of turn ${event.turn ?? ""}, which ${why}`);
      return;
    }
    if (event.under !== undefined && !isKnown(turn, event.under, "started"))
      say(4, `${event.type} under call ${event.under}, which was never requested`);
    switch (event.type) {
      case "text.delta":
      case "thinking.delta":
        return this.#delta(event, turn, say);
      case "text.done":
      case "thinking.done":
        return this.#done(event, turn, say);
      case "tool.requested":
        this.#noOpenBlock(event, turn, say);
        if (turn.calls.has(event.call.id)) say(4, `call ${event.call.id} requested twice`);
        turn.calls.set(event.call.id, "requested");
        return;
      case "approval.requested":
        for (const call of event.calls) {
          if (!isKnown(turn, call.id, "requested") || turn.calls.get(call.id) !== "requested")
            say(4, `approval asked for call ${call.id}, which is not waiting`);
          if (!turn.allowed.delete(call.id)) turn.asked.add(call.id);
        }
        return;
      case "approval.settled":
        if (!isKnown(turn, event.call, "requested")) say(4, `the approval of call ${event.call}, which was never requested, is settled`);
        answered(turn, event, undefined);
        return;
      case "tool.started":
      case "tool.progress":
      case "tool.ended":
        return this.#call(event, turn, say);
      case "host.request":
        if (event.call !== undefined && !isKnown(turn, event.call, "started"))
          say(4, `host.request of call ${event.call}, which was never requested`);
        return;
      case "usage":
        turn.usage = true;
        return;
      case "turn.ended":
        this.#turnEnded(event, turn, say);
        session.ended.add(turn.id);
        session.turn = undefined;
        return;
      case "session.ready":
      case "session.updated":
      case "session.ended":
      case "session.changed":
      case "closed":
      case "turn.started":
      case "user.message":
      case "tool.delta":
      case "host.settled":
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

  #delta(event: EventOf<"text.delta" | "thinking.delta">, turn: Turn, say: Say): void {
    const kind = event.type === "text.delta" ? "text" : "thinking";
    const key = event.under ?? "";
    const block = turn.blocks.get(key);
    if (block === undefined) {
      turn.blocks.set(key, { kind, text: event.text, isCut: mayBeCut(turn, key) });
      return;
    }
    if (block.kind !== kind) say(3, `${event.type} inside an open ${block.kind} block`);
    block.text += event.text;
  }

  #done(event: EventOf<"text.done" | "thinking.done">, turn: Turn, say: Say): void {
    const kind = event.type === "text.done" ? "text" : "thinking";
    const key = event.under ?? "";
    const block = turn.blocks.get(key);
    turn.blocks.delete(key);
    const isCut = block?.isCut ?? mayBeCut(turn, key);
    turn.passedCut.add(key);
    if (block === undefined) {
      if (event.streamed === true && !isCut) say(3, `${event.type} says streamed, but no delta went out`);
      return;
    }
    if (block.kind !== kind) say(3, `${event.type} closes a ${block.kind} block`);
    else if (event.streamed !== true) say(3, `${event.type} closes a streamed block without saying so`);
    else if (block.text !== event.text && !isCut) say(3, `${event.type} is not the sum of its deltas`);
  }

  #noOpenBlock(event: Event, turn: Turn, say: Say): void {
    const block = turn.blocks.get(event.under ?? "");
    if (block !== undefined) say(3, `${event.type} inside an open ${block.kind} block`);
  }

  #call(event: EventOf<"tool.started" | "tool.progress" | "tool.ended">, turn: Turn, say: Say): void {
    const isRequested = isKnown(turn, event.call, event.type === "tool.started" ? "requested" : "started");
    const state = turn.calls.get(event.call);
    if (!isRequested) return void say(4, `${event.type} of call ${event.call}, which was never requested`);
    if (state === "ended") return void say(4, `${event.type} of call ${event.call}, which has ended`);
    if (event.type === "tool.started") {
      if (state === "started") say(4, `call ${event.call} started twice`);
      // The answers to replayed approvals are not part of the replay.
      if (event.replay === true) turn.asked.delete(event.call);
      if (this.#seesOps && turn.asked.has(event.call)) say(5, `call ${event.call} started before its approval was answered`);
      turn.calls.set(event.call, "started");
    }
    if (event.type === "tool.ended") turn.calls.set(event.call, "ended");
  }

  #turnEnded(event: EventOf<"turn.ended">, turn: Turn, say: Say): void {
    for (const block of turn.blocks.values()) say(3, `turn ${turn.id} ended inside an open ${block.kind} block`);
    for (const [call, state] of turn.calls) if (state !== "ended") say(4, `turn ${turn.id} ended before call ${call}`);
    if (turn.usage && event.usage === undefined) say(6, `turn ${turn.id} reported usage, but its end has none`);
  }
}

function begun(id: string, cut: boolean): Turn {
  return { id, blocks: new Map(), calls: new Map(), asked: new Set(), allowed: new Map(), usage: false, cut, passedCut: new Set() };
}

function mayBeCut(turn: Turn, key: string): boolean {
  return turn.cut && !turn.passedCut.has(key);
}

function answered(turn: Turn, { call, decision }: Pick<Answer, "call" | "decision">, op: string | undefined): void {
  const wasAsked = turn.asked.delete(call);
  if (!wasAsked && decision === "allow" && turn.calls.get(call) === "requested") turn.allowed.set(call, op);
}

/** The agent refused an early answer: the call counts as not allowed. */
function notTaken({ parent }: EventOf<"reply">, { turn }: Session): void {
  if (parent === undefined || turn === undefined) return;
  for (const [call, op] of turn.allowed) if (op === parent) turn.allowed.delete(call);
}

/** A call that a cut turn mentions was requested before the cut, and has reached `state` at least. */
function isKnown(turn: Turn, call: string, state: "requested" | "started"): boolean {
  if (turn.cut && !turn.calls.has(call)) turn.calls.set(call, state);
  return turn.calls.has(call);
}

function replayOf(session: string): string {
  return `${session} replay`;
}

type Say = (rule: number, text: string) => number;

function isTurnScoped(event: Event): boolean {
  return /^(turn|text|thinking|tool|approval)\./.test(event.type);
}
