/** The host's side of the wire: drives Claude Code as its SDK does, one process a session. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv } from "../../dialect.js";
import { drivenSide } from "../../kit/driven-side.js";
import { isClean } from "../../kit/exit-message.js";
import { openOp } from "./open.js";
import { readEvent } from "./read-events.js";
import { endTurn, failedEnd } from "./read-turns.js";
import { hostState, startTurn } from "./state.js";
import { writeOp } from "./write-ops.js";

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState(env);
  return drivenSide({
    open: (op) => openOp(op, state, env),
    read: (rec) => readEvent(rec, state, env),
    write: (op) => writeOp(op, state, env),
    isReady: () => state.isReady,
    refusal: () => state.refused,
    session: () => state.session,
    takeOpens() {
      const { session, opener: op } = state;
      state.opener = undefined;
      return op === undefined ? [] : [{ session, op }];
    },
    end(closed, fault) {
      const { session } = state;
      const [next] = state.running === undefined ? state.prompts.splice(0) : [];
      const begun = next === undefined ? [] : startTurn(next, state);
      const { running } = state;
      const isStopped = running?.isInterrupted === true || state.requests.waiting.some((purpose) => purpose.for === "interrupt");
      const end = isStopped ? ({ outcome: "interrupted", reason: "interrupted" } as const) : failedEnd(fault);
      const turn = running === undefined ? [] : endTurn(running, state, end);
      // Claude Code exits with 1 after an error result, which the turn's end has reported.
      const isTold = running === undefined && closed.code === 1 && state.isFailed;
      // The end of a running turn has the error.
      const isNews = running === undefined && !isClean(closed) && !isTold;
      const alone: Event[] = isNews ? [{ type: "error", session, fault }] : [];
      return [...begun, ...turn, ...alone, { type: "session.ended", session, ...(isTold && { exit: { code: 0 } }) }];
    },
  });
}
