/** The host's end of the wire: a process that we drive as the SDK does, one session each. */
import type { Fault } from "../../../core/errors.js";
import type { Closed, Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { badLine } from "../../kit/bad-line.js";
import { exitMessage, isClean } from "../../kit/exit-message.js";
import { refused, refuseHeld } from "../../kit/refuse.js";
import { NOTHING, together } from "../../kit/step.js";
import { openOp } from "./open.js";
import { hostState, startTurn } from "./state.js";
import { readEvent } from "./read-events.js";
import { endTurn, stoppedEnd } from "./read-turns.js";
import { writeOp } from "./write-ops.js";

/** Of the process: it reached the most turns, calls or seconds that it was given. */
const LIMITS: ReadonlySet<number> = new Set([53, 55]);

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return {
    read(frame) {
      if ("launch" in frame) return NOTHING;
      if ("bad" in frame) return { in: [badLine(frame, state.session)], out: [] };
      const wasReady = state.isReady;
      const { in: heard, out } = readEvent(frame.rec, state, env);
      const step = { in: state.work.followed(heard), out };
      if (!state.isReady && state.refused !== undefined && !wasReady)
        return { in: [...step.in, ...refuse(state.refused)], out: [{ kill: true }] };
      return !wasReady && state.isReady ? together(step, released()) : step;
    },
    write(op) {
      if (op.type === "session.open") return openOp(op, state, env);
      if (state.isReady) return written(op);
      state.held.push(op);
      return NOTHING;
    },
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  /** What waited for the handshake. */
  function released(): Step<Event> {
    return state.held
      .splice(0)
      .map((op) => written(op))
      .reduce(together, NOTHING);
  }

  function written(op: Op): Step<Event> {
    const step = writeOp(op, state, env);
    return { in: state.work.followed(step.in), out: step.out };
  }

  /** Before it was ready its end answers the open and all that waited for it; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const code = LIMITS.has(closed.code ?? 0) ? "limit" : "launch";
    const fault: Fault = { code, message: exitMessage(closed), retryable: code === "launch" };
    if (!state.isReady) return refuse(state.refused ?? fault);
    const [next] = state.running === undefined ? state.prompts.splice(0) : [];
    const begun = next === undefined ? [] : startTurn(next, state);
    // An older one leaves when it is told to stop.
    const { running } = state;
    const isTold = [...state.asked.values()].some((asked) => asked.for === "interrupt");
    const stopped =
      running !== undefined && (running.isInterrupted || isTold) ? endTurn(running, state, stoppedEnd(running, "interrupted")) : [];
    // Where a turn runs, the error is the turn's.
    const isNews = running === undefined && !isClean(closed);
    const alone: Event[] = isNews ? [{ type: "error", session: state.session, fault }] : [];
    return [...state.work.followed([...begun, ...stopped]), ...alone, ...state.work.close(fault)];
  }

  function refuse(fault: Fault): Event[] {
    const { session, opener } = state;
    state.opener = undefined;
    const open = opener === undefined ? [] : [refused("session.open", session, opener, fault)];
    return [...open, ...refuseHeld(state.held, fault, session)];
  }
}
