/** The host's side of the wire: drives the agent as its SDK does, one process a session. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv } from "../../dialect.js";
import { drivenSide, sessionOver, takeOpen } from "../../kit/driven-side.js";
import { exitMessage } from "../../kit/exit-message.js";
import { cutOff } from "../../kit/stream-json/host/turns.js";
import { openOp } from "./open.js";
import { readEvent } from "./read-events.js";
import { stoppedEnd } from "./read-turns.js";
import { hostState } from "./state.js";
import { writeOp } from "./write-ops.js";

/** Exit codes of a process that reached its limit of turns, calls or seconds. */
const LIMITS: ReadonlySet<number> = new Set([53, 55]);

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
    faultOf: (closed) => (LIMITS.has(closed.code ?? 0) ? { code: "limit", message: exitMessage(closed), retryable: false } : undefined),
    end(closed, fault) {
      const { session } = state;
      const turn = cutOff(state, fault, (running) => stoppedEnd(running, "interrupted"));
      return sessionOver(turn, { session, closed, fault });
    },
  });
}
