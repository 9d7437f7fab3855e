/** The agent side of a wire: any Agent speaks a dialect to the host at the other end. */
import type { Agent } from "../core/agent.js";
import type { Closed, Event, EventType } from "../core/event.js";
import { timerMs } from "../core/limits.js";
import { CONTROL_LIMIT } from "../core/queue.js";
import type { Op } from "../core/op.js";
import type { Launch, Transport } from "../core/wire.js";
import type { Dialect, Step } from "../dialects/dialect.js";
import { fitQuestionToLine, eventGap } from "./gaps.js";
import { sideEnv } from "./stamp.js";

/** How an agent was started, and its limits towards its host. */
export interface ServeOptions {
  /** The launch of our process, if known; it opens the session of a dialect with a process for each session. */
  launch?: Launch;
  /** The answer to approvals for hosts that cannot be asked. */
  unheard?: "allow" | "deny";
  /** Called with texts for people that have no place on the wire. */
  onLog?(text: string): void;
  /** The interval of heartbeats in seconds, if the dialect has any. */
  beatSeconds?: number | undefined;
  /** Called when the host asks for the end in a record; the end of its input or its exit do not count. */
  onShutdown?(): void;
}

/** Resolves when the agent has closed and all its events are written. The end of input drains the agent; a broken output stops it at once. */
export async function serve(agent: Agent, dialect: Dialect, transport: Transport, options: ServeOptions = {}): Promise<Closed> {
  const side = dialect.agentSide(sideEnv);
  let exit: Closed | undefined;
  let last: Closed = {};
  let unreadAnswers = 0;
  let over = false;
  /** The host has asked for the end, and the dialect will send `shutdown` in its turn. */
  let endWaits = false;
  let broke: unknown;

  void transport.closed.then(() => (over ? undefined : agent.send(shutdown("now"))));
  void readOps().catch((error: unknown) => {
    broke = error;
    return agent.close();
  });
  const beating = beat();
  await tellAll();
  clearInterval(beating);
  over = true;
  if (endWaits) options.onShutdown?.();
  transport.close("eof");
  await transport.closed;
  if (broke !== undefined) throw broke;
  return { ...last, ...exit };

  /** The agent is closed whichever side breaks. */
  async function tellAll(): Promise<void> {
    try {
      for await (const event of agent.events) {
        const slow = tell(event);
        if (slow !== undefined) await slow;
      }
    } catch (error) {
      broke ??= error;
      await agent.close();
    }
  }

  /** A host that does not read gets one heartbeat when it reads again, not all that it missed. */
  function beat(): NodeJS.Timeout | undefined {
    if (options.beatSeconds === undefined || side.beat === undefined) return undefined;
    let unread = false;
    return setInterval(() => {
      if (unread) return;
      const full = put(side.beat?.() ?? { in: [], out: [] });
      unread = full !== undefined;
      void full?.then(() => {
        unread = false;
      });
    }, timerMs(options.beatSeconds));
  }

  async function readOps(): Promise<void> {
    await take(side.read({ launch: options.launch ?? { argv: [], env: {} } }));
    for await (const frame of transport.frames) {
      const step = side.read(frame);
      endWaits ||= step.waits === true;
      await take(step);
    }
    const end = side.end({});
    await take(end);
    if (end.waits !== true) await agent.send(shutdown("drained"));
  }

  async function take(step: Step<Op>): Promise<void> {
    const full = put(step);
    if (full !== undefined) await answered(full);
    for (const op of step.in) {
      if (op.type === "shutdown") options.onShutdown?.();
      await agent.send(op);
    }
  }

  /** Control ops are always read: a bounded number of their answers may wait for a slow host. */
  async function answered(written: Promise<void>): Promise<void> {
    unreadAnswers++;
    const settled = written.then(() => {
      unreadAnswers--;
    });
    if (unreadAnswers >= CONTROL_LIMIT) await settled;
  }

  /** Returns a promise only if there is something to wait for, as deltas are frequent. */
  function tell(event: Event): Promise<void> | undefined {
    if (event.type === "closed") last = closedOf(event);
    const answer = eventGap(dialect.coverage, event, options.unheard ?? "deny");
    const step = answer === undefined && isQuestion(event) ? ask(event) : side.write(event);
    const full = put(step);
    if (HANDS_OVER.has(event.type)) transport.flush?.();
    if (step.in.length === 0 && answer === undefined) return full;
    return told(full, answer === undefined ? step.in : [...step.in, answer]);
  }

  /** The link's own answer goes to the agent before the host gets the question. */
  function ask(event: Parameters<typeof fitQuestionToLine>[0]): Step<Op> {
    const asked = fitQuestionToLine(event);
    if (asked.answer !== undefined) void agent.send(asked.answer);
    return asked.told === undefined ? { in: [], out: [] } : side.write(asked.told);
  }

  async function told(full: Promise<void> | undefined, ops: readonly Op[]): Promise<void> {
    await full;
    for (const op of ops) await agent.send(op);
  }

  function leave({ exit: code, reason }: { exit: number; reason?: string }): void {
    exit = { code, ...(reason !== undefined && { reason }) };
    void agent.send(shutdown("now"));
  }

  function put(step: Step<Op>): Promise<void> | undefined {
    let full: Promise<void> | undefined;
    for (const out of step.out) {
      if ("rec" in out) full = transport.write([out.rec]) ?? full;
      else if ("exit" in out) leave(out);
      else if ("log" in out) options.onLog?.(out.log);
    }
    return full;
  }
}

function isQuestion(event: Event): event is Parameters<typeof fitQuestionToLine>[0] {
  return event.type === "approval.requested" || event.type === "host.request";
}

/** The host has to answer now, so no more records follow soon: the transport may flush. */
const HANDS_OVER: ReadonlySet<EventType> = new Set(["turn.ended", "approval.requested", "host.request"]);

function shutdown(when: "now" | "drained"): Op {
  return { type: "shutdown", when, id: sideEnv.stamp().id };
}

function closedOf({ code, signal, timedOut, reason }: Closed): Closed {
  return { code, signal, timedOut, reason };
}
