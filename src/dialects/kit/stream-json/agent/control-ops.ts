/** Control requests of the host that the agent has to act on: each waits for the op that it becomes. */
import type { SessionConfig } from "../../../../core/config.js";
import type { Op } from "../../../../core/op.js";
import type { Out, Step } from "../../../dialect.js";
import { thinkingFor } from "../efforts.js";
import { refusal } from "../write-lines.js";
import { address, type AgentSession, type Control } from "./session.js";

type State<Pending extends Control> = Pick<
  AgentSession<{ subtype: string }, Pending>,
  "env" | "session" | "sessionId" | "controls" | "capabilities"
>;

/** The answer of a request that this side knows. */
export function answer(out: Out): Step<Op> {
  return { in: [], out: [out] };
}

export function configure<Pending extends Control>(patch: SessionConfig, control: Pending, state: State<Pending>): Step<Op> {
  const head = address(state);
  state.controls.set(head.id, control);
  return { in: [{ type: "session.configure", ...head, patch }], out: [] };
}

/** Answers a request by running a slash command of the agent. An agent without host tools would make a turn of the command. */
export function command<Pending extends Control>(name: string, control: Pending, state: State<Pending>): Step<Op> {
  if (state.capabilities["hostTools"] !== true)
    return answer(refusal(control.request_id, `This agent cannot be asked for ${control.subtype}`));
  const head = address(state);
  state.controls.set(head.id, control);
  return { in: [{ type: "turn.prompt", ...head, turn: head.id, parts: [], command: { name } }], out: [] };
}

/** A model with efforts gets this one; one that only thinks gets the nearest level; others take neither. */
export function effortPatch(effort: string, { capabilities }: Pick<State<Control>, "capabilities">): SessionConfig | undefined {
  const { efforts, thinking } = capabilities;
  if (Array.isArray(efforts) && efforts.includes(effort)) return { effort };
  const level = thinkingFor(effort);
  return thinking === true && level !== undefined ? { thinking: level } : undefined;
}
