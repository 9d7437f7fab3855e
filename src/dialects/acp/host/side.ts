/** The host's side of the wire: one agent process with any number of sessions. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { drivenSide } from "../../kit/driven-side.js";
import { isClean } from "../../kit/exit-message.js";
import { echo, shapeOf } from "../../kit/issues.js";
import { refusal } from "../../kit/reply.js";
import { NOTHING } from "../../kit/step.js";
import { CancelRequestParams } from "../wire/records.js";
import { Message, RpcError } from "../wire/rpc.js";
import { STATUS_UPDATE, StatusUpdate, usageOfStatus } from "../wire/usage.js";
import { openOp, openWaiting } from "./open.js";
import { readRequest, withdrawn } from "./read-requests.js";
import { readResult } from "./read-results.js";
import { readUpdate } from "./read-updates.js";
import { hostState, type DrivenSession } from "./state.js";
import { writeOp } from "./write-ops.js";

const Answer = v.looseObject({ id: v.number(), result: v.optional(v.unknown()), error: v.optional(RpcError) });

export function hostSide(env: SideEnv): Side<Event, Op> {
  const state = hostState();
  return drivenSide({
    open: (op) => openOp(op, state, env),
    read,
    write: (op) => writeOp(op, state, env),
    isReady: () => state.greeting === "done",
    onReady: () => openWaiting(state, env),
    refusal: () => state.refused,
    takeOpens() {
      const open = [...state.sessions.values()].filter(({ isReady }) => !isReady).map((session) => session.open);
      for (const { session } of open) state.sessions.delete(session);
      return [...state.waiting.splice(0), ...open].map(({ session, id }) => ({ session, op: id }));
    },
    end: (closed, fault) => [...state.sessions.values()].flatMap((session) => ended(session, fault, isClean(closed))),
  });

  function read(rec: unknown): Step<Event> {
    if (v.is(Message, rec)) {
      const { id, method, params } = rec;
      return id === undefined ? notified(method, params) : readRequest(id, method, params, state, env);
    }
    if (!v.is(Answer, rec))
      return bad(`The agent wrote a line that is ${shapeOf(rec)} and no JSON-RPC message: ${echo(JSON.stringify(rec))}`);
    const asked = state.asked.get(rec.id);
    state.asked.delete(rec.id);
    if (asked === undefined) return NOTHING;
    return readResult(asked, rec.error === undefined ? { result: rec.result } : { error: rec.error }, state, env);
  }

  function notified(method: string, params: unknown): Step<Event> {
    if (method === "session/update") {
      const events = readUpdate(params, state, env);
      return events === undefined
        ? bad(`The agent wrote an invalid session/update: ${echo(JSON.stringify(params ?? null))}`)
        : { in: events, out: [] };
    }
    if (method === "$/cancel_request" && v.is(CancelRequestParams, params)) return { in: withdrawn(params.requestId, state), out: [] };
    if (method.startsWith("$/")) return NOTHING;
    if (method === STATUS_UPDATE && v.is(StatusUpdate, params)) {
      const turn = state.named.get(params.sessionId)?.turn;
      if (turn !== undefined) turn.used = usageOfStatus(params);
    }
    return { in: [{ type: "other", name: method, data: params, ext: { acp: { method, params } } }], out: [] };
  }

  function bad(message: string): Step<Event> {
    return { in: [{ type: "error", fault: { code: "protocol", message: message.slice(0, 1000), retryable: false } }], out: [] };
  }

  /** After the exit of the process: closes the open turn and refuses the ops that wait. */
  function ended(session: DrivenSession, fault: Fault, wasClean: boolean): Event[] {
    const { handle, open, turn, queue, held, isReady } = session;
    state.sessions.delete(handle);
    if (!isReady) return [refusal(open, fault), ...held.map((op) => refusal(op, fault))];
    // An exit after an interrupt is the interrupt's end.
    const stopped = turn?.isInterrupted === true;
    const events = turn?.reader.close(stopped ? { outcome: "interrupted" } : { outcome: "failed", reason: fault.message, fault }) ?? [];
    const alone: Event[] = events.length === 0 && !wasClean ? [{ type: "error", session: handle, fault }] : [];
    return [...alone, ...events, ...queue.map((op) => refusal(op, fault)), { type: "session.ended", session: handle }];
  }
}
