/** A connection to a driven agent: one side of its dialect, its transport, and the open work. */
import { toFault, type Fault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import { ANSWER_SECONDS, QUEUE_LIMIT } from "../core/limits.js";
import type { Op, OpOf } from "../core/op.js";
import type { Frame, Launch } from "../core/wire.js";
import type { Dialect, Side, Step } from "../dialects/dialect.js";
import { TransportLifecycle } from "./transport-lifecycle.js";
import { Deadlines } from "./deadlines.js";
import { opGap, overlongOp, missingEvents } from "./gaps.js";
import { Grants } from "./grants.js";
import { Heartbeat, type Rhythm } from "./heartbeat.js";
import { HostRequests } from "./host-requests.js";
import type { ConnectOptions, Dial } from "./options.js";
import { Replies } from "./replies.js";
import { sideEnv } from "./stamp.js";
import { Turns, type Release } from "./turns.js";
import { Unanswered, refusal } from "./unanswered.js";

const NO_ANSWERS = "the host closed its input";

/** Sends events to the host; returns a promise if the host is slow. */
type Tell = (event: Event) => Promise<void> | undefined;

export class Line {
  readonly #dialect: Dialect;
  readonly #tell: Tell;
  readonly #gone: (closed: Closed) => void;
  readonly #side: Side<Event, Op>;
  readonly #carrier: TransportLifecycle;
  readonly #onBreach: ConnectOptions["onBreach"];
  readonly #grants: Grants;
  readonly #deadlines: Deadlines;
  readonly #heartbeat: Heartbeat | undefined;
  readonly #hostRequests = new HostRequests();
  readonly #turns = new Turns();
  readonly #replies: Replies;
  readonly #unanswered = new Unanswered();
  /** Ops go out one after another, once the transport is dialled. */
  #order: Promise<void> = Promise.resolve();
  /** How the connection is shutting down. `drained`: after all open work. `now`: at once. */
  #leaving: "drained" | "now" | undefined;
  /** The ready session of a wire with a process for each turn: the link itself ends it. */
  #lasting: string | undefined;
  /** The end of a transport that lasts as long as the connection. */
  #closed: Closed = {};
  #over = false;

  constructor(dialect: Dialect, dial: Dial, options: ConnectOptions, tell: Tell, gone: (closed: Closed) => void) {
    this.#dialect = dialect;
    this.#tell = tell;
    this.#gone = gone;
    this.#side = dialect.hostSide({ ...sideEnv, ...(options.onBreach !== undefined && { breach: options.onBreach }) });
    this.#carrier = new TransportLifecycle(dialect, dial, options, {
      frame: (frame) => this.#read(frame),
      quiet: () => this.#play(this.#side.quiet?.() ?? { in: [], out: [] }),
      ended: (closed) => this.#ended(closed),
    });
    this.#onBreach = options.onBreach;
    this.#grants = new Grants(dialect);
    this.#deadlines = new Deadlines(options.answerSeconds ?? ANSWER_SECONDS, (op) => this.#sendOwn(op));
    this.#replies = new Replies(dialect.replies, options.replySeconds, (reply) => void this.#hear(reply));
    this.#heartbeat = this.#heartbeatOf(options.heartbeat ?? dialect.heartbeat);
  }

  open(launch: Launch): Promise<void> {
    return this.#inOrder(() => this.#carrier.launch(launch));
  }

  /** Never rejects: a failed op is answered with an error. */
  send(op: Op): Promise<void> {
    this.#unanswered.took(op);
    return this.#inOrder(async () => {
      await this.#attempt(op, () => this.#send(op));
      this.#unanswered.sent(op);
    });
  }

  // --- leaving ---

  /** Only `now` has a record on the wire; `drained` ends the agent's input once no work is left. */
  leave({ when, id }: OpOf<"shutdown">): void {
    if (when === "now") return this.#leaveNow(id);
    void this.#inOrder(async () => {
      this.#leaving ??= "drained";
      this.#refuseAll();
      this.#leaveWhenIdle();
    });
  }

  /** Interrupts the turn and ends the transport with its process; resolves when it is gone. */
  async end(): Promise<void> {
    this.#leaveNow(sideEnv.stamp().id);
    await this.#carrier.end();
  }

  /** On a wire without a record for `now`: interrupts the turn and ends the input. */
  #leaveNow(id: string | undefined): void {
    if (this.#leaving === "now" || this.#over) return;
    this.#leaving = "now";
    this.#carrier.bar();
    if (!this.#carrier.isUp && !this.#carrier.isLaunched) return void this.#inOrder(async () => this.#finish());
    if (this.#carrier.isShared) return this.#hangUp();
    const meta = id === undefined ? {} : { id };
    if (this.#dialect.coverage.shutdown !== "none") {
      this.#writeNow({ type: "shutdown", when: "now", ...meta });
      return this.#carrier.closeSoon();
    }
    if (this.#turns.running && this.#dialect.coverage["turn.interrupt"] !== "none") this.#writeNow({ type: "turn.interrupt", ...meta });
    this.#carrier.close("term");
  }

  /** Leaves a shared agent without its record for the end, which would end other hosts' sessions. Running turns are reported with their ends. */
  #hangUp(): void {
    for (const session of this.#turns.busy) this.#writeNow({ type: "turn.interrupt", id: sideEnv.stamp().id, session });
    this.#hangUpWhenStopped();
    this.#carrier.closeSoon();
  }

  #hangUpWhenStopped(): void {
    if (this.#leaving === "now" && this.#carrier.isShared && !this.#turns.running) this.#carrier.close("term");
  }

  /** Sends an op ahead of the waiting ones. */
  #writeNow(op: Op): void {
    this.#play(this.#side.write(op));
  }

  /** Sends an op without waiting. */
  #play(step: Step<Event>): void {
    void this.#carrier.put(step);
    for (const event of step.in) void this.#hear(event);
  }

  #leaveWhenIdle(): void {
    if (this.#leaving !== "drained" || this.#over || !this.#turns.idle) return;
    if (!this.#carrier.isUp) return void this.#inOrder(async () => this.#finish());
    this.#carrier.close("eof");
    this.#carrier.closeSoon();
  }

  // --- ops ---

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#order = this.#order.then(work);
    return this.#order;
  }

  /** A failed op must not block the next one. */
  async #attempt(op: Op, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // The error counts as the agent's reply, so that no turn waits for it.
      await this.#hear(refusal(op, toFault(error)));
    }
  }

  async #send(op: Op): Promise<void> {
    if (this.#over) return;
    if (op.type === "session.open" && this.#isTaken()) return this.#answer([refusal(op, taken(op.session))]);
    if (op.type !== "session.open" && op.type !== "ping" && this.#isUnopened()) return this.#answer([refusal(op, unopened(op.session))]);
    const overlong = overlongOp(op);
    if (overlong !== undefined) return this.#answer([refusal(op, overlong)]);
    if (op.type === "session.open") this.#turns.open(op);
    if (op.type === "turn.interrupt" && this.#turns.cancel(op)) {
      return this.#answer([{ type: "reply", to: op.type, status: "ok", session: op.session, parent: op.id }]);
    }
    this.#deadlines.op(op);
    this.#hostRequests.op(op);
    const gap = opGap(this.#dialect, this.#grants.op(op), this.#turns.runs(op));
    switch (gap.do) {
      case "send":
        if (gap.op.type === "turn.prompt" && this.#mustWait(gap.op)) return this.#hold(gap.op);
        if (gap.op.type === "turn.prompt") this.#turns.sent(gap.op);
        if (gap.op.type === "session.open" && this.#dialect.lifetime === "connection") this.#carrier.expectReady();
        this.#replies.sent(gap.op);
        if (gap.notice !== undefined) await this.#answer([gap.notice]);
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

  /** The other sessions of this agent are worth more than one turn. */
  #expectStop(session: string | undefined): void {
    if (this.#dialect.lifetime !== "session") return;
    this.#carrier.expectStop((text) => void this.#tell({ type: "notice", level: "warning", text, session }));
  }

  /** The agent has a process for each session, and this one runs. */
  #isTaken(): boolean {
    return this.#dialect.lifetime === "session" && this.#carrier.isLaunched;
  }

  /** The open was refused, so no process could receive the op. */
  #isUnopened(): boolean {
    return this.#dialect.lifetime === "session" && !this.#carrier.isLaunched;
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
    // An interrupt of another turn than the running one does not go to the agent.
    if (op.type === "turn.interrupt" && step.out.length > 0 && this.#turns.runs(op)) this.#expectStop(op.session);
    // The write is not awaited: the op must go out although a host does not read. The agent's answer comes later.
    for (const event of step.in) void this.#hear(event);
    await this.#carrier.put(step);
    this.#heartbeat?.work(!this.#turns.idle);
  }

  /** Sends ops of the link itself. */
  #sendOwn(op: Op): void {
    void this.send({ ...op, id: sideEnv.stamp().id });
  }

  /** Answers of the link pass the queue's bound, as all control answers do; too many unread ones make the asker wait. */
  async #answer(events: readonly Event[]): Promise<void> {
    for (const event of events) {
      this.#unanswered.event(event);
      const slow = this.#tell(event);
      if (event.type === "reply") await slow;
    }
  }

  // --- what carries it ---

  #heartbeatOf(rhythm: Rhythm | undefined): Heartbeat | undefined {
    if (rhythm === undefined) return undefined;
    const ask = (op: OpOf<"ping">): void => void this.#inOrder(() => this.#attempt(op, () => this.#write(op)));
    const verdict = `The agent said nothing for ${rhythm.within} s, not even that it is there, and was ended`;
    return new Heartbeat(rhythm, ask, () => this.#carrier.giveUp(verdict));
  }

  /** A question that was too long to be read cannot be answered. If several turns run, only the line itself can name its turn. */
  #missed(line: string): void {
    const { busy } = this.#turns;
    const [session] = busy.length === 1 ? busy : busy.filter((name) => line.includes(JSON.stringify(name)));
    if (session === undefined || this.#dialect.question?.test(line) !== true) return;
    const reason = "The agent asked something in a line that was too long to be read, so its turn is stopped";
    void this.#tell({ type: "notice", session, level: "warning", text: reason, source: "link" });
    if (this.#dialect.coverage["turn.interrupt"] === "none") return this.#carrier.giveUp(reason);
    this.#sendOwn({ type: "turn.interrupt", session, reason });
  }

  async #read(frame: Frame): Promise<void> {
    if ("bad" in frame && frame.overlong === true) this.#missed(frame.line);
    this.#heartbeat?.heard(false);
    const step = this.#side.read(frame);
    // Awaited together: a write that fails while a slow host reads is caught at once.
    await Promise.all([this.#carrier.put(step), this.#hearAll(step)]);
    this.#heartbeat?.heard(true);
  }

  async #ended(closed: Closed): Promise<void> {
    this.#heartbeat?.stop();
    // The exit of an agent that was told to leave is expected; its exit code is no error.
    if (this.#dialect.lifetime !== "turn" && this.#leaving !== "now") this.#closed = closed;
    // Its side does not report that exit either, unless work was open.
    const step = this.#side.end(this.#leaving === "now" && this.#turns.idle ? {} : closed);
    this.#closed = endOf(this.#closed, step.in);
    await this.#carrier.put(step);
    const heard = this.#hearAll(step);
    if (this.#dialect.lifetime === "turn" && this.#leaving !== "now") this.#leaveWhenIdle();
    else this.#finish();
    await heard;
  }

  /** Over as soon as the last event is told, so that an open which answers it starts another agent. */
  #finish(): void {
    if (this.#over) return;
    const closed = this.#closed;
    this.#over = true;
    this.#deadlines.clear();
    this.#replies.clear();
    this.#carrier.clear();
    if (this.#lasting !== undefined) void this.#tell({ type: "session.ended", session: this.#lasting });
    const fault: Fault = { code: "launch", message: closed.reason ?? "The agent is gone", retryable: true };
    for (const answer of this.#unanswered.close(fault)) void this.#tell(answer);
    this.#gone(closed);
  }

  // --- events ---

  /** All events of a step at once: the events of an op that is written meanwhile come behind them. Resolves when a slow host has read them. */
  async #hearAll({ in: told }: Step<Event>): Promise<void> {
    await Promise.all(told.map((event) => this.#hear(event)));
  }

  async #hear(told: Event): Promise<void> {
    if (this.#heartbeat?.isOwn(told) === true) return;
    const event = this.#replies.event(told);
    if (event === undefined) return;
    if (event.type === "session.ready" || (event.type === "reply" && event.to === "session.open")) this.#carrier.ready();
    if (event.type === "session.ready" && this.#dialect.lifetime === "turn") this.#lasting = event.session;
    this.#unanswered.event(event);
    const released = this.#turns.event(event);
    if (event.type === "turn.ended") this.#stopped();
    const { answer, before, pass } = this.#grants.event(event);
    if (answer !== undefined) this.#sendOwn(answer);
    if (before !== undefined) {
      this.#onBreach?.(`rule 5: call ${before.call} started before its approval was answered`);
      void this.#tell(before);
    }
    if (pass === undefined) return;
    this.#deadlines.event(pass);
    this.#hostRequests.event(pass);
    const slow = this.#tell(pass);
    for (const made of missingEvents(this.#dialect.coverage, pass)) void this.#tell(made);
    if (this.#leaving === "drained" && (pass.type === "approval.requested" || pass.type === "host.request")) this.#refuseAll();
    if (released !== undefined) this.#release(released);
    this.#heartbeat?.work(!this.#turns.idle);
    this.#leaveWhenIdle();
    await slow;
  }

  #stopped(): void {
    this.#carrier.stopped();
    this.#hangUpWhenStopped();
  }

  #release(released: Release): void {
    if ("tell" in released) {
      for (const event of released.tell) void this.#hear(event);
      return;
    }
    // Counted before the write, so that a prompt which arrives now waits behind it.
    const { send } = released;
    this.#turns.sent(send);
    void this.#inOrder(() => this.#attempt(send, () => this.#write(send)));
  }

  /** The agent is gone: no more answers will come. */
  #refuseAll(): void {
    this.#deadlines.deny(NO_ANSWERS);
    for (const op of this.#hostRequests.refuse(NO_ANSWERS)) this.#sendOwn(op);
  }
}

/** An exit during a turn is a failure, whatever its exit code. The side knows exit codes that are no failure. */
function endOf(closed: Closed, events: readonly Event[]): Closed {
  const judged = events.find((event) => event.type === "session.ended" && event.exit !== undefined);
  if (judged?.type === "session.ended" && judged.exit !== undefined) return judged.exit;
  const failed = events.find((event) => event.type === "turn.ended" && event.outcome === "failed");
  if (failed === undefined || closed.reason !== undefined || closed.code !== 0) return closed;
  return { ...closed, reason: "The agent exited with code 0 in the middle of a turn" };
}

function unopened(session: string | undefined): Fault {
  return { code: "session", message: `There is no session '${session ?? ""}': it could not be opened`, retryable: false };
}

function taken(session: string): Fault {
  return { code: "session", message: `There is a session '${session}' already`, retryable: false };
}
