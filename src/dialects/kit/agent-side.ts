/**
 * The agent's side of a wire, for every dialect: it reads nothing after its last output, passes on the problem of a bad line in
 * words, and after the end of the input sends `shutdown` itself if it still holds work that the host asked for.
 */
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Launch } from "../../core/wire.js";
import type { Side, SideEnv, Step } from "../dialect.js";
import { echo } from "./issues.js";
import { NOTHING, together } from "./step.js";

export interface AgentWire {
  /** The transport begins: the command line may open the session. */
  launch(launch: Launch): Step<Op>;
  read(rec: unknown): Step<Op>;
  /** Answers a line that cannot be read as a record. */
  bad(words: string): Step<Op>;
  write(event: Event): Step<Op>;
  /** The side has written its last record. */
  isOver?(): boolean;
  /** The host's input has ended. */
  inputEnded?(): Step<Op>;
  /** The side holds work that the host asked for. */
  isHolding?(): boolean;
  beat?(): Step<Op>;
}

export function agentSideOf(wire: AgentWire, env: SideEnv): Side<Op, Event> {
  let drains = false;
  return {
    read(frame) {
      if (wire.isOver?.() === true) return NOTHING;
      if ("launch" in frame) return wire.launch(frame.launch);
      return "bad" in frame ? wire.bad(`${frame.bad}: ${echo(frame.line)}`) : wire.read(frame.rec);
    },
    write(event) {
      const step = wire.write(event);
      return drains ? drained(step) : step;
    },
    end() {
      const step = wire.inputEnded?.() ?? NOTHING;
      drains = wire.isHolding?.() === true;
      return drains ? { ...step, waits: true } : step;
    },
    ...(wire.beat !== undefined && { beat: wire.beat }),
  };

  function drained(step: Step<Op>): Step<Op> {
    if (wire.isHolding?.() === true) return step;
    drains = false;
    return together(step, { in: [{ type: "shutdown", id: env.stamp().id, when: "drained" }], out: [] });
  }
}
