/** Tells the host, where it asks for that, when the session runs, waits for the host, and rests: lines around those that make it so. */
import { isRecord } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
import { systemLine } from "./lines.js";
import type { AgentState } from "./state.js";

type SessionState = "running" | "requires_action" | "idle";

export class SessionStates {
  readonly #state: AgentState;
  #now: SessionState = "idle";

  constructor(state: AgentState) {
    this.#state = state;
  }

  told(step: Step<Op>): Step<Op> {
    if (!this.#state.switches.tellsStates) return step;
    // The answer to a question is in the step itself: what follows runs again.
    const isAnswered = this.#now === "requires_action" && this.#state.questions.askedAbout() === undefined;
    return { ...step, out: [...(isAnswered ? this.#become("running") : []), ...step.out.flatMap((out) => this.#around(out))] };
  }

  #around(out: Out): Out[] {
    const rec = "rec" in out && isRecord(out.rec) ? out.rec : {};
    if (rec["type"] === "system" && rec["subtype"] === "init") return [...this.#become("running"), out];
    if (rec["type"] === "result") return [out, ...(this.#isBusy() ? [] : this.#become("idle"))];
    const asked = isRecord(rec["request"]) ? rec["request"]["subtype"] : undefined;
    return rec["type"] === "control_request" && asked === "can_use_tool" ? [...this.#become("requires_action"), out] : [out];
  }

  #isBusy(): boolean {
    return this.#state.asked.some(({ op }) => op !== undefined);
  }

  #become(next: SessionState): Out[] {
    if (next === this.#now) return [];
    this.#now = next;
    return [systemLine("session_state_changed", { state: next }, envelopeOf(this.#state))];
  }
}
