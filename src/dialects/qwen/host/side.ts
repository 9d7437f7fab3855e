/** The host's side of the wire: one agent process with any number of sessions. */
import { runsUnasked } from "../../../core/modes.js";
import type { Fault } from "../../../core/errors.js";
import type { Closed, Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { drivenSide } from "../../kit/driven-side.js";
import { isClean } from "../../kit/exit-message.js";
import { NOTHING, together } from "../../kit/step.js";
import { hostState, startTurn, type HostedSession } from "./state.js";
import { openOp, ready } from "./open.js";
import { readEvent } from "./read-events.js";
import { endTurn } from "./read-turns.js";
import { asksFor, decided, isUnnamed, writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return drivenSide({
    open: (op) => openOp(op, state),
    read(rec) {
      const step = readEvent(rec, state);
      return state.refused === undefined ? together(answered(step), named()) : step;
    },
    write: (op) => writeOp(op, state, env),
    isReady: () => state.isGreeted,
    onReady: () => ({ in: [...state.sessions.values()].flatMap((session) => ready(session, state)), out: [] }),
    refusal: () => state.refused,
    takeOpens() {
      const opens = [...state.sessions.values()].map(({ handle: session, opener: op }) => ({ session, op }));
      state.sessions.clear();
      return opens;
    },
    end: ended,
  });

  /** Prompts of a session that has its name now. */
  function named(): Step<Event> {
    const sessions = [...state.sessions.values()].filter((session) => session.waiting.length > 0 && !isUnnamed(session));
    const ops = sessions.flatMap((session) => (session.isNew ? session.waiting.splice(0, 1) : session.waiting.splice(0)));
    return ops.map((op) => writeOp(op, state, env)).reduce(together<Event>, NOTHING);
  }

  // --- events ---

  /** The wire has no modes: our side answers the questions that the mode decides. */
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
    // The error belongs to the turn if one ran.
    const isNews = turns.length === 0 && (!isClean(closed) || state.refused !== undefined);
    const over = [...state.sessions.keys()].map((session): Event => ({ type: "session.ended", session }));
    return [...begun, ...turns, ...(isNews ? [{ type: "error", fault } as const] : []), ...over];
  }

  /** An exit after an interrupt is the interrupt's end. */
  function lastTurn(session: HostedSession, fault: Fault): Event[] {
    const { running } = session;
    if (running === undefined) return [];
    running.isCancelled ||= state.cancels.some(({ promptId }) => promptId === running.prompt.promptId);
    if (running.isCancelled) return endTurn(running, session, state);
    return running.reader.close({ outcome: "failed", reason: fault.message, fault });
  }
}
