/** The agent's side of the wire: sessions that follow one another on one connection, and operations held while one begins. */
import type { SessionConfig } from "../../../core/config.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import { roughSize } from "../../../core/queue.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { append, NOTHING, together } from "../../kit/step.js";
import { replyVariants, resumeFailure, storedNames } from "./answers.js";
import { Envelopes } from "./envelopes.js";
import { wireId } from "../wire/ids.js";
import { readOperation, type Refusal } from "./operations.js";
import { opsOf, resumption } from "./read-ops.js";
import { agentState, type ClientSession, type Opening, type Operation } from "./state.js";
import { initialized, looseVariants, refreshed, tagged, variantsOf, type Tagged } from "./write-events.js";

/** The most records of an earlier run that a resumed session shows. */
const REPLAYED = 200;
/** The most held operations, and their total size. */
const HELD_BYTES = 32 * 1024 * 1024;

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState();
  const envelopes = new Envelopes(env);
  return agentSideOf(
    {
      launch({ cwd, open }) {
        state.cwd = cwd;
        state.defaults = open?.config ?? {};
        return NOTHING;
      },
      read(rec) {
        const operation = readOperation(rec);
        if ("problem" in operation) return refused(operation);
        return isOpening() ? waits(operation) : meant(operation);
      },
      bad: (problem) => refused({ problem }),
      write: written,
      isOver: () => state.isOver,
      isHolding: () => state.held.length > 0,
    },
    env,
  );

  // --- operations ---

  function isOpening(): boolean {
    return state.opening !== undefined || state.next !== undefined;
  }

  /** Operations after an opening wait for its outcome; operations for the running turn reach it at once. */
  function waits(operation: Operation): Step<Op> {
    switch (operation.name) {
      case "ApprovalResponse":
        return state.live === undefined ? hold(operation) : meant(operation);
      case "Interrupt":
        // An Interrupt also drops the operations before it. A session that is being replaced is interrupted already.
        return together(
          state.live === undefined || state.next !== undefined ? NOTHING : meant(operation),
          state.held.length === 0 ? NOTHING : hold(operation),
        );
      case "Shutdown":
        return state.held.length === 0 ? meant(operation) : leaveLater(operation);
      default:
        return hold(operation);
    }
  }

  function leaveLater(operation: Operation): Step<Op> {
    const held = hold(operation);
    return held === NOTHING ? { ...NOTHING, waits: true } : held;
  }

  function hold(operation: Operation): Step<Op> {
    const bytes = roughSize(operation);
    if (state.heldBytes + bytes > HELD_BYTES)
      return refused({ problem: `${operation.name}: more than ${HELD_BYTES} bytes wait for a session already`, id: operation.id });
    state.held.push(operation);
    state.heldBytes += bytes;
    return NOTHING;
  }

  function meant(operation: Operation): Step<Op> {
    const ops = opsOf(operation, state, env);
    return "problem" in ops ? refused(ops) : { in: ops, out: [] };
  }

  /** Real clients give up a running turn at an Error, so a harmless problem is an Info. */
  function refused({ problem, id, isHarmless }: Refusal): Step<Op> {
    return { in: [], out: lines([envelopes.own(tagged(isHarmless === true ? "Info" : "Error", problem), id)]) };
  }

  /** Releases the held operations after the outcome of an opening, up to the next opening. */
  function released(): Step<Op> {
    const step: Step<Op> = { in: [], out: [] };
    let count = 0;
    for (const next of state.held) {
      if (isOpening()) break;
      append(step, meant(next));
      state.heldBytes -= roughSize(next);
      count++;
    }
    // One splice removes all of them, as there may be many.
    state.held.splice(0, count);
    return step;
  }

  // --- events ---

  function written(event: Event): Step<Op> {
    switch (event.type) {
      case "session.ready":
        return onReady(event);
      case "session.ended":
        return onEnded(event);
      case "reply":
        return onReply(event);
      case "closed":
        return onClosed(event);
      default:
        return told(event);
    }
  }

  /** The exit of an agent with a reason is reported. */
  function onClosed(event: EventOf<"closed">): Step<Op> {
    state.isOver = true;
    const last: Tagged[] = event.reason === undefined ? [] : [tagged("Error", event.reason)];
    return said({ ...event, parent: state.leaver }, [...last, "Goodbye"]);
  }

  /** The end of the earlier session comes before SessionStart. */
  function onReady(event: EventOf<"session.ready">): Step<Op> {
    const session = clientSession(event, { ...(state.cwd !== undefined && { cwd: state.cwd }), ...state.opening?.config });
    session.waiting.push(event, ...(state.opening?.early ?? []));
    state.opening = undefined;
    if (state.live === undefined) return together(begin(session), released());
    state.next = session;
    return { in: [{ type: "session.close", id: env.stamp().id, session: state.live.handle }], out: [] };
  }

  function onEnded(event: EventOf<"session.ended">): Step<Op> {
    const { live, next } = state;
    if (live === undefined || live.handle !== event.session) return told(event);
    const before = live.isTold ? NOTHING : firstCatalogue(noCatalogue(live), live);
    const end = said({ ...event, parent: next?.opener ?? state.opening?.op ?? state.leaver }, ["SessionEnd"]);
    state.live = state.next = undefined;
    const after = next === undefined ? again() : together(begin(next), released());
    return [before, end, after].reduce(together);
  }

  function begin(session: ClientSession): Step<Op> {
    state.live = session;
    const [ready, ...waiting] = session.waiting.splice(0);
    if (ready?.type !== "session.ready") return each(waiting);
    const start = said(ready, [tagged("SessionStart", initialized(ready, session))]);
    // An agent without the catalogue capability may never send a catalogue, and the client must not wait for one.
    const empty = ready.capabilities?.["catalog"] === true ? NOTHING : firstCatalogue(noCatalogue(session), session);
    return [start, empty, each(waiting)].reduce(together);
  }

  /** Events before the first ExtensionRefreshed wait for it; replayed events follow it. */
  function told(event: Event): Step<Op> {
    if (event.session === undefined) return said(event, looseVariants(event));
    const session = state.live?.handle === event.session ? state.live : state.next?.handle === event.session ? state.next : undefined;
    if (session === undefined) {
      if (state.opening?.handle === event.session) state.opening.early.push(event);
      return NOTHING;
    }
    if (session !== state.live) return later(event, session);
    if (event.replay === true) return replayed(event, session);
    if (session.isTold) return { in: denied(event, session), out: lines(envelopes.live(event, variantsOf(event, session))) };
    return event.type === "catalog.updated" ? firstCatalogue(event, session) : later(event, session);
  }

  function later(event: Event, session: ClientSession): Step<Op> {
    session.waiting.push(event);
    return NOTHING;
  }

  function firstCatalogue(event: EventOf<"catalog.updated">, session: ClientSession): Step<Op> {
    session.isTold = true;
    // The catalogue belongs to the beginning, and the held events are older than it: times must not go backwards.
    const head = { ...event, parent: session.opener, at: session.begunAt ?? event.at };
    const first = said(head, [refreshed({ ...event, mcpServers: [] }, session)]);
    const again = session.replayLeft > 0 ? [] : lines(session.replayed.splice(0));
    // A second catalogue follows at once if every server is known already.
    const second = event.whole ? said(head, [refreshed(event, session)]) : NOTHING;
    const rest = session.replayLeft > 0 ? NOTHING : each(session.waiting.splice(0));
    return [first, { in: [], out: again }, second, rest].reduce(together);
  }

  /**
   * Without a parent a client would take a replayed event for a live one. Agents that do not remember their prompts tell only the turn, which then
   * stands for the operation that began it; events outside a turn are left out.
   */
  function replayed(event: Event, session: ClientSession): Step<Op> {
    const parent = event.parent ?? event.turn;
    const past = parent === undefined ? [] : envelopes.replayed({ ...event, parent }, variantsOf(event, session));
    session.replayed.push(...past);
    if (session.replayed.length > REPLAYED) session.replayed.splice(0, session.replayed.length - REPLAYED);
    session.replayLeft--;
    if (session.replayLeft > 0) return NOTHING;
    return session.isTold ? together({ in: [], out: lines(session.replayed.splice(0)) }, each(session.waiting.splice(0))) : NOTHING;
  }

  /** The policy `Deny`: calls that need an approval are denied, and the turn goes on. */
  function denied(event: Event, session: ClientSession): Op[] {
    if (event.type !== "approval.requested" || !session.denies) return [];
    const answers = event.calls.map(({ id }) => ({ call: id, decision: "deny" as const, reason: "denied by the session's policy" }));
    return [{ type: "approval.answer", id: env.stamp().id, session: session.handle, answers }];
  }

  function onReply(event: EventOf<"reply">): Step<Op> {
    const { opening } = state;
    if (opening?.asks !== undefined && opening.asks === event.parent) return beginAgain(event, opening);
    if (opening?.closes !== undefined && opening.closes === event.parent && event.status === "error")
      return notAgain(event.fault?.message ?? "the session could not be ended", opening);
    if (event.to !== "session.open" || opening === undefined || opening.op !== event.parent) return said(event, replyVariants(event));
    state.opening = undefined;
    const early = opening.early.map((told) => said(told, looseVariants(told)));
    const failure = event.fault?.message ?? "The session could not be opened";
    const answer = said(event, [tagged("Error", opening.resumes ? resumeFailure(failure) : failure)]);
    return [...early, answer, released()].reduce(together);
  }

  /** Ends the live session before it is resumed, as two cannot hold it; not if its log is gone. An agent that cannot list sessions is trusted. */
  function beginAgain(list: EventOf<"reply">, opening: Opening): Step<Op> {
    if (storedNames(list)?.includes(opening.handle) === false)
      return notAgain("the log of this session was not found, so it goes on as it is", opening);
    delete opening.asks;
    opening.closes = env.stamp().id;
    return { in: [{ type: "session.close", id: opening.closes, session: state.live?.handle }], out: [] };
  }

  function notAgain(why: string, { op }: Opening): Step<Op> {
    state.opening = undefined;
    return together(refused({ problem: resumeFailure(why), id: op }), released());
  }

  /** The session could not be resumed while it was live. */
  function again(): Step<Op> {
    const { opening } = state;
    if (opening?.closes === undefined) return NOTHING;
    delete opening.closes;
    return { in: [resumption(opening.handle, opening.op)], out: [] };
  }

  function each(events: readonly Event[]): Step<Op> {
    const step: Step<Op> = { in: [], out: [] };
    for (const event of events) append(step, written(event));
    return step;
  }

  function said(event: Event, variants: readonly Tagged[]): Step<Op> {
    return { in: [], out: lines(envelopes.live(event, variants)) };
  }
}

function clientSession(event: EventOf<"session.ready">, asked: SessionConfig): ClientSession {
  const { session = "", sessionId = session, parent, at, replay } = event;
  const config = { ...asked, ...event.config };
  return {
    handle: session,
    id: wireId("ses", sessionId),
    isKept: event.sessionId !== undefined,
    opener: parent,
    begunAt: at,
    turn: undefined,
    config,
    streams: config.streaming !== false,
    denies: "policy" in config && config.policy === "Deny",
    isTold: false,
    waiting: [],
    replayLeft: typeof replay === "number" ? replay : 0,
    replayed: [],
    usage: undefined,
    isCounted: false,
    calls: new Map(),
    shown: new Set(),
    updates: new Map(),
    blocks: new Set(),
  };
}

function noCatalogue({ handle }: ClientSession): EventOf<"catalog.updated"> {
  return { type: "catalog.updated", session: handle, whole: false };
}

function lines(recs: readonly unknown[]): Out[] {
  return recs.map((rec) => ({ rec }));
}
