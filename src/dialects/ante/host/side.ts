/** The host's side of the wire: one session for each connection. */
import { runsUnasked } from "../../../core/modes.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { drivenSide, sessionOver, takeOpen } from "../../kit/driven-side.js";
import { NOTHING, together } from "../../kit/step.js";
import { openOp } from "./open.js";
import { isUnknownPause, readEvent } from "./read-events.js";
import { hostState } from "./state.js";
import { line, settled, writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return drivenSide({
    open: (op) => openOp(op, state, env),
    read: (rec) => together(answered(readEvent(rec, state)), unpaused(rec)),
    write: (op) => writeOp(op, state, env),
    isReady: () => state.isReady,
    isUrgent: (op) => op.type === "shutdown",
    refusal: () => state.refused,
    session: () => state.session,
    takeOpens: () => takeOpen(state),
    end(closed, fault) {
      const { session } = state;
      const turn = state.now.turn?.close({ outcome: "failed", reason: fault.message, fault }) ?? [];
      return sessionOver(turn, { session, closed, fault });
    },
  });

  /** Answers questions that the wire's policy asks and the mode allows. */
  function answered(events: readonly Event[]): Step<Event> {
    return events.map((event) => (isQuestion(event) ? allowed(event) : { in: [event], out: [] })).reduce(together<Event>, NOTHING);
  }

  function allowed(event: EventOf<"approval.requested">): Step<Event> {
    const open = event.calls.filter((call) => !runsUnasked(state.answeredMode, call.category));
    for (const call of event.calls) if (!open.includes(call)) state.pause?.calls.set(call.id, "Accept");
    if (open.length > 0) return { in: [{ ...event, calls: open }], out: [] };
    return settled({ type: "approval.answer", id: undefined }, state, env);
  }

  /** A turn that waits for an answer which our side cannot give is interrupted, as it would wait for ever. */
  function unpaused(rec: unknown): Step<Event> {
    if (state.now.turn === undefined || !isUnknownPause(rec)) return NOTHING;
    return { in: [], out: [line("Interrupt", null, { type: "turn.interrupt", id: undefined }, state, env)] };
  }
}

function isQuestion(event: Event): event is EventOf<"approval.requested"> {
  return event.type === "approval.requested" && event.replay !== true;
}
