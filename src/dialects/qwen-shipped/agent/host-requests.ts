/** Passes requests of the agent to its host, and answers those that this side serves. */
import * as v from "valibot";
import type { EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { ASK_USER, STRUCTURED } from "../wire/host-tools.js";
import { address } from "../../kit/stream-json/agent-session.js";
import { type AgentState } from "./state.js";

const ToolCall = v.looseObject({ name: v.string(), args: v.record(v.string(), v.unknown()) });
const Message = v.looseObject({ server: v.string(), message: v.unknown() });

export function onHostRequest(event: EventOf<"host.request">, state: AgentState): Step<Op> {
  if (event.kind === "tool" && v.is(ToolCall, event.data) && event.data.name === STRUCTURED) {
    state.structured = { value: event.data.args };
    return settle(event, true, "The result was taken.", state);
  }
  if (!state.isControlled) return settle(event, false, { message: "the host did not say initialize, so it cannot be asked" }, state);
  if (state.isDeaf) return settle(event, false, { message: "Input closed" }, state);
  if (event.kind === "mcp" && v.is(Message, event.data))
    return { in: [], out: state.questions.message(event, event.data.server, event.data.message) };
  if (event.kind === "tool" && v.is(ToolCall, event.data) && event.data.name === ASK_USER.name)
    return { in: [], out: state.questions.forUser(event, event.data.name, event.data.args) };
  return settle(event, false, { message: `this host does not answer ${event.kind} requests` }, state);
}

function settle({ request }: EventOf<"host.request">, ok: boolean, data: unknown, state: AgentState): Step<Op> {
  return { in: [{ type: "host.answer", ...address(state), request, ok, data }], out: [] };
}
