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

export interface ServeOptions {
  /** How the host started us, as far as that is known; it is what opens the session where a process is one. */
  launch?: Launch;
  /** The answer to an approval where the host's wire has none. */
  unheard?: "allow" | "deny";
  /** Hears words for people that the wire has no place for. */
  onLog?(text: string): void;
  /** A sign of life every so many seconds, where the dialect has one. */
  beatSeconds?: number | undefined;
  /** The host says in so many words that all shall end; the end of its input and its leaving are no such words. */
  onShutdown?(): void;
}

/** Resolves when the agent has closed and all that it said is written. The end of input drains; a broken output stops at once. */
export async function serve(agent: Agent, dialect: Dialect, transport: Transport, options: ServeOptions = {}): Promise<Closed> {
  const side = dialect.agentSide(sideEnv);
  let exit: Closed | undefined;
  let last: Closed = {};
  let unreadAnswers = 0;
  let over = false;
  /** The host has said that all shall end, and the dialect will pass that on when its turn comes. */
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

  /** Nothing of the agent stays behind, whichever side breaks. */
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

  /** A host that does not read hears one sign of life when it reads again, and not all that it missed. */
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

  /** Control is always read: answers to it may pile up behind a slow host, so many and no more. */
  async function answered(written: Promise<void>): Promise<void> {
    unreadAnswers++;
    const settled = written.then(() => {
      unreadAnswers--;
    });
    if (unreadAnswers >= CONTROL_LIMIT) await settled;
  }

  /** A promise only when there is something to wait for: a delta costs no more than it must. */
  function tell(event: Event): Promise<void> | undefined {
    if (event.type === "closed") last = closedOf(event);
    const answer = eventGap(dialect.coverage, event, options.unheard ?? "deny");
    const step = answer === undefined && isQuestion(event) ? ask(event) : side.write(event);
    const full = put(step);
    if (HANDS_OVER.has(event.type)) transport.flush?.();
    if (step.in.length === 0 && answer === undefined) return full;
    return told(full, answer === undefined ? step.in : [...step.in, answer]);
  }

  /** The link's own answer goes to the agent before the host hears of the question. */
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

/** It is the host's turn now: nothing of ours follows soon. */
const HANDS_OVER: ReadonlySet<EventType> = new Set(["turn.ended", "approval.requested", "host.request"]);

function shutdown(when: "now" | "drained"): Op {
  return { type: "shutdown", when, id: sideEnv.stamp().id };
}

function closedOf({ code, signal, timedOut, reason }: Closed): Closed {
  return { code, signal, timedOut, reason };
}
