/** A recorded agent plays again: an `Agent` that says what was recorded, and waits where the recording waited for its host. */
import type { Agent } from "../../core/agent.js";
import type { Closed, Event } from "../../core/event.js";
import { EVENT_BYTES, EVENT_WEIGHT } from "../../core/limits.js";
import type { Op, OpOf } from "../../core/op.js";
import { Queue, roughSize } from "../../core/queue.js";
import type { Tape } from "../tape/tape.js";
import type { Pace } from "./pace.js";
import { SessionPlayer, type Recorded } from "./session-player.js";

export interface ReplayOptions {
  pace: Pace;
  /** The replay ends when the host says something else than in the recording. */
  isStrict: boolean;
  /** Hears each difference, with the line of the tape. */
  onDifference(line: number, what: string): void;
}

/** The exit code of a replay that ended at a difference. */
const DIFFERENT = 3;

export function replay(tape: Tape, { pace, isStrict, onDifference }: ReplayOptions): Agent {
  const events = new Queue<Event>(EVENT_BYTES, (event) => Math.max(EVENT_WEIGHT, roughSize(event)));
  const scripts = scriptsOf(tape);
  const players = new Map<string, SessionPlayer>();
  const running = new Set<Promise<void>>();
  const over = new AbortController();
  const lastAt = tape.items.at(-1)?.at ?? 0;
  let ending: Promise<void> | undefined;

  return { send, events, close: () => end({}) };

  async function send(op: Op): Promise<void> {
    if (op.type === "shutdown") return shutDown(op);
    if (op.type === "session.open") return open(op);
    const player = players.get(op.session ?? "") ?? (players.size === 1 ? [...players.values()][0] : undefined);
    if (player !== undefined) player.take(op);
    else if (op.type === "ping" || op.type === "session.list") await reply(op, "ok", { sessions: [], stored: [] });
    else await reply(op, "error");
  }

  async function open(op: OpOf<"session.open">): Promise<void> {
    const script = scripts.shift();
    if (script === undefined) {
      onDifference(tape.items.at(-1)?.n ?? 0, "the host opens one session more than the recording has");
      return reply(op, "error");
    }
    const player = new SessionPlayer(script, op, {
      pace,
      signal: over.signal,
      emit: (event) => events.push(event),
      differs(line, what) {
        onDifference(line, what);
        if (isStrict) void end({ code: DIFFERENT });
      },
    });
    players.set(op.session, player);
    const played = player.play().finally(() => {
      running.delete(played);
      players.delete(op.session);
    });
    running.add(played);
  }

  async function reply(op: Op, status: "ok" | "error", data?: unknown): Promise<void> {
    const address = { ...(op.id !== undefined && { parent: op.id }), ...(op.session !== undefined && { session: op.session }) };
    const message = `The recording has no session for ${op.type}`;
    const answer = status === "ok" ? { data } : { fault: { code: "session", message, retryable: false } };
    await events.pushControl({ type: "reply", to: op.type, status, ...address, ...answer, at: lastAt, seq: 0 });
  }

  async function shutDown({ when }: OpOf<"shutdown">): Promise<void> {
    if (when === "drained") {
      for (const player of players.values()) player.drain();
      await Promise.all(running);
    }
    await end({ code: 0 });
  }

  function end(how: Closed): Promise<void> {
    ending ??= (async () => {
      over.abort();
      await Promise.all(running);
      events.unbound();
      await events.push({ type: "closed", ...how, at: lastAt, seq: 0 });
      events.end();
    })();
    return ending;
  }
}

/** The ops and events of each recorded session, in the order in which the sessions were opened. */
function scriptsOf({ items }: Tape): Recorded[][] {
  const scripts = new Map<string, Recorded[]>();
  for (const item of items) {
    if (item.kind !== "op" && item.kind !== "event") continue;
    const said = item.kind === "op" ? item.op : item.event;
    if (item.kind === "op" && said.type === "session.open") scripts.set(said.session ?? "", [item]);
    else scripts.get(said.session ?? (scripts.size === 1 ? [...scripts.keys()][0] : undefined) ?? "")?.push(item);
  }
  return [...scripts.values()].map(inCausalOrder);
}

/**
 * A host may have written ahead of its agent, and one that waits for more must not be waited for: each prompt stands right before its first
 * event, and what the agent has around its session right behind the session's beginning.
 */
function inCausalOrder(script: readonly Recorded[]): Recorded[] {
  const isEarly = (item: Recorded): boolean => item.kind === "event" && item.event.type === "catalog.updated" && item.event.replay !== true;
  const ready = script.findIndex((item) => item.kind === "event" && item.event.type === "session.ready");
  const rest = script.filter((item, at) => at > ready && !isEarly(item) && !(item.kind === "event" && item.event.type === "closed"));
  const all = [...script.slice(0, ready + 1), ...script.filter((item, at) => at > ready && isEarly(item)), ...rest];
  const prompts = all.flatMap((item) => (item.kind === "op" && item.op.type === "turn.prompt" ? [{ item, op: item.op }] : []));
  for (const { item, op } of prompts) {
    const first = all.findIndex(({ kind, ...said }) => kind === "event" && "event" in said && isCausedBy(said.event, op));
    const at = all.indexOf(item);
    if (first > at) all.splice(first - 1, 0, ...all.splice(at, 1));
  }
  return all;
}

function isCausedBy({ parent, turn }: Event, op: OpOf<"turn.prompt">): boolean {
  return (parent !== undefined && parent === op.id) || (turn !== undefined && turn === op.turn);
}
