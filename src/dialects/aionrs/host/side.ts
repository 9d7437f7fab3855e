/** The host's side of the wire: one process for each session. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv } from "../../dialect.js";
import { drivenSide, sessionOver, takeOpen } from "../../kit/driven-side.js";
import type { Revision } from "../wire/revision.js";
import { endTurn, readEvent } from "./read-events.js";
import { denyUnasked } from "./stale-records.js";
import { hostState, startTurn } from "./state.js";
import { linesAtReady, openOp } from "./open.js";
import { writeOp } from "./write-ops.js";

export function hostSide(revision: Revision, env: SideEnv): Side<Event, Op> {
  const state = hostState(revision);
  return drivenSide({
    open: (op) => openOp(op, state),
    read: (rec) => {
      const wasReady = state.isReady;
      const events = readEvent(rec, state);
      return { in: events, out: wasReady ? denyUnasked(rec, state) : [] };
    },
    write: (op) => writeOp(op, state, env),
    isReady: () => state.isReady,
    onReady: () => ({ in: [], out: linesAtReady(state) }),
    refusal: () => state.refused,
    session: () => state.session,
    takeOpens: () => takeOpen(state),
    faultOf: () => (state.isReady ? undefined : state.early.at(-1)),
    end(closed, fault) {
      const [next] = state.prompts.keys();
      const started = state.running === undefined && next !== undefined ? startTurn(next, state) : [];
      // The real program exits when it is interrupted.
      const stopped = state.interrupted && state.running !== undefined ? endTurn(state.running, state) : [];
      const { session, running } = state;
      const turn = [...started, ...stopped, ...(running?.reader.close({ outcome: "failed", reason: fault.message, fault }) ?? [])];
      // The refusal was reported when it came.
      return state.refused === undefined ? sessionOver(turn, { session, closed, fault }) : [...turn, { type: "session.ended", session }];
    },
  });
}
