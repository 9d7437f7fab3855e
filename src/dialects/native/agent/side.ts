/** The agent's side of the wire: events and ops pass unchanged. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { agentSideOf } from "../../kit/agent-side.js";
import { NOTHING } from "../../kit/step.js";
import { readOp, refusal } from "./read-ops.js";

export function agentSide(env: SideEnv): Side<Op, Event> {
  return agentSideOf(
    {
      launch: () => NOTHING,
      read(rec) {
        const op = readOp(rec);
        if ("reply" in op) return answer(op.reply);
        return { in: [op.id === undefined ? { ...op, id: env.stamp().id } : op], out: [] };
      },
      bad: (words) => answer(refusal("", words)),
      write(event) {
        // The literals are flat: V8 builds nested ones more slowly, and every delta passes here.
        const rec: Out = { rec: event };
        const out = [rec];
        const none: Op[] = [];
        return { in: none, out };
      },
    },
    env,
  );

  function answer(event: Event): Step<Op> {
    return { in: [], out: [{ rec: { ...event, at: env.stamp().at } }] };
  }
}
