/** The agent's end of the wire: one session, whose prompts are answered in their order, each by exactly one `result`. */
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Launch } from "../../../core/wire.js";
import type { Out, Side, SideEnv, Step } from "../../dialect.js";
import { echo } from "../../kit/issues.js";
import { Questions } from "../../kit/stream-json/questions.js";
import { exitOf } from "./exits.js";
import { readHostLine, type HostLine } from "../../kit/stream-json/read-host-lines.js";
import { collected } from "./document.js";
import { withSchema } from "../wire/host-tools.js";
import { uuidOf } from "../../kit/stream-json/uuid.js";
import { refusal } from "../../kit/stream-json/write-lines.js";
import { systemLine } from "./lines.js";
import { readRequest, type KnownRequest } from "./read-requests.js";
import { QUESTION_FORM } from "./suggestions.js";
import { askedBy } from "./read-prompts.js";
import { onHostRequest } from "./host-requests.js";
import { controlAnswer, controlRefusal } from "./write-replies.js";
import { commandText } from "./slash.js";
import { address, agentState, envelopeOf, notice, type Asked, type Control } from "./state.js";
import { readSwitches } from "./switches.js";
import { resultLine, outcomeLines } from "./write-turns.js";
import { ask, control, isDrained, joined, released } from "./waiting.js";
import { turnEvent } from "./write-events.js";

const NOTHING: Step<Op> = { in: [], out: [] };

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState(env, new Questions(env, QUESTION_FORM));
  return {
    read(frame) {
      if (state.isOver) return NOTHING;
      if ("launch" in frame) return collected(opened(frame.launch), state);
      return collected(
        onLine("bad" in frame ? { problem: `${frame.bad}: ${echo(frame.line)}` } : readHostLine(frame.rec, readRequest)),
        state,
      );
    },
    write(event) {
      // The many: nobody waits for them.
      if (event.type === "text.delta" || event.type === "thinking.delta") return collected(turnEvent(event, state), state);
      return collected(joined(written(event), released(state)), state);
    },
    end() {
      state.isDeaf = true;
      const ops = state.questions.closed("Input closed", () => address(state));
      state.drains = !isDrained(state);
      return { in: ops, out: [], ...(state.drains && { waits: true as const }) };
    },
  };

  // --- lines ---

  /** The command line opens the session; what `initialize` adds to it comes later. */
  function opened({ argv, open, cwd }: Launch): Step<Op> {
    state.switches = readSwitches(argv);
    const { schema, mode } = state.switches;
    state.modeName = mode;
    // A fork has a name of its own.
    state.session = (open?.fork === true ? undefined : open?.sessionId) ?? uuidOf(env.stamp().id);
    state.opener = env.stamp().id;
    const config = { ...(cwd !== undefined && { cwd }), ...open?.config, ...withSchema(schema, open?.config) };
    state.config = config;
    // Which one was last is told when it is there.
    state.sessionId = state.session === "latest" ? "" : state.session;
    return { in: [{ open: "new", ...open, type: "session.open", id: state.opener, session: state.session, config }], out: [] };
  }

  function onLine(said: HostLine<KnownRequest>): Step<Op> {
    // A host would take a result for the end of the turn that runs.
    if ("problem" in said) {
      const text = `A line of the host cannot be read: ${said.problem}`;
      return { in: [], out: [systemLine("error", { message: said.problem }, envelopeOf(state)), { log: text }] };
    }
    if ("ignored" in said) return joined({ in: [], out: [notice(said.ignored, state)] }, unanswered(said));
    if ("refused" in said) return { in: [], out: [refusal(said.request_id, said.refused)] };
    if ("request" in said) return control(said, state);
    if ("response" in said) return state.questions.answered(said.response, () => address(state));
    if ("cancels" in said) return cancelled(said.cancels);
    return ask(askedBy(said.prompt, state), state);
  }

  function unanswered({ fails: request_id, ignored: error }: Extract<HostLine<KnownRequest>, { ignored: string }>): Step<Op> {
    if (request_id === undefined) return NOTHING;
    const response = { subtype: "error", request_id, error } as const;
    return state.questions.answered({ type: "control_response", response }, () => address(state));
  }

  function cancelled(request_id: string): Step<Op> {
    const isIt = (one: { request_id: string }): boolean => one.request_id === request_id;
    const [op] = [...state.controls].find(([, pending]) => isIt(pending)) ?? [];
    const at = state.late.findIndex(isIt);
    if (op === undefined && at === -1) return NOTHING;
    if (op !== undefined) state.controls.delete(op);
    if (at !== -1) state.late.splice(at, 1);
    return { in: [], out: [refusal(request_id, "Request cancelled")] };
  }

  // --- events ---

  function written(event: Event): Step<Op> {
    switch (event.type) {
      case "session.ready":
        return onReady(event);
      case "session.updated":
        return onUpdated(event);
      case "session.ended":
        return { in: [{ type: "shutdown", when: "now", id: env.stamp().id }], out: [] };
      case "closed":
        return { in: [], out: onClosed(event) };
      case "catalog.updated":
        return onCatalogue(event);
      case "reply":
        return onReply(event);
      case "host.request":
        return onHostRequest(event, state);
      case "host.settled":
        state.questions.settledMessage(event.request);
        return { in: [], out: state.questions.settled(({ request }) => request === event.request) };
      default:
        return turnEvent(event, state);
    }
  }

  function onReady(event: EventOf<"session.ready">): Step<Op> {
    state.isReady = true;
    state.isGathered ||= event.capabilities?.["catalog"] !== true;
    state.unfinished = event.unfinished === undefined ? "none" : event.unfinished === "prompt" ? "interrupted_prompt" : "interrupted_turn";
    know(event);
    return NOTHING;
  }

  /** With a parent it is the answer to a control request; without one, a command or a plan changed something. */
  function onUpdated(event: EventOf<"session.updated">): Step<Op> {
    const before = state.config.mode;
    know(event);
    if (state.config.mode !== before) state.modeName = undefined;
    const asked = taken(event.parent);
    return asked === undefined ? NOTHING : { in: [], out: [controlAnswer(asked, undefined, state)] };
  }

  function know({ sessionId, config, capabilities }: EventOf<"session.updated"> | EventOf<"session.ready">): void {
    state.sessionId = sessionId ?? state.sessionId;
    state.config = config ?? state.config;
    state.capabilities = capabilities ?? state.capabilities;
  }

  function onCatalogue({ whole, skills, subagents, mcpServers, commands }: EventOf<"catalog.updated">): Step<Op> {
    const { catalogue } = state;
    state.catalogue = {
      skills: skills ?? catalogue.skills,
      subagents: subagents ?? catalogue.subagents,
      mcpServers: mcpServers ?? catalogue.mcpServers,
      commands: commands ?? catalogue.commands,
    };
    state.isGathered ||= whole;
    for (const { name, status } of mcpServers ?? []) if (status !== "connecting") state.awaited.delete(name);
    return NOTHING;
  }

  function onReply(event: EventOf<"reply">): Step<Op> {
    if (event.to === "session.open") return event.status === "error" ? refused(event) : NOTHING;
    const asked = taken(event.parent);
    if (asked !== undefined)
      return { in: [], out: [event.fault === undefined ? controlAnswer(asked, event.data, state) : notDone(asked, event.fault)] };
    const prompt = state.asked.find(({ op }) => op !== undefined && op.id === event.parent);
    return prompt === undefined ? NOTHING : onPromptReply(event, prompt);
  }

  /** A driven agent whose protocol cannot be told what `initialize` adds works without it; nobody waits for that then. */
  function notDone(asked: Control, fault: Fault): Out {
    if (asked.subtype !== "initialize") return controlRefusal(asked, fault);
    state.awaited.clear();
    return fault.code === "unsupported" ? controlAnswer(asked, undefined, state) : controlRefusal(asked, fault);
  }

  /** A command's answer, or why there is no turn. What nobody knows as a command is a prompt after all. */
  function onPromptReply({ fault, data }: EventOf<"reply">, asked: Asked): Step<Op> {
    if (fault?.param === "command" && asked.plain !== undefined) {
      asked.op = asked.plain;
      return { in: [asked.plain], out: [] };
    }
    const text = fault === undefined ? commandText(data) : undefined;
    if (fault !== undefined) asked.outcome = { problem: fault.code === "interrupted" ? "Operation cancelled." : fault.message };
    else if (text !== undefined) asked.outcome = { text };
    if (fault === undefined || asked.op?.continues !== true) return NOTHING;
    return { in: [], out: [systemLine("continue_turn_failed", { error: fault.message }, envelopeOf(state))] };
  }

  function taken(op: string | undefined): Control | undefined {
    const found = state.controls.get(op ?? "");
    if (op !== undefined) state.controls.delete(op);
    return found;
  }

  /** Without a session there is nothing to answer anybody with: the host hears why, and that is the end. */
  function refused({ fault }: EventOf<"reply">): Step<Op> {
    const { code, message } = exitOf(fault);
    state.isOver = true;
    const controls = [...state.controls.values(), ...state.late].map(({ request_id }) => refusal(request_id, message));
    const result = resultLine({ subtype: "error_during_execution", text: message }, env.stamp().at, state);
    return { in: [], out: [...controls, result, { exit: code, reason: message }] };
  }

  /** Whoever still waits for a result hears that there will be none. */
  function onClosed(event: EventOf<"closed">): Out[] {
    if (state.isOver) return [];
    state.isOver = true;
    const problem = event.reason ?? "The agent has ended";
    return state.asked
      .splice(0)
      .flatMap(({ outcome = { problem }, times = 1 }) => Array.from({ length: times }, () => outcomeLines(outcome, state)).flat());
  }
}
