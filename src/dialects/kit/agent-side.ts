/**
 * The agent's side of a wire, as every dialect has it: nothing is read once the side has said its last word, a bad line is handed over in
 * words, and behind the end of the input the side says `shutdown` itself where it still holds back something that the host asked for.
 */
import type { Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { Launch } from "../../core/wire.js";
import type { Side, SideEnv, Step } from "../dialect.js";
import { echo } from "./issues.js";
import { NOTHING, together } from "./step.js";

export interface AgentWire {
  /** The transport begins: its command line may open the session. */
  launch(launch: Launch): Step<Op>;
  read(rec: unknown): Step<Op>;
  /** Answers a line that is no record. */
  bad(words: string): Step<Op>;
  write(event: Event): Step<Op>;
  /** The side has said its last word. */
  isOver?(): boolean;
  /** The host says nothing more. */
  inputEnded?(): Step<Op>;
  /** The side holds back something that the host asked for. */
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
