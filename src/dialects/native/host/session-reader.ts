/**
 * One session of a driven agent on the native wire. Any program may speak the wire, so events may be missing, repeated
 * or late; the events that this reader emits are grammatical. A correct stream passes unchanged.
 */
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { NOTHING } from "../../kit/step.js";
import { TurnNames } from "../../kit/turn-names.js";
import { TurnReader } from "../../kit/turn-reader.js";
import { denial, isTurnScoped, readInTurn, tell, withoutTurn, type Running } from "./read-turns.js";

type End = Pick<EventOf<"turn.ended">, "outcome" | "reason" | "fault" | "usage">;

export class SessionReader {
  readonly #handle: string;
  /** Opens that wait for their ready. */
  readonly #opening = new Map<string, OpOf<"session.open">>();
  /** The host attached to a running session: its replay and its later events are one stream. */
  #isAttached = false;
  /** The first event may belong to a turn whose start is missing. */
  #isMidway = false;
  #isReady = false;
  #running: Running | undefined;
  /** Prompts whose turn has not begun, oldest first. */
  #prompts: OpOf<"turn.prompt">[] = [];
  readonly #names = new TurnNames();
  /** The last error: a flood of the same error is reported once. */
  #complaint = "";

  constructor(handle: string) {
    this.#handle = handle;
  }

  // --- ops ---

  /** The op in the agent's terms. */
  op(op: Op): Op {
    switch (op.type) {
      case "session.open":
        this.#opening.set(op.id ?? "", op);
        return op;
      case "turn.prompt":
        this.#prompts.push(op);
        return op;
      case "turn.interrupt":
        return op.turn !== undefined && op.turn === this.#running?.reader.address.turn ? { ...op, turn: this.#running.wireId } : op;
      case "approval.answer":
        return { ...op, answers: op.answers.map((answer) => ({ ...answer, call: this.#wireCall(answer.call) })) };
      case "session.configure":
      case "session.seed":
      case "session.close":
      case "session.list":
      case "session.watch":
      case "session.rewind":
      case "session.delete":
      case "session.mark":
      case "provider.set":
      case "turn.steer":
      case "host.answer":
      case "command.suggest":
      case "ping":
      case "shutdown":
      case "other":
        return op;
      default:
        op satisfies never;
        return op;
    }
  }

  #wireCall(id: string): string {
    return this.#running?.reader.byId(id)?.wireId ?? id;
  }

  // --- events ---

  /** Whether the session has ended and no op waits for another one. */
  get isOver(): boolean {
    return !this.#isReady && this.#opening.size === 0;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the reader takes a replayed event; otherwise the replay is a stream of its own. */
  get takesReplay(): boolean {
    return this.#isAttached || [...this.#opening.values()].some(({ open }) => open === "attach");
  }

  read(event: Event): Step<Event> {
    switch (event.type) {
      case "session.ready":
        return tell(this.#ready(event));
      case "session.ended":
        return tell(
          ...this.end({ code: "protocol", message: "The agent ended the session in the middle of a turn", retryable: false }, event),
        );
      case "reply":
        this.#answered(event);
        return this.#inTurn(event);
      case "turn.started":
        return this.#started(event);
      default:
        return this.#inTurn(event);
    }
  }

  /** Closes the open turn, and then the session. */
  end(fault: Fault, ended: EventOf<"session.ended"> = { type: "session.ended", session: this.#handle }): Event[] {
    const turn = this.#close({ outcome: "failed", reason: fault.message, fault });
    const session = this.#isReady ? [{ ...ended, session: this.#handle }] : [];
    this.#isReady = false;
    return [...turn, ...session];
  }

  /** A `session.ready` without an open reports the session's present state. */
  #ready(event: EventOf<"session.ready">): Event {
    const [oldest] = this.#opening.keys();
    const parent = event.parent ?? oldest;
    const open = parent === undefined ? undefined : this.#opening.get(parent);
    const isAsked = parent !== undefined && this.#opening.delete(parent);
    if (open !== undefined) this.#begins(open, event);
    if (!this.#isReady || isAsked) {
      this.#isReady = true;
      return { ...event, session: this.#handle, ...(parent !== undefined && { parent }) };
    }
    const { parent: _nobody, replay: _none, gap: _no, unfinished: _either, ...news } = event;
    return withoutTurn({ ...news, type: "session.updated", session: this.#handle });
  }

  /** An attached session begins again: its events come from the start, or from a place in the middle of a turn. */
  #begins(open: OpOf<"session.open">, { gap }: EventOf<"session.ready">): void {
    this.#isAttached = open.open === "attach";
    if (!this.#isAttached) return;
    this.#running = undefined;
    this.#names.clear();
    this.#isMidway = open.after !== undefined || gap !== undefined;
  }

  #answered({ parent = "", status }: EventOf<"reply">): void {
    if (status === "error") this.#opening.delete(parent);
    if (status !== "loading") this.#prompts = this.#prompts.filter(({ id }) => id !== parent);
  }

  // --- turns ---

  #started(event: EventOf<"turn.started">): Step<Event> {
    const prompt = this.#promptOf(event);
    const wireId = event.turn ?? prompt?.turn;
    if (wireId === undefined) return this.#leftOut(event, "began a turn without a name");
    if (!this.#isReady) return this.#leftOut(event, `began turn '${wireId}' before the session was ready`);
    if (this.#running?.wireId === wireId) return this.#leftOut(event, `began turn '${wireId}' twice`);
    const message = `The agent began turn '${wireId}' before this one had ended`;
    const before = this.#close({ outcome: "failed", reason: message, fault: { code: "protocol", message, retryable: false } });
    this.#prompts = this.#prompts.filter((waiting) => waiting !== prompt);
    const parent = event.parent ?? prompt?.id;
    const turn = this.#names.of(wireId);
    const reader = new TurnReader({ session: this.#handle, turn, ...(parent !== undefined && { parent }) });
    this.#running = { wireId, reader, usage: undefined, isCut: false };
    this.#isMidway = false;
    return tell(...before, ...reader.start().map((made) => ({ ...event, ...made })));
  }

  /** A turn that names no prompt answers the oldest one. */
  #promptOf({ parent, turn }: EventOf<"turn.started">): OpOf<"turn.prompt"> | undefined {
    if (parent !== undefined) return this.#prompts.find(({ id }) => id === parent);
    return this.#prompts.find((prompt) => prompt.turn !== undefined && prompt.turn === turn) ?? this.#prompts[0];
  }

  #close(end: End): Event[] {
    const running = this.#running;
    if (running === undefined) return [];
    this.#running = undefined;
    const usage = end.usage ?? running.usage;
    return running.reader.close({ ...end, ...(usage !== undefined && { usage }) });
  }

  // --- in a turn ---

  #inTurn(event: Event): Step<Event> {
    const isScoped = isTurnScoped(event);
    if (this.#isMidway && event.turn !== undefined) this.#startedBefore(event.turn, event.parent);
    const running = this.#running;
    if (event.turn === undefined && !isScoped) return tell(event);
    if (running === undefined || (event.turn ?? running.wireId) !== running.wireId) return this.#stray(event, isScoped);
    return event.type === "turn.ended" ? tell(...this.#turnEnded(event)) : readInTurn(event, running);
  }

  /** The turn began before the place from which the host attached. */
  #startedBefore(turn: string, parent: string | undefined): void {
    this.#isMidway = false;
    this.#names.of(turn);
    const reader = new TurnReader({ session: this.#handle, turn, ...(parent !== undefined && { parent }) }, { isCut: true });
    this.#running = { wireId: turn, reader, usage: undefined, isCut: true };
  }

  /** The fault was reported by an event of its own, or was not meant to be. */
  #turnEnded({ under: _call, ...event }: EventOf<"turn.ended">): Event[] {
    const { outcome, reason, usage } = event;
    const closed = this.#close({ outcome, ...(reason !== undefined && { reason }), ...(usage !== undefined && { usage }) });
    return closed.map((made) => (made.type === "turn.ended" ? { ...event, ...made } : made));
  }

  /** Emits an event of a turn that does not run without its turn, if it makes sense so. */
  #stray(event: Event, isScoped: boolean): Step<Event> {
    if (isScoped) return this.#leftOut(event, `told of turn '${event.turn ?? ""}', which does not run,`);
    return tell(withoutTurn(event));
  }

  /** Reports that an event was dropped, and denies its questions. */
  #leftOut(event: Event, what: string): Step<Event> {
    const notice: Event = {
      type: "notice",
      session: this.#handle,
      level: "warning",
      source: "link",
      text: `The agent ${what} and was not heard`,
    };
    const isNews = this.#complaint !== notice.text;
    this.#complaint = notice.text;
    const step = isNews ? tell(notice) : NOTHING;
    return event.type === "approval.requested" ? { ...step, out: [denial(event.session, event.calls)] } : step;
  }
}
