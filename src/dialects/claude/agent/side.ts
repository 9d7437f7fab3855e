/** The agent's side of the wire. */
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { address, envelopeOf } from "../../kit/stream-json/agent/session.js";
import { streamJsonAgent } from "../../kit/stream-json/agent/side.js";
import { turnEvent } from "../../kit/stream-json/agent/turn-events.js";
import { withSchema } from "../../kit/host-tools.js";
import { type QuestionForm, Questions } from "../../kit/stream-json/agent/questions.js";
import { isUuid, uuidOf } from "../../kit/stream-json/uuid.js";
import type { HostResponse } from "../../kit/stream-json/wire.js";
import { STRUCTURED } from "../wire/host-tools.js";
import { wireTool } from "../wire/names.js";
import { QUIET } from "../wire/op-records.js";
import { grantedBy, readUpdates, suggestionsFor } from "../wire/permissions.js";
import { ownArgs, wireInput } from "../wire/tool-input.js";
import { collected } from "./document.js";
import { HostHooks, type HookVerdict } from "./hooks.js";
import { onHostRequest } from "./host-requests.js";
import { notice, systemLine } from "./lines.js";
import { canAnswer, onRequest, readRequest } from "./read-requests.js";
import { SessionStates } from "./session-states.js";
import { agentState } from "./state.js";
import { readSwitches } from "../../kit/stream-json/agent/switches.js";
import { refusalReason, TURN_LINES, wentOn } from "./write-events.js";
import { controlAnswer, controlRefusal } from "./write-replies.js";
import { blockedText, INTERRUPTED, modeOf, outcomeLines, resultLine } from "./write-turns.js";

const QUESTION_FORM: QuestionForm = {
  toolName: wireTool,
  permissionFields: (call) => ({
    display_name: wireTool(call.name),
    ...(call.title !== undefined && { description: call.title }),
    permission_suggestions: suggestionsFor(call),
  }),
  questionFields: { requires_user_interaction: true },
  takesBack: true,
  input: ({ name, args = {} }) => wireInput(name, args),
  args: ownArgs,
  granted(answer, call) {
    const { grant, mode } = grantedBy(readUpdates(answer["updatedPermissions"]), call);
    return { grant, ...(mode !== undefined && { patch: { mode } }) };
  },
};

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState(env, new Questions(env, QUESTION_FORM), new HostHooks(env));
  const states = new SessionStates(state);
  /** The ids of prompts. */
  const seen = new Set<string>();
  /** Requests of hooks that want the user to decide. */
  const byHooks = new Set<string>();
  return streamJsonAgent({
    state,
    cancelled: INTERRUPTED,
    quiet: QUIET,
    launched({ argv, open }) {
      state.switches = {
        ...readSwitches(argv, ["--approval-mode", "--permission-mode"]),
        replays: argv.includes("--replay-user-messages"),
        asksNobody: argv.includes("--asks-nobody"),
        tellsStates: argv.includes("--session-states"),
      };
      state.isOneShot = state.switches.isOneShot;
      state.modeName = state.switches.mode;
      if (open?.open === "resume") state.source = open.fork === true ? "fork" : "resume";
      return withSchema(STRUCTURED, state.switches.schema, open?.config);
    },
    keepsPrompts: () => state.switches.replays,
    // A turn has the id of its prompt on the wire: by it a host may have files taken back, in a later process, too.
    turnId({ uuid }, op) {
      if (!isUuid(uuid) || seen.has(uuid)) return uuidOf(op);
      seen.add(uuid);
      return uuid;
    },
    readRequest,
    canAnswer: (request) => canAnswer(request, state),
    onRequest: (request_id, request) => onRequest(request_id, request, state),
    answer: (asked, data) => controlAnswer(asked, data, state),
    refuse: controlRefusal,
    // Not a `result` line: the host would take it for the end of the running turn.
    unread: (problem) => [
      notice(`A line of the host cannot be read: ${problem}`, state, "warning", "error"),
      { log: `A line of the host cannot be read: ${problem}` },
    ],
    ignored: (text) => notice(text, state),
    outcome: (outcome) => outcomeLines(outcome, state),
    notOpened(fault) {
      const message = wordsOf(fault);
      const result = resultLine({ subtype: "error_during_execution", text: message }, env.stamp().at, state);
      return { message, out: [result, { exit: 1, reason: message }] };
    },
    ready({ config }) {
      state.ownModel = config?.model;
    },
    // Claude Code exits with 1 if its last result was an error.
    closed: () => (state.isFailed ? [{ exit: 1 }] : []),
    turnEvent: (event) => turnEvent(event, state, TURN_LINES),
    hostRequest: (event) => onHostRequest(event, state),
    hostSettled(request) {
      byHooks.delete(request);
      return state.hooks.settled(request);
    },
    modeChanged: () => [systemLine("status", { status: null, permissionMode: modeOf(state) }, envelopeOf(state))],
    answered,
    unasked: (reason) => state.hooks.closed(reason, () => address(state)),
    collected: (step) => collected(states.told(step), state.switches),
  });

  function answered(response: HostResponse): Step<Op> {
    const byHook = state.hooks.answered(response, () => address(state), refusalReason(state), onVerdict);
    if (byHook !== undefined) return byHook;
    const call = state.questions.askedAbout(response.response.request_id);
    const step = state.questions.answered(response, () => address(state));
    if (call === undefined) return step;
    state.decided.set(call, "user");
    // The agent asks about a call that a hook let through as about any other.
    if (step.in.some((op) => op.type === "host.answer" && op.ok && byHooks.has(op.request))) state.allowed.add(call);
    return step;
  }

  function onVerdict({ request, event, call, prompt, decision, reason, stops }: HookVerdict): Out[] {
    state.stopped ??= stops;
    if (event === "UserPromptSubmit" && stops !== undefined) state.blocked = `Operation stopped by hook: ${stops}`;
    else if (event === "UserPromptSubmit" && decision === "block") state.blocked = blockedText(prompt, reason);
    if (event === "Stop" && decision === "block" && stops === undefined) return wentOn(reason, state);
    if (event !== "PreToolUse" || call === undefined) return [];
    if (decision === "ask" && stops === undefined) {
      byHooks.add(request);
      return state.questions.forHook(request, call, reason, call.running);
    }
    if (decision === "allow") state.allowed.add(call.id);
    if (decision !== undefined || stops !== undefined) state.decided.set(call.id, "hook");
    return [];
  }
}

function wordsOf(fault: Fault | undefined): string {
  return fault?.message ?? "The session could not be opened";
}
