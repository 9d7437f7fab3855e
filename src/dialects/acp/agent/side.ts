/** The agent's side of the wire: events become notifications to the client, and the client's requests become ops. */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { shapeOf } from "../../kit/issues.js";
import { NOTHING } from "../../kit/step.js";
import { CODES, failure, Message, RpcError, RpcId } from "../wire/rpc.js";
import { onAnswer } from "./questions.js";
import { readNotification, readRequest } from "./read-requests.js";
import { agentState } from "./state.js";
import { writeEvent } from "./write-events.js";

const Answer = v.looseObject({ id: v.number(), result: v.optional(v.unknown()), error: v.optional(RpcError) });
const Numbered = v.looseObject({ id: RpcId });

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState();
  return agentSideOf(
    {
      launch: () => NOTHING,
      read,
      bad: (words) => bad(CODES.parse, words),
      write: (event) => writeEvent(event, state, env),
    },
    env,
  );

  function read(rec: unknown): Step<Op> {
    if (v.is(Message, rec)) {
      const { id, method, params = {} } = rec;
      return id === undefined ? readNotification(method, params, state, env) : readRequest(id, method, params, state, env);
    }
    if (v.is(Numbered, rec) && ("result" in rec || "error" in rec)) {
      // Our requests have numbers as ids: an answer with another id belongs to no request.
      if (!v.is(Answer, rec)) return NOTHING;
      return onAnswer(rec.id, rec.error === undefined ? { result: rec.result } : { error: rec.error }, state, env);
    }
    const id = v.is(Numbered, rec) ? rec.id : null;
    return bad(
      CODES.invalidRequest,
      `A line must be a JSON-RPC request, notification or answer; this one is ${shapeOf(rec)} without a method`,
      id,
    );
  }

  function bad(code: number, message: string, id: RpcId = null): Step<Op> {
    return { in: [], out: [failure(id, { code, message })] };
  }
}
