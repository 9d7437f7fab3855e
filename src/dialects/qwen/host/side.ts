/** The host's end of the wire: an agent that we drive, with as many sessions in one process as there are. */
import { openingGap } from "../../kit/covers.js";
import { runsUnasked } from "../../../core/modes.js";
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Closed, Event, EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { drivenSide } from "../../kit/driven-side.js";
import { isClean } from "../../kit/exit-message.js";
import { refused, warning } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { coverage } from "../coverage.js";
import { hostedSession, hostState, startTurn, type HostedSession } from "./state.js";
import { readEvent } from "./read-events.js";
import { endTurn } from "./read-turns.js";
import { asksFor, decided, heartbeat, isUnnamed, writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return drivenSide({
    open: opened,
    read(rec) {
      const step = readEvent(rec, state);
      return state.refused === undefined ? together(answered(step), named()) : step;
    },
    write: (op) => writeOp(op, state, env),
    isReady: () => state.isGreeted,
    onReady: () => ({ in: [...state.sessions.values()].flatMap(ready), out: [] }),
    refusal: () => state.refused,
    takeOpens() {
      const opens = [...state.sessions.values()].map(({ handle: session, opener: op }) => ({ session, op }));
      state.sessions.clear();
      return opens;
    },
    end: ended,
  });

  // --- opening ---

  /** The wire has no line for it: a session begins with its first prompt. Until the agent has greeted nobody knows whether there is one. */
  function opened(op: OpOf<"session.open">): Step<Event> {
    const { config = {} } = op;
    const problem = problemOf(op);
    if (problem !== undefined) return refused(op, problem);
    if (state.sessions.has(op.session)) return refused(op, `There is a session '${op.session}' already`, "session");
    const isFirst = state.sessions.size === 0;
    const session = hostedSession(op);
    if (isFirst) state.cwd = config.cwd;
    state.sessions.set(op.session, session);
    if (session.isNew && state.firstId !== undefined) {
      session.id = state.firstId;
      state.firstId = undefined;
    }
    if (state.isGreeted) return { in: ready(session), out: [] };
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

  /** Prompts of a session that has its name now. */
  function named(): Step<Event> {
    const sessions = [...state.sessions.values()].filter((session) => session.waiting.length > 0 && !isUnnamed(session));
    const ops = sessions.flatMap((session) => (session.isNew ? session.waiting.splice(0, 1) : session.waiting.splice(0)));
    return ops.map((op) => writeOp(op, state, env)).reduce(together<Event>, NOTHING);
  }

  // --- events ---

  /** The wire cannot set a mode: questions that the mode answers are answered here. */
  function answered(step: Step<Event>): Step<Event> {
    const heard = step.in.map((event): Step<Event> =>
      event.type === "approval.requested" ? decidedHere(event) : { in: [event], out: [] },
    );
    return heard.reduce(together<Event>, { in: [], out: step.out });
  }

  function decidedHere(event: EventOf<"approval.requested">): Step<Event> {
    const session = state.sessions.get(event.session ?? "");
    const open = event.calls.filter((call) => !runsUnasked(session?.config.mode, call.category));
    const steps = [...state.questions].flatMap(([id, question]) => {
      const meant = event.calls.find((call) => session !== undefined && asksFor(question, session, call.id) && !open.includes(call));
      return meant === undefined ? [] : [decided({ call: meant.id, decision: "allow" }, id, question, state)];
    });
    return steps.reduce(together<Event>, { in: open.length === 0 ? [] : [{ ...event, calls: open }], out: [] });
  }

  // --- the end ---

  function ended(closed: Closed, fault: Fault): Event[] {
    const sessions = [...state.sessions.values()];
    const begun = sessions.flatMap((session) => {
      const [next] = session.running === undefined ? session.prompts : [];
      return next === undefined ? [] : startTurn(next, session);
    });
    const turns = sessions.flatMap((session) => lastTurn(session, fault));
    // Where a turn ran, the error is the turn's.
    const isNews = turns.length === 0 && (!isClean(closed) || state.refused !== undefined);
    const over = [...state.sessions.keys()].map((session): Event => ({ type: "session.ended", session }));
    return [...begun, ...turns, ...(isNews ? [{ type: "error", fault } as const] : []), ...over];
  }

  /** An agent that was told to stop may have left instead. */
  function lastTurn(session: HostedSession, fault: Fault): Event[] {
    const { running } = session;
    if (running === undefined) return [];
    running.isCancelled ||= state.cancels.some(({ promptId }) => promptId === running.prompt.promptId);
    if (running.isCancelled) return endTurn(running, session, state);
    return running.told.close({ outcome: "failed", reason: fault.message, fault });
  }
}

function warnings(config: SessionConfig, session: string): Event[] {
  const { warning: unsaid } = openingGap("Qwen", config, coverage["session.open"]);
  const isOthers = Object.values(config.mcpServers ?? {}).some(({ type }) => type !== "host");
  const servers = "MCP servers that are not its host's";
  const text = unsaid === undefined ? `Qwen cannot be told ${servers}` : isOthers ? `${unsaid}, ${servers}` : unsaid;
  return unsaid === undefined && !isOthers ? [] : [warning(text, session, "qwen")];
}
