/** The host's side of the wire: drives Claude Code as its SDK does, one process a session. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv } from "../../dialect.js";
import { drivenSide, sessionOver, takeOpen } from "../../kit/driven-side.js";
import { cutOff } from "../../kit/stream-json/host/turns.js";
import { openOp } from "./open.js";
import { readEvent } from "./read-events.js";
import { hostState } from "./state.js";
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
    takeOpens: () => takeOpen(state),
    end(closed, fault) {
      const { session } = state;
      const turn = cutOff(state, fault, () => ({ outcome: "interrupted", reason: "interrupted" }));
      // Claude Code exits with 1 after an error result, which the turn's end has reported.
      const isTold = turn.length === 0 && closed.code === 1 && state.isFailed;
      return isTold ? [{ type: "session.ended", session, exit: { code: 0 } }] : sessionOver(turn, { session, closed, fault });
    },
  });
}
