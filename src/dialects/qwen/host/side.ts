/** The host's end of the wire: an agent that we drive, with as many sessions in one process as there are. */
import { openingGap } from "../../kit/covers.js";
import { runsUnasked } from "../../../core/modes.js";
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Closed, Event, EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { badLine } from "../../kit/bad-line.js";
import { exitMessage, isClean } from "../../kit/exit-message.js";
import { refused, refuseHeld } from "../../kit/refuse.js";
import { NOTHING, together } from "../../kit/step.js";
import { coverage } from "../coverage.js";
import { hostedSession, hostState, startTurn, type HostedSession } from "./state.js";
import { readEvent } from "./read-events.js";
import { endTurn } from "./read-turns.js";
import { asksFor, decided, failed, heartbeat, isUnnamed, warning, writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return {
    read(frame) {
      if ("launch" in frame || state.refused !== undefined) return NOTHING;
      if ("bad" in frame) return { in: [badLine(frame)], out: [] };
      const wasGreeted = state.isGreeted;
      const step = readEvent(frame.rec, state);
      if (state.refused !== undefined) return { in: state.work.followed([...step.in, ...refuseAll(state.refused)]), out: [{ kill: true }] };
      const heard = together(answered(step), named());
      return !wasGreeted && state.isGreeted ? together(heard, released()) : heard;
    },
    write(op) {
      if (op.type === "session.open") return opened(op);
      if (state.isGreeted) return written(op);
      state.held.push(op);
      return NOTHING;
    },
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  // --- opening ---

  /** The wire has no line for it: a session begins with its first prompt. Until the agent has greeted nobody knows whether there is one. */
  function opened(op: OpOf<"session.open">): Step<Event> {
    const { config = {} } = op;
    const problem = problemOf(op);
    if (problem !== undefined) return failed(op, "unsupported", problem);
    if (state.sessions.has(op.session)) return failed(op, "session", `There is a session '${op.session}' already`);
    const isFirst = state.sessions.size === 0;
    const session = hostedSession(op);
    if (isFirst) state.cwd = config.cwd;
    state.sessions.set(op.session, session);
    if (session.isNew && state.firstId !== undefined) {
      session.id = state.firstId;
      state.firstId = undefined;
    }
    if (state.isGreeted) return { in: state.work.followed(ready(session)), out: [] };
    // One that never greets answers this all the same.
    if (!isFirst) return NOTHING;
    state.pings.push(undefined);
    return { in: [], out: [heartbeat(undefined)] };
  }

  /** What keeps the agent from something and cannot be said: without it the agent would do more than was asked for, or elsewhere. */
  function problemOf({ open, sessionId, config = {}, fork }: OpOf<"session.open">): string | undefined {
    if (open !== "new" && sessionId === "latest") return "Qwen has no word for the session last used; ask for it by its name";
    const { refusal } = openingGap("Qwen", config, coverage["session.open"], fork === true ? ["to fork a session"] : []);
    if (refusal !== undefined) return refusal;
    if (state.sessions.size === 0 || config.cwd === undefined || config.cwd === state.cwd) return undefined;
    return `One Qwen process works in one folder, this one in '${state.cwd ?? "that in which it was started"}'; connect another for '${config.cwd}'`;
  }

  function ready(session: HostedSession): Event[] {
    const { handle, opener, id, config } = session;
    const event: EventOf<"session.ready"> = {
      type: "session.ready",
      session: handle,
      ...(opener !== undefined && { parent: opener }),
      ...(id !== undefined && { sessionId: id }),
      ...(state.version !== undefined && { version: state.version }),
      config: { ...(config.model !== undefined && { model: config.model }), ...(config.mode !== undefined && { mode: config.mode }) },
      capabilities: { approvals: true, steering: true, thinking: true, hostTools: true },
    };
    return [event, ...warnings(config, handle)];
  }

  /** It is there: sessions that were asked for are ready, and what waited for them goes out. */
  function released(): Step<Event> {
    const begun: Step<Event> = { in: state.work.followed([...state.sessions.values()].flatMap(ready)), out: [] };
    return state.held
      .splice(0)
      .map((op) => written(op))
      .reduce(together, begun);
  }

  /** Prompts of a session that has its name now. */
  function named(): Step<Event> {
    const sessions = [...state.sessions.values()].filter((session) => session.waiting.length > 0 && !isUnnamed(session));
    const ops = sessions.flatMap((session) => (session.isNew ? session.waiting.splice(0, 1) : session.waiting.splice(0)));
    return ops.map((op) => written(op)).reduce(together, NOTHING);
  }

  // --- events ---

  function written(op: Op): Step<Event> {
    const step = writeOp(op, state, env);
    return { in: state.work.followed(step.in), out: step.out };
  }

  /** The wire cannot set a mode: what it allows is answered here. */
  function answered(step: Step<Event>): Step<Event> {
    const heard = state.work
      .followed(step.in)
      .map((event) => (event.type === "approval.requested" ? decidedHere(event) : { in: [event], out: [] }));
    return heard.reduce(together, { in: [], out: step.out });
  }

  function decidedHere(event: EventOf<"approval.requested">): Step<Event> {
    const session = state.sessions.get(event.session ?? "");
    const open = event.calls.filter((call) => !runsUnasked(session?.config.mode, call.category));
    const steps = [...state.questions].flatMap(([id, question]) => {
      const meant = event.calls.find((call) => session !== undefined && asksFor(question, session, call.id) && !open.includes(call));
      return meant === undefined ? [] : [decided({ call: meant.id, decision: "allow" }, id, question, state)];
    });
    return steps.reduce(together, { in: open.length === 0 ? [] : [{ ...event, calls: open }], out: [] });
  }

  // --- the end ---

  /** It cannot go on, and said why. */
  function refuseAll(fault: Fault): Event[] {
    return state.isGreeted ? [] : refuseOpens(fault);
  }

  function refuseOpens(fault: Fault): Event[] {
    const opens = [...state.sessions.values()].map(({ handle, opener }) => refused("session.open", handle, opener, fault));
    state.sessions.clear();
    return [...opens, ...refuseHeld(state.held, fault)];
  }

  /** One that was told to stop may have left instead. */
  function stoppedTurn(session: HostedSession): Event[] {
    const { running } = session;
    if (running === undefined) return [];
    running.isCancelled ||= state.cancels.some(({ promptId }) => promptId === running.prompt.promptId);
    return running.isCancelled ? endTurn(running, session, state) : [];
  }

  /** Before it greeted its end answers the opens and all that waited for them; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const fault: Fault = state.refused ?? { code: "launch", message: exitMessage(closed), retryable: true };
    if (!state.isGreeted) return refuseOpens(fault);
    const sessions = [...state.sessions.values()];
    const stopped = sessions.flatMap((session) => stoppedTurn(session));
    const begun = sessions.flatMap((session) => {
      const [next] = session.running === undefined ? session.prompts : [];
      return next === undefined ? [] : startTurn(next, session);
    });
    const isIdle = sessions.every(({ running }) => running === undefined) && stopped.length === 0;
    const isNews = isIdle && (!isClean(closed) || state.refused !== undefined);
    const alone: Event[] = isNews ? [{ type: "error", fault }] : [];
    return [...state.work.followed([...stopped, ...begun]), ...alone, ...state.work.close(fault)];
  }
}

function warnings(config: SessionConfig, session: string): Event[] {
  const { warning: unsaid } = openingGap("Qwen", config, coverage["session.open"]);
  const isOthers = Object.values(config.mcpServers ?? {}).some(({ type }) => type !== "host");
  const servers = "MCP servers that are not its host's";
  const text = unsaid === undefined ? `Qwen cannot be told ${servers}` : isOthers ? `${unsaid}, ${servers}` : unsaid;
  return unsaid === undefined && !isOthers ? [] : [warning(text, session)];
}
