/** The work of a driven agent: the prompts sent to it, its running turn, and the prompts that wait here. */
import { becamePrompt } from "../core/command.js";
import type { Event, EventOf } from "../core/event.js";
import { QUEUE_LIMIT } from "../core/limits.js";
import type { Op, OpOf } from "../core/op.js";
import { refusal } from "./unanswered.js";

type Prompt = OpOf<"turn.prompt">;

interface Work {
  /** Ids of prompts that were sent and have not ended, oldest first. */
  sent: string[];
  /** The running turn, with the prompt that began it if the wire tells it. */
  turn: { prompt: string | undefined } | undefined;
  waiting: Prompt[];
  /** Waiting prompts that an interrupt named. */
  cancelled: Set<Prompt>;
  /** The op that opens the session, until the session is ready. */
  opener: string | undefined;
}

/** The next step: a prompt to send, or the events of a turn that was interrupted before it began. */
export type Release = { send: Prompt } | { tell: Event[] };

export class Turns {
  readonly #sessions = new Map<string, Work>();

  open(op: OpOf<"session.open">): void {
    if (!this.#sessions.has(op.session ?? "")) this.#at(op.session).opener = op.id;
  }

  /** Whether a turn runs or is about to. */
  runs(op: Op): boolean {
    return isBusy(this.#of(op));
  }

  sent(op: Prompt): void {
    this.#of(op).sent.push(op.id ?? "");
  }

  /** Returns false if too many prompts wait. */
  hold(op: Prompt): boolean {
    const { waiting } = this.#of(op);
    return waiting.length < QUEUE_LIMIT && waiting.push(op) > 0;
  }

  /** Whether a prompt must wait behind others. */
  waits(op: Op): boolean {
    return this.#of(op).waiting.length > 0;
  }

  /** Marks a waiting prompt that the interrupt names; false if it names none. */
  cancel(op: OpOf<"turn.interrupt">): boolean {
    if (op.turn === undefined) return false;
    const work = this.#of(op);
    const named = work.waiting.find((prompt) => prompt.turn === op.turn);
    if (named !== undefined) work.cancelled.add(named);
    return named !== undefined;
  }

  /** Call it with every event in order; returns the steps that the end of a turn makes possible. */
  event(event: Event): Release | undefined {
    if (event.replay === true) return undefined;
    switch (event.type) {
      case "session.ready":
        this.#at(event.session).opener = undefined;
        return undefined;
      case "session.ended":
        this.#sessions.delete(event.session ?? "");
        return undefined;
      case "turn.started":
        this.#at(event.session).turn = { prompt: event.parent };
        return undefined;
      case "turn.ended":
        return this.#turnEnded(event);
      case "reply":
        return this.#replied(event);
      case "session.updated":
      case "session.changed":
      case "closed":
      case "text.delta":
      case "text.done":
      case "thinking.delta":
      case "thinking.done":
      case "user.message":
      case "tool.requested":
      case "tool.delta":
      case "tool.started":
      case "tool.progress":
      case "tool.ended":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "compaction":
      case "notice":
      case "catalog.updated":
      case "error":
      case "other":
        return undefined;
      default:
        event satisfies never;
        return undefined;
    }
  }

  #turnEnded(event: EventOf<"turn.ended">): Release | undefined {
    const work = this.#at(event.session);
    // If the wire does not tell which prompt a turn answers, it is the oldest.
    const prompt = event.parent ?? work.sent[0];
    work.sent = work.sent.filter((id) => id !== prompt);
    work.turn = undefined;
    return release(work);
  }

  /** Removes a prompt that was refused or needed no turn. */
  #replied(event: EventOf<"reply">): Release | undefined {
    if (event.to === "session.open" && event.status === "error") this.#refused(event.parent);
    const work = [...this.#sessions.values()].find(({ sent }) => event.parent !== undefined && sent.includes(event.parent));
    if (work === undefined || work.turn?.prompt === event.parent || becamePrompt(event.data)) return undefined;
    work.sent = work.sent.filter((id) => id !== event.parent);
    return release(work);
  }

  #refused(opener: string | undefined): void {
    if (opener === undefined) return;
    for (const [session, work] of this.#sessions) if (work.opener === opener && !isBusy(work)) this.#sessions.delete(session);
  }

  /** Whether a turn runs in any session. */
  get running(): boolean {
    return [...this.#sessions.values()].some((work) => work.turn !== undefined);
  }

  /** The sessions with a running turn. */
  get busy(): string[] {
    return [...this.#sessions].flatMap(([session, work]) => (work.turn === undefined ? [] : [session]));
  }

  /** Whether no turn runs and no prompt waits. */
  get idle(): boolean {
    return [...this.#sessions.values()].every((work) => !isBusy(work) && work.waiting.length === 0);
  }

  /** An op without a session is for the only session. */
  #of(op: Op): Work {
    const only = op.session === undefined && this.#sessions.size === 1 ? this.#sessions.keys().next().value : undefined;
    return this.#at(op.session ?? only);
  }

  #at(session: string | undefined): Work {
    const key = session ?? "";
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    const work: Work = { sent: [], turn: undefined, waiting: [], cancelled: new Set(), opener: undefined };
    this.#sessions.set(key, work);
    return work;
  }
}

function isBusy(work: Work): boolean {
  return work.turn !== undefined || work.sent.length > 0;
}

function release(work: Work): Release | undefined {
  if (isBusy(work)) return undefined;
  const next = work.waiting.shift();
  if (next === undefined) return undefined;
  if (!work.cancelled.delete(next)) return { send: next };
  const address = { session: next.session, turn: next.turn, parent: next.id };
  // No turn runs in a session that was refused.
  if (work.opener !== undefined)
    return { tell: [refusal(next, { code: "session", message: "Interrupted before it began", retryable: true })] };
  return {
    tell: [
      { type: "turn.started", ...address },
      { type: "turn.ended", ...address, outcome: "interrupted", reason: "interrupted before it began" },
    ],
  };
}
