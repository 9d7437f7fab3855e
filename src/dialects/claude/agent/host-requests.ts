/** Passes requests of the agent to its host, and answers those that are this side's own. */
import * as v from "valibot";
import type { EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { address } from "../../kit/stream-json/agent-session.js";
import { ASK_USER, STRUCTURED } from "../wire/host-tools.js";
import type { AgentState } from "./state.js";
import { modeOf, speechOf } from "./write-turns.js";

const ToolCall = v.looseObject({ name: v.string(), args: v.record(v.string(), v.unknown()) });
const AtStop = v.looseObject({ input: v.looseObject({ event: v.literal("stop") }) });
const Message = v.looseObject({ server: v.string(), message: v.unknown() });

export function onHostRequest(event: EventOf<"host.request">, state: AgentState): Step<Op> {
  const { kind, data } = event;
  if (kind === "tool" && v.is(ToolCall, data) && data.name === STRUCTURED) {
    state.structured = { value: data.args };
    return settle(event, true, "Structured output provided successfully", state);
  }
  if (!state.isControlled) return settle(event, false, { message: "the host did not say initialize, so it cannot be asked" }, state);
  if (state.isDeaf) return settle(event, false, { message: "Input closed" }, state);
  if (kind === "mcp" && v.is(Message, data)) return { in: [], out: state.questions.message(event, data.server, data.message) };
  if (kind === "tool" && v.is(ToolCall, data) && data.name === ASK_USER.name)
    return { in: [], out: state.questions.forUser(event, data.name, data.args) };
  if (kind === "hook") {
    const { sessionId, config } = state;
    const step = state.hooks.ask(event, { sessionId, cwd: config.cwd ?? "", mode: modeOf(state) }, () => address(state));
    // The model has said its last word: its host hears it before it is asked whether that is the end.
    const said = v.is(AtStop, data) ? speechOf(state, undefined).end() : [];
    return { in: step.in, out: [...said, ...step.out] };
  }
  return settle(event, false, { message: `this host does not answer ${kind} requests` }, state);
}

function settle({ request }: EventOf<"host.request">, ok: boolean, data: unknown, state: AgentState): Step<Op> {
  return { in: [{ type: "host.answer", ...address(state), request, ok, data }], out: [] };
}
