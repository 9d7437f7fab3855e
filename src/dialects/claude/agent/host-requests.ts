/** Requests of the agent that only this wire carries: hooks of the host. */
import * as v from "valibot";
import type { EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { stepOf } from "../../kit/step.js";
import { address } from "../../kit/stream-json/agent/session.js";
import { onHostRequest as asked } from "../../kit/stream-json/agent/host-requests.js";
import { ASK_USER, STRUCTURED } from "../wire/host-tools.js";
import type { AgentState } from "./state.js";
import { refusalReason } from "./write-events.js";
import { modeOf, speechOf } from "./write-turns.js";

const OWN_TOOLS = { askUser: ASK_USER.name, structured: STRUCTURED, taken: "Structured output provided successfully" };

const AtStop = v.looseObject({ input: v.looseObject({ event: v.literal("stop") }) });

export function onHostRequest(event: EventOf<"host.request">, state: AgentState): Step<Op> {
  const refusal = asksUser(event) ? refusalReason(state) : undefined;
  if (refusal !== undefined)
    return stepOf([{ type: "host.answer", ...address(state), request: event.request, ok: false, data: { message: refusal } }]);
  return asked(event, state, OWN_TOOLS, () => onHook(event, state));
}

/** Questions to the user are asked as permissions are. */
function asksUser({ kind, data }: EventOf<"host.request">): boolean {
  return kind === "question" || (kind === "tool" && v.is(v.looseObject({ name: v.literal(ASK_USER.name) }), data));
}

function onHook(event: EventOf<"host.request">, state: AgentState): Step<Op> {
  const { sessionId, config, source } = state;
  const around = { sessionId, cwd: config.cwd ?? "", mode: modeOf(state), model: config.model ?? "", source };
  const step = state.hooks.ask(event, around, () => address(state));
  // The host gets the last message before it is asked whether the turn may end.
  const said = v.is(AtStop, event.data) ? speechOf(state, undefined).end() : [];
  return { in: step.in, out: [...said, ...step.out] };
}
