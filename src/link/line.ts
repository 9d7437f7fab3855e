/** One line to a driven agent: a side of its dialect, the transport that it has at the moment, and what is under way on it. */
import { toFault, type Fault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import { ANSWER_SECONDS, QUEUE_LIMIT, timerMs } from "../core/limits.js";
import type { Op, OpOf } from "../core/op.js";
import type { Launch, Transport } from "../core/wire.js";
import type { Dialect, Side, Step } from "../dialects/dialect.js";
import { Deadlines } from "./deadlines.js";
import { opGap, untold } from "./gaps.js";
import { Grants } from "./grants.js";
import { Heartbeat, type Rhythm } from "./heartbeat.js";
import { HostRequests } from "./host-requests.js";
import { Replies } from "./replies.js";
import { sideEnv } from "./stamp.js";
import { Turns, type Release } from "./turns.js";
import { Unanswered, refusal } from "./unanswered.js";

/** Seconds until an agent that is started for a session must be ready: generous, because a first start may fetch things. */
const READY_SECONDS = 60;
/** How long an agent that was told to leave may take before it is made to. */
const LEAVE_MS = 5000;
const EXIT_SECONDS = 5;
const NO_ANSWERS = "the host closed its input";

export type Dial = (launch: Launch) => Promise<Transport> | Transport;

export interface ConnectOptions {
  /** Seconds until an approval that nobody answers is denied. */
  answerSeconds?: number;
  /** Seconds until an agent that is started for a session must be ready; then it is ended. */
  readySeconds?: number;
  /** Seconds until an agent whose process is a turn must have left, once its output has ended; then it is ended. */
  exitSeconds?: number;
  /** In place of the dialect's own: seconds within which an agent is expected to say something. */
  quietSeconds?: number;
  /** In place of the dialect's own: how often an agent at work is asked whether it is there, and how long it may say nothing, in seconds. */
  heartbeat?: Rhythm;
  /** In place of the dialect's own: seconds until what the agent must answer at once, and does not, is refused. */
  replySeconds?: number;
  /** An agent that served the whole connection and is gone is started again by the next `session.open`, instead of ending it all. */
  redials?: boolean;
}

/** Tells the host; a promise when the host is slow. */
type Tell = (event: Event) => Promise<void> | undefined;

export class Line {
  readonly #dialect: Dialect;
  readonly #dial: Dial;
  readonly #tell: Tell;
  readonly #gone: (closed: Closed) => void;
  readonly #side: Side<Event, Op>;
  readonly #grants: Grants;
  readonly #deadlines: Deadlines;
  readonly #readySeconds: number;
  readonly #exitSeconds: number;
  readonly #quietSeconds: number | undefined;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #hostRequests = new HostRequests();
  readonly #turns = new Turns();
  readonly #replies: Replies;
  readonly #unanswered = new Unanswered();
  #transport: Transport | undefined;
  #launching: Promise<void> | undefined;
  #reading: Promise<void> = Promise.resolve();
  /** Ops go out one after the other, behind the dialling. */
  #order: Promise<void> = Promise.resolve();
  /** `drained`: once nothing runs or waits. `now`: whatever runs. */
  #leaving: "drained" | "now" | undefined;
  #leaveTimer: NodeJS.Timeout | undefined;
  #readyTimer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  /** Why we ended it ourselves. */
  #verdict: string | undefined;
  /** How a transport that lasts as long as the line ended. */
  #closed: Closed = {};
  #over = false;

  constructor(dialect: Dialect, dial: Dial, options: ConnectOptions, tell: Tell, gone: (closed: Closed) => void) {
    this.#dialect = dialect;
    this.#dial = dial;
    this.#tell = tell;
    this.#gone = gone;
    this.#side = dialect.hostSide(sideEnv);
    this.#grants = new Grants(dialect.coverage);
    this.#deadlines = new Deadlines(options.answerSeconds ?? ANSWER_SECONDS, (op) => this.#sendOwn(op));
    this.#readySeconds = options.readySeconds ?? READY_SECONDS;
    this.#exitSeconds = options.exitSeconds ?? EXIT_SECONDS;
    this.#replies = new Replies(dialect.replies, options.replySeconds, (reply) => void this.#hear(reply));
    this.#quietSeconds = options.quietSeconds ?? dialect.quietSeconds;
    this.#heartbeat = this.#heartbeatOf(options.heartbeat ?? dialect.heartbeat);
  }

  open(launch: Launch): Promise<void> {
    return this.#inOrder(() => this.#launch(launch));
  }

  /** Never rejects: what is wrong with an op is answered. */
  send(op: Op): Promise<void> {
    this.#unanswered.took(op);
    return this.#inOrder(async () => {
      await this.#attempt(op, () => this.#send(op));
      this.#unanswered.sent(op);
    });
  }

  // --- leaving ---

  /** Only `now` has a word on the wire; `drained` is the end of input, once there is nothing left to do. */
  leave({ when, id }: OpOf<"shutdown">): void {
    if (when === "now") return this.#leaveNow(id);
    void this.#inOrder(async () => {
      this.#leaving ??= "drained";
      this.#refuseAll();
      this.#leaveWhenIdle();
    });
  }

  /** Interrupts and ends the transport, process included; resolves when it is gone. */
  async end(): Promise<void> {
    this.#leaveNow(sideEnv.stamp().id);
    await this.#launching;
    const transport = this.#transport;
    transport?.close("term");
    await transport?.closed;
    await this.#reading;
  }

  /** A wire without a word for it gets its turn interrupted, and then the end. */
  #leaveNow(id: string | undefined): void {
    if (this.#leaving === "now" || this.#over) return;
    this.#leaving = "now";
    if (this.#transport === undefined && this.#launching === undefined) return void this.#inOrder(() => this.#finish());
    const meta = id === undefined ? {} : { id };
    if (this.#dialect.coverage.shutdown !== "none") {
      this.#writeNow({ type: "shutdown", when: "now", ...meta });
      return this.#endSoon();
    }
    if (this.#turns.running && this.#dialect.coverage["turn.interrupt"] !== "none") this.#writeNow({ type: "turn.interrupt", ...meta });
    this.#transport?.close("term");
  }

  /** Past the ops that wait, and without waiting. */
  #writeNow(op: Op): void {
    const step = this.#side.write(op);
    void this.#put(step);
    for (const event of step.in) void this.#hear(event);
  }

  #leaveWhenIdle(): void {
    if (this.#leaving !== "drained" || this.#over || !this.#turns.idle) return;
    if (this.#transport === undefined) return void this.#inOrder(() => this.#finish());
    this.#transport.close("eof");
    this.#endSoon();
  }

  #endSoon(): void {
    this.#leaveTimer ??= setTimeout(() => this.#transport?.close("term"), LEAVE_MS);
  }

  // --- ops ---

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#order = this.#order.then(work);
    return this.#order;
  }

  /** One op that fails must not hold up the next. */
  async #attempt(op: Op, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.#answer([refusal(op, toFault(error))]);
    }
  }

  async #send(op: Op): Promise<void> {
    if (this.#over) return;
    if (op.type === "session.open" && this.#isTaken()) return this.#answer([refusal(op, taken(op.session))]);
    if (op.type !== "session.open" && op.type !== "ping" && this.#isUnopened()) return this.#answer([refusal(op, unopened(op.session))]);
    if (op.type === "session.open") this.#turns.open(op);
    if (op.type === "turn.interrupt" && this.#turns.cancel(op)) {
      return this.#answer([{ type: "reply", to: op.type, status: "ok", session: op.session, parent: op.id }]);
    }
    this.#grants.op(op);
    this.#deadlines.op(op);
    this.#hostRequests.op(op);
    const gap = opGap(this.#dialect, op, this.#turns.runs(op));
    switch (gap.do) {
      case "send":
        if (gap.op.type === "turn.prompt" && this.#mustWait(gap.op)) return this.#hold(gap.op);
        if (gap.op.type === "turn.prompt") this.#turns.sent(gap.op);
        this.#replies.sent(gap.op);
        return this.#write(gap.op);
      case "answer":
        return this.#answer(gap.events);
      case "queue":
        return this.#hold(gap.op);
      case "leave":
        return this.#leaveNow(op.id);
      default:
        gap satisfies never;
    }
  }

  /** Its process is a session, and it runs. */
  #isTaken(): boolean {
    return this.#dialect.lifetime === "session" && this.#launching !== undefined;
  }

  /** Its open was refused, so there is no process that could hear anything. */
  #isUnopened(): boolean {
    return this.#dialect.lifetime === "session" && this.#launching === undefined;
  }

  #mustWait(op: OpOf<"turn.prompt">): boolean {
    return this.#turns.waits(op) || (this.#dialect.oneTurn === true && this.#turns.runs(op));
  }

  async #hold(op: OpOf<"turn.prompt">): Promise<void> {
    this.#unanswered.took(op);
    if (this.#turns.hold(op)) return;
    const message = `${QUEUE_LIMIT} prompts wait already; this one was refused`;
    await this.#answer([refusal(op, { code: "limit", message, retryable: true })]);
  }

  async #write(op: Op): Promise<void> {
    const step = this.#side.write(op);
    // Not waited for: an op must get through behind a host that does not read. What the agent says to it comes after.
    for (const event of step.in) void this.#hear(event);
    await this.#put(step);
    this.#heartbeat?.work(!this.#turns.idle);
  }

  /** Ops that the link itself has to send. */
  #sendOwn(op: Op): void {
    void this.send({ ...op, id: sideEnv.stamp().id });
  }

  /** Answers of the link pass the bound, like every answer to control; too many unread ones hold up the asker. */
  async #answer(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      this.#unanswered.event(event);
      const slow = this.#tell(event);
      if (event.type === "reply") await slow;
    }
  }

  // --- the transport ---

  #launch(launch: Launch): Promise<void> {
    this.#launching = this.#dialIn(launch);
    return this.#launching;
  }

  async #dialIn(launch: Launch): Promise<void> {
    if (this.#leaving === "now") return this.#ended({});
    try {
      this.#transport = await this.#dial(launch);
    } catch (error) {
      return this.#ended({ code: null, reason: toFault(error).message });
    }
    // Somebody may have closed us meanwhile.
    if (this.#isLeavingNow()) this.#transport.close("term");
    if (this.#dialect.lifetime === "session" || this.#dialect.start !== undefined) this.#expectReady(this.#transport);
    this.#expectWords();
    this.#reading = this.#read(this.#transport);
  }

  #expectWords(): void {
    if (this.#quietSeconds === undefined) return;
    this.#quietTimer = setTimeout(() => {
      const step = this.#side.quiet?.() ?? { in: [], out: [] };
      void this.#put(step);
      for (const event of step.in) void this.#hear(event);
    }, timerMs(this.#quietSeconds));
  }

  #expectReady(transport: Transport): void {
    this.#readyTimer = setTimeout(() => {
      this.#verdict = `The agent was not ready after ${this.#readySeconds} s and was ended`;
      transport.close("term");
    }, timerMs(this.#readySeconds));
  }

  #expectExit(transport: Transport): NodeJS.Timeout {
    return setTimeout(() => {
      this.#verdict = `The agent closed its output, did not exit within ${this.#exitSeconds} s, and was ended`;
      transport.close("term");
    }, timerMs(this.#exitSeconds));
  }

  #heartbeatOf(rhythm: Rhythm | undefined): Heartbeat | undefined {
    if (rhythm === undefined) return undefined;
    const ask = (op: OpOf<"ping">): void => void this.#inOrder(() => this.#attempt(op, () => this.#write(op)));
    return new Heartbeat(rhythm, ask, () => {
      this.#verdict = `The agent said nothing for ${rhythm.within} s, not even that it is there, and was ended`;
      this.#transport?.close("term");
    });
  }

  #isLeavingNow(): boolean {
    return this.#leaving === "now";
  }

  async #read(transport: Transport): Promise<void> {
    try {
      for await (const frame of transport.frames) {
        clearTimeout(this.#quietTimer);
        this.#heartbeat?.heard(false);
        const step = this.#side.read(frame);
        await this.#put(step);
        for (const event of step.in) await this.#hear(event);
        this.#heartbeat?.heard(true);
      }
    } catch (error) {
      this.#verdict = toFault(error).message;
    }
    // Its output has ended, so it has nothing more to say: an agent that lingers is ended. Where its exit ends a turn, it may tell how.
    const isTurn = this.#dialect.lifetime === "turn";
    transport.close(isTurn ? "eof" : "term");
    const lingers = isTurn ? this.#expectExit(transport) : undefined;
    const closed = await transport.closed;
    clearTimeout(lingers);
    await this.#ended(this.#verdict === undefined ? closed : { ...closed, reason: this.#verdict });
  }

  async #ended(closed: Closed): Promise<void> {
    this.#transport = undefined;
    this.#launching = undefined;
    clearTimeout(this.#readyTimer);
    clearTimeout(this.#quietTimer);
    this.#heartbeat?.stop();
    // One that was told to leave has done so; how is no news.
    if (this.#dialect.lifetime !== "turn" && !this.#isLeavingNow()) this.#closed = closed;
    // Nor is it for its side, unless something was open.
    const step = this.#side.end(this.#isLeavingNow() && this.#turns.idle ? {} : closed);
    await this.#put(step);
    for (const event of step.in) await this.#hear(event);
    if (this.#dialect.lifetime === "turn" && this.#leaving !== "now") return this.#leaveWhenIdle();
    await this.#finish();
  }

  async #finish(): Promise<void> {
    if (this.#over) return;
    const closed = this.#closed;
    this.#over = true;
    this.#deadlines.clear();
    this.#replies.clear();
    clearTimeout(this.#leaveTimer);
    const fault: Fault = { code: "launch", message: closed.reason ?? "The agent is gone", retryable: true };
    for (const answer of this.#unanswered.close(fault)) void this.#tell(answer);
    this.#gone(closed);
  }

  async #put(step: Step<Event>): Promise<void> {
    for (const out of step.out) {
      if ("rec" in out) await this.#transport?.write([out.rec]);
      else if ("launch" in out) await this.#launch(out.launch);
      else if ("end" in out) this.#transport?.close("eof");
      else if ("kill" in out) this.#transport?.close("term");
    }
  }

  // --- events ---

  async #hear(told: Event): Promise<void> {
    if (this.#heartbeat?.isOwn(told) === true) return;
    const event = this.#replies.event(told);
    if (event === undefined) return;
    if (event.type === "session.ready") clearTimeout(this.#readyTimer);
    this.#unanswered.event(event);
    const released = this.#turns.event(event);
    const { answer, pass } = this.#grants.event(event);
    if (answer !== undefined) this.#sendOwn(answer);
    if (pass === undefined) return;
    this.#deadlines.event(pass);
    this.#hostRequests.event(pass);
    const slow = this.#tell(pass);
    for (const made of untold(this.#dialect.coverage, pass)) void this.#tell(made);
    if (this.#leaving === "drained" && (pass.type === "approval.requested" || pass.type === "host.request")) this.#refuseAll();
    if (released !== undefined) this.#release(released);
    this.#heartbeat?.work(!this.#turns.idle);
    this.#leaveWhenIdle();
    await slow;
  }

  #release(released: Release): void {
    if ("tell" in released) {
      for (const event of released.tell) void this.#hear(event);
      return;
    }
    // Counted at once, so that a prompt which comes now waits behind it.
    const { send } = released;
    this.#turns.sent(send);
    void this.#inOrder(() => this.#attempt(send, () => this.#write(send)));
  }

  /** Nobody answers any more. */
  #refuseAll(): void {
    this.#deadlines.deny(NO_ANSWERS);
    for (const op of this.#hostRequests.refuse(NO_ANSWERS)) this.#sendOwn(op);
  }
}

function unopened(session: string | undefined): Fault {
  return { code: "session", message: `There is no session '${session ?? ""}': it could not be opened`, retryable: false };
}

function taken(session: string): Fault {
  return { code: "session", message: `There is a session '${session}' already`, retryable: false };
}
