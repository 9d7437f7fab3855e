/** The host side of a wire: a dialect and a way to dial make an Agent of whatever is at the other end. */
import type { Agent } from "../core/agent.js";
import { toFault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import { Queue, roughSize } from "../core/queue.js";
import type { Op, OpOf } from "../core/op.js";
import type { Launch, Transport } from "../core/wire.js";
import type { Dialect, Side, Step } from "../dialects/dialect.js";
import { Deadlines } from "./deadlines.js";
import { opGap } from "./gaps.js";
import { Grants } from "./grants.js";
import { sideEnv } from "./stamp.js";

/** Unread events, in bytes, before the driven agent is no longer read. */
const EVENT_BYTES = 4 * 1024 * 1024;
/** Prompts that wait behind a turn on a wire that holds one. */
const QUEUE_LIMIT = 64;
const INPUT_CLOSED = "the host closed its input";

export type Dial = (launch: Launch) => Promise<Transport> | Transport;

export interface ConnectOptions {
  /** Seconds until an approval that nobody answers is denied. */
  answerSeconds?: number;
}

export function connect(dialect: Dialect, dial: Dial, options: ConnectOptions = {}): Agent {
  const events = new Queue<Event>(EVENT_BYTES, roughSize);
  const lines = new Map<string, Line>();
  let seq = 0;
  let closing: Promise<void> | undefined;
  let leaving = false;
  let last: Closed = {};

  if (dialect.lifetime === "connection") void lineOf("").open({ argv: [], env: {} });
  return { send, events, close };

  async function send(op: Op): Promise<void> {
    const stamped = op.id === undefined ? { ...op, id: sideEnv.stamp().id } : op;
    if (op.type === "shutdown") leaving = true;
    if (dialect.lifetime === "connection") return lineOf("").send(stamped);
    if (stamped.type === "session.open") return lineOf(stamped.session).send(stamped);
    if (stamped.type === "shutdown" && lines.size === 0) return close();
    const meant = stamped.session === undefined ? [...lines.values()] : [lines.get(stamped.session)];
    if (meant.length === 0 || meant.includes(undefined)) return refuse(stamped);
    await Promise.all(meant.map((line) => line?.send(stamped)));
  }

  async function refuse(op: Op): Promise<void> {
    const message = op.session === undefined ? "There is no session; open one first" : `There is no session '${op.session}'`;
    const fault = { code: "session", message, retryable: false };
    await emit({ type: "reply", to: op.type, status: "error", parent: op.id, fault, ...(op.session !== undefined && { session: op.session }) });
  }

  function close(): Promise<void> {
    closing ??= (async () => {
      await Promise.all([...lines.values()].map((line) => line.end()));
      finish();
    })();
    return closing;
  }

  function finish(): void {
    if (events.ended) return;
    void emit({ type: "closed", ...last });
    events.end();
  }

  function lineOf(key: string): Line {
    let line = lines.get(key);
    if (line === undefined) {
      line = new Line(dialect, dial, options, emit, (closed) => {
        last = closed;
        lines.delete(key);
        if (dialect.lifetime === "connection" || (leaving && lines.size === 0)) finish();
      });
      lines.set(key, line);
    }
    return line;
  }

  function emit(event: Event): Promise<void> | undefined {
    const stamp = event.at === undefined || event.seq === undefined;
    if (stamp) event = { ...event, at: event.at ?? Date.now(), seq: event.seq ?? seq };
    seq = (event.seq ?? seq) + 1;
    return event.type === "reply" ? events.pushControl(event) : events.push(event);
  }
}

/** One side and the transport that it has at the moment. */
class Line {
  readonly #dialect: Dialect;
  readonly #dial: Dial;
  readonly #emit: (event: Event) => Promise<void> | undefined;
  readonly #gone: (closed: Closed) => void;
  readonly #side: Side<Event, Op>;
  readonly #grants: Grants;
  readonly #deadlines: Deadlines;
  #transport: Transport | undefined;
  #reading: Promise<void> = Promise.resolve();
  /** Ops go out one after the other, behind the dialling. */
  #order: Promise<void> = Promise.resolve();
  #turnRuns = false;
  #waiting: OpOf<"turn.prompt">[] = [];
  /** Prompts on the wire whose turns have not ended. */
  #asked = 0;
  #draining = false;
  #over = false;

  constructor(
    dialect: Dialect,
    dial: Dial,
    options: ConnectOptions,
    emit: (event: Event) => Promise<void> | undefined,
    gone: (closed: Closed) => void,
  ) {
    this.#dialect = dialect;
    this.#dial = dial;
    this.#emit = emit;
    this.#gone = gone;
    this.#side = dialect.hostSide(sideEnv);
    this.#grants = new Grants(dialect.coverage);
    this.#deadlines = new Deadlines(options.answerSeconds ?? 300, (op) => void this.send(op));
  }

  open(launch: Launch): Promise<void> {
    return this.#inOrder(() => this.#launch(launch));
  }

  send(op: Op): Promise<void> {
    return this.#inOrder(() => this.#send(op));
  }

  /** Interrupts and ends the transport, process included; resolves when it is gone. */
  async end(): Promise<void> {
    await this.#inOrder(async () => {
      if (this.#transport === undefined || this.#over) return;
      if (this.#dialect.coverage.shutdown !== "none") await this.#take(this.#side.write({ type: "shutdown", when: "now" }));
      this.#transport.close("term");
    });
    await this.#transport?.closed;
    await this.#reading;
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    this.#order = this.#order.then(work);
    return this.#order;
  }

  async #send(op: Op): Promise<void> {
    if (this.#over) return;
    if (op.type === "turn.prompt" && this.#dialect.oneTurn === true && this.#asked > 0) return this.#hold(op);
    this.#grants.op(op);
    this.#deadlines.op(op);
    const gap = opGap(this.#dialect.coverage, op, this.#turnRuns);
    switch (gap.do) {
      case "send":
        if (gap.op.type === "turn.prompt") this.#asked++;
        return this.#take(this.#side.write(gap.op));
      case "answer":
        for (const event of gap.events) await this.#emit(event);
        return;
      case "queue":
        return this.#hold(gap.op);
      case "leave":
        return gap.when === "now" ? this.#leaveNow() : this.#drain();
      default:
        gap satisfies never;
    }
  }

  /** What waits is denied, open and queued turns end, and then its input does. */
  async #drain(): Promise<void> {
    this.#draining = true;
    this.#deadlines.denyAll(INPUT_CLOSED);
    this.#leaveWhenIdle();
  }

  #leaveWhenIdle(): void {
    if (this.#draining && this.#asked === 0 && this.#waiting.length === 0) this.#transport?.close("eof");
  }

  async #leaveNow(): Promise<void> {
    if (this.#turnRuns && this.#dialect.coverage["turn.interrupt"] !== "none") await this.#take(this.#side.write({ type: "turn.interrupt" }));
    this.#transport?.close("term");
  }

  async #hold(op: OpOf<"turn.prompt">): Promise<void> {
    if (this.#waiting.length < QUEUE_LIMIT) return void this.#waiting.push(op);
    const fault = { code: "limit", message: `${QUEUE_LIMIT} prompts wait already; this one was refused`, retryable: true };
    await this.#emit({ type: "reply", to: op.type, status: "error", fault, session: op.session, parent: op.id });
  }

  async #launch(launch: Launch): Promise<void> {
    let transport: Transport;
    try {
      transport = await this.#dial(launch);
    } catch (error) {
      const { message } = toFault(error);
      return this.#ended({ code: null, reason: message });
    }
    this.#transport = transport;
    this.#reading = this.#read(transport);
  }

  async #read(transport: Transport): Promise<void> {
    for await (const frame of transport.frames) await this.#take(this.#side.read(frame));
    // Its output has ended, so it has nothing more to say: an agent that lingers is ended.
    transport.close("term");
    await this.#ended(await transport.closed);
  }

  async #ended(closed: Closed): Promise<void> {
    await this.#take(this.#side.end(closed));
    if (this.#dialect.lifetime === "turn") return;
    this.#over = true;
    this.#deadlines.clear();
    this.#gone(closed);
  }

  async #take(step: Step<Event>): Promise<void> {
    for (const out of step.out) {
      if ("rec" in out) await this.#transport?.write([out.rec]);
      else if ("launch" in out) await this.#launch(out.launch);
      else if ("kill" in out) this.#transport?.close("term");
    }
    for (const event of step.in) await this.#hear(event);
  }

  async #hear(event: Event): Promise<void> {
    if (event.type === "turn.started") this.#turnRuns = true;
    this.#deadlines.event(event);
    if (this.#draining) this.#deadlines.denyAll(INPUT_CLOSED);
    const { answer, pass } = this.#grants.event(event);
    if (pass !== undefined) await this.#emit(pass);
    if (answer !== undefined) void this.send({ ...answer, id: sideEnv.stamp().id });
    if (event.type === "turn.ended") this.#turnRuns = false;
    if (event.type === "turn.ended" || isRefusedPrompt(event)) this.#goOn();
  }

  #goOn(): void {
    this.#asked = Math.max(0, this.#asked - 1);
    const next = this.#waiting.shift();
    if (next !== undefined) void this.send(next);
    this.#leaveWhenIdle();
  }
}

function isRefusedPrompt(event: Event): boolean {
  return event.type === "reply" && event.to === "turn.prompt" && event.status === "error";
}
