/** The client's end of the wire: a daemon that we drive, one session a connection. */
import type { Fault } from "../../core/errors.js";
import type { Closed, Event, EventOf } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Side, SideEnv, Step } from "../dialect.js";
import { badLine } from "../kit/bad-line.js";
import { gone, isClean } from "../kit/gone.js";
import { OpenWork } from "../kit/open-work.js";
import { refused, refuseHeld } from "../kit/refused.js";
import { NOTHING, together } from "../kit/steps.js";
import { openOp } from "./launch.js";
import { isUnknownPause, readEvent } from "./read-events.js";
import { hostState } from "./state.js";
import { line, settled, writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState(new OpenWork());
  return {
    read(frame) {
      if ("launch" in frame) return { in: [], out: [] };
      const wasReady = state.ready;
      const events = "bad" in frame ? [badLine(frame, state.session)] : readEvent(frame.rec, state);
      const refusal = state.ready ? undefined : events.find((event) => event.type === "reply");
      if (refusal !== undefined) return { in: [...events, ...refuse(refusal.fault)], out: [{ kill: true }] };
      const step = together(answered(state.work.followed(events)), "rec" in frame ? unpaused(frame.rec) : NOTHING);
      return !wasReady && state.ready ? together(step, released()) : step;
    },
    write(op) {
      if (op.type === "session.open") return openOp(op, state, env);
      if (state.ready || op.type === "shutdown") return written(op);
      state.held.push(op);
      return NOTHING;
    },
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  /** What waited until it was ready. */
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

  /** What the mode allows and the wire's policy asks about is answered here. */
  function answered(events: readonly Event[]): Step<Event> {
    return events.map((event) => (isQuestion(event) ? allowed(event) : { in: [event], out: [] })).reduce(together, NOTHING);
  }

  function allowed(event: EventOf<"approval.requested">): Step<Event> {
    const open = event.calls.filter((call) => !state.allows.has(call.category ?? ""));
    for (const call of event.calls) if (!open.includes(call)) state.pause?.calls.set(call.id, "Accept");
    if (open.length > 0) return { in: [{ ...event, calls: open }], out: [] };
    const step = settled({ type: "approval.answer", id: undefined }, state, env);
    return { in: state.work.followed(step.in), out: step.out };
  }

  /** A turn that waits for what nobody here can say would wait for ever. */
  function unpaused(rec: unknown): Step<Event> {
    if (state.now.turn === undefined || !isUnknownPause(rec)) return NOTHING;
    return { in: [], out: [line("Interrupt", null, { type: "turn.interrupt", id: undefined }, state, env)] };
  }

  /** Before it was ready its end answers the open and all that waited for it; after it, whatever is open is closed. */
  function ended(closed: Closed): Event[] {
    const fault: Fault = { code: "launch", message: gone(closed), retryable: true };
    if (state.ready) {
      // Where a turn runs, the error is the turn's.
      const isNews = state.now.turn === undefined && !isClean(closed);
      const alone: Event[] = isNews ? [{ type: "error", session: state.session, fault }] : [];
      return [...alone, ...state.work.close(fault)];
    }
    const { session, opener } = state;
    const open = opener === undefined ? [] : [refused("session.open", session, opener, fault)];
    return [...open, ...refuse(fault)];
  }

  function refuse(fault: Fault | undefined): Event[] {
    state.opener = undefined;
    return refuseHeld(state.held, fault, state.session);
  }
}

function isQuestion(event: Event): event is EventOf<"approval.requested"> {
  return event.type === "approval.requested" && event.replay !== true;
}
