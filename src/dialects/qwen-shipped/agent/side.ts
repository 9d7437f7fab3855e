/** The agent's side of the wire. */
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv } from "../../dialect.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
import { streamJsonAgent } from "../../kit/stream-json/agent/side.js";
import { onHostRequest } from "../../kit/stream-json/agent/host-requests.js";
import { turnEvent } from "../../kit/stream-json/agent/turn-events.js";
import { withSchema } from "../../kit/host-tools.js";
import { Questions } from "../../kit/stream-json/agent/questions.js";
import { ASK_USER, STRUCTURED } from "../wire/host-tools.js";
import { collected } from "./document.js";
import { exitOf } from "./exits.js";
import { systemLine } from "./lines.js";
import { canAnswer, CANCELLED, onRequest, readRequest } from "./read-requests.js";
import { agentState, notice } from "./state.js";
import { QUESTION_FORM } from "./suggestions.js";
import { readSwitches } from "../../kit/stream-json/agent/switches.js";
import { TURN_LINES } from "./write-events.js";
import { controlAnswer, controlRefusal } from "./write-replies.js";
import { outcomeLines, resultLine } from "./write-turns.js";

const OWN_TOOLS = { askUser: ASK_USER.name, structured: STRUCTURED, taken: "The result was taken." };

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState(env, new Questions(env, QUESTION_FORM));
  return streamJsonAgent({
    state,
    cancelled: CANCELLED,
    launched({ argv, open }) {
      state.switches = readSwitches(argv, ["--approval-mode"]);
      state.isOneShot = state.switches.isOneShot;
      state.modeName = state.switches.mode;
      return withSchema(STRUCTURED, state.switches.schema, open?.config);
    },
    readRequest,
    canAnswer: (request) => canAnswer(request, state),
    onRequest: (request_id, request) => onRequest(request_id, request, state),
    answer: (asked, data) => controlAnswer(asked, data, state),
    refuse: controlRefusal,
    // Not a `result` line: the host would take it for the end of the running turn.
    unread: (problem) => [
      systemLine("error", { message: problem }, envelopeOf(state)),
      { log: `A line of the host cannot be read: ${problem}` },
    ],
    ignored: (text) => notice(text, state),
    outcome: (outcome) => outcomeLines(outcome, state),
    notContinued: ({ message: error }) => [systemLine("continue_turn_failed", { error }, envelopeOf(state))],
    notOpened(fault) {
      const { code, message } = exitOf(fault);
      const result = resultLine({ subtype: "error_during_execution", text: message }, env.stamp().at, state);
      return { message, out: [result, { exit: code, reason: message }] };
    },
    ready({ unfinished }) {
      state.unfinished = unfinished === undefined ? "none" : unfinished === "prompt" ? "interrupted_prompt" : "interrupted_turn";
    },
    turnEvent: (event) => turnEvent(event, state, TURN_LINES),
    hostRequest: (event) => onHostRequest(event, state, OWN_TOOLS),
    collected: (step) => collected(step, state),
  });
}
