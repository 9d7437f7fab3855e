/** The agent's side: our events go out as they are, the host's ops come in. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Frame } from "../../../core/wire.js";
import type { Out, Side, SideEnv } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { readOp, refusal } from "./read-ops.js";

export function agentSide(env: SideEnv): Side<Op, Event> {
  return {
    read(frame: Frame) {
      if ("launch" in frame) return { in: [], out: [] };
      if ("bad" in frame) return { in: [], out: [{ rec: stamped(refusal("", `${frame.bad}: ${echo(frame.line)}`)) }] };
      const op = readOp(frame.rec);
      if ("reply" in op) return { in: [], out: [{ rec: stamped(op.reply) }] };
      return { in: [op.id === undefined ? { ...op, id: env.stamp().id } : op], out: [] };
    },
    write(event) {
      // Of flat literals: V8 makes nested ones the slow way, and each delta comes through here.
      const rec: Out = { rec: event };
      const out = [rec];
      const none: Op[] = [];
      return { in: none, out };
    },
    end: () => ({ in: [], out: [] }),
  };

  function stamped(event: Event): Event {
    return { ...event, at: env.stamp().at };
  }
}
