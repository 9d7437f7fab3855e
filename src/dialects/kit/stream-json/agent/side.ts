/** The agent's side of a stream-json wire: one session, whose prompts are answered in order, each by exactly one `result`. */
import type { Fault } from "../../../../core/errors.js";
import type { Event, EventOf } from "../../../../core/event.js";
import type { Op } from "../../../../core/op.js";
import type { Launch } from "../../../../core/wire.js";
import type { Out, Side, Step } from "../../../dialect.js";
import { echo } from "../../issues.js";
import { NOTHING, together } from "../../step.js";
import { ask, control, isDrained, released } from "./intake.js";
import { address, type Asked, type Control } from "./session.js";
import type { AgentWire } from "./wire.js";
import { commandText } from "./command-text.js";
import { readHostLine, type HostLine } from "./read-host-lines.js";
import { askedBy } from "./read-prompts.js";
import { uuidOf } from "../uuid.js";
import type { HostResponse } from "../wire.js";
import { refusal } from "../write-lines.js";

export function streamJsonAgent<Request extends { subtype: string }, Pending extends Control>(
  wire: AgentWire<Request, Pending>,
): Side<Op, Event> {
  const { state } = wire;
  const { env } = state;
  return {
    read(frame) {
      if (state.isOver) return NOTHING;
      if ("launch" in frame) return wire.collected(opened(frame.launch));
      const said =
        "bad" in frame
          ? { problem: `${frame.bad}: ${echo(frame.line)}` }
          : readHostLine(frame.rec, (asked) => wire.readRequest(asked), wire.quiet);
      return wire.collected(onLine(said));
    },
    write(event) {
      // Deltas are many, and nothing waits for one.
      if (event.type === "text.delta" || event.type === "thinking.delta") return wire.collected(wire.turnEvent(event));
      return wire.collected(together(written(event), released(wire)));
    },
    end() {
      state.isDeaf = true;
      const refused = wire.unasked?.("Input closed") ?? [];
      const ops = [...state.questions.closed("Input closed", () => address(state)), ...refused];
      state.drains = !isDrained(state);
      return { in: ops, out: [], ...(state.drains && { waits: true as const }) };
    },
  };

  // --- lines ---

  /** The command line opens the session; `initialize` may add to it. */
  function opened(launch: Launch): Step<Op> {
    const { open, cwd } = launch;
    const added = wire.launched(launch);
    // A fork has a name of its own, which the host may choose.
    state.session = (open?.fork === true ? open.session : open?.sessionId) ?? uuidOf(env.stamp().id);
    state.opener = env.stamp().id;
    const config = { ...(cwd !== undefined && { cwd }), ...open?.config, ...added };
    state.config = config;
    // The name of the latest session is known only when the session is ready.
    state.sessionId = state.session === "latest" ? "" : state.session;
    return { in: [{ open: "new", ...open, type: "session.open", id: state.opener, session: state.session, config }], out: [] };
  }

  function onLine(said: HostLine<Request>): Step<Op> {
    if ("problem" in said) return { in: [], out: wire.unread(said.problem) };
    if ("ignored" in said) return together({ in: [], out: [wire.ignored(said.ignored)] }, unanswered(said));
    if ("refused" in said) return { in: [], out: [refusal(said.request_id, said.refused, said.code)] };
    if ("request" in said) return control(said, wire);
    if ("response" in said) return answered(said.response);
    if ("cancels" in said) return cancelled(said.cancels);
    if ("quiet" in said) return NOTHING;
    const asked = askedBy(said.prompt, state, (op) => wire.turnId?.(said.prompt, op) ?? op);
    return ask(wire.keepsPrompts?.() === true ? { ...asked, said: said.prompt } : asked, wire);
  }

  function unanswered({ fails: request_id, ignored: error }: Extract<HostLine<Request>, { ignored: string }>): Step<Op> {
    if (request_id === undefined) return NOTHING;
    const response = { subtype: "error", request_id, error } as const;
    return answered({ type: "control_response", response });
  }

  function answered(response: HostResponse): Step<Op> {
    return wire.answered?.(response) ?? state.questions.answered(response, () => address(state));
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
        return wire.hostRequest(event);
      case "host.settled":
        state.questions.settledMessage(event.request);
        return {
          in: [],
          out: [...state.questions.settled(({ request }) => request === event.request), ...(wire.hostSettled?.(event.request) ?? [])],
        };
      default:
        return wire.turnEvent(event);
    }
  }

  function onReady(event: EventOf<"session.ready">): Step<Op> {
    state.isReady = true;
    state.isGathered ||= event.capabilities?.["catalog"] !== true;
    wire.ready?.(event);
    know(event);
    return NOTHING;
  }

  /** An update with a parent answers a control request; one without comes from a command or a plan. */
  function onUpdated(event: EventOf<"session.updated">): Step<Op> {
    const before = state.config.mode;
    know(event);
    const isChanged = state.config.mode !== before;
    if (isChanged) state.modeName = undefined;
    const asked = taken(event.parent);
    const told = isChanged ? (wire.modeChanged?.() ?? []) : [];
    return { in: [], out: [...(asked === undefined ? [] : [wire.answer(asked, undefined)]), ...told] };
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
    if (event.to === "session.open") return event.status === "error" ? notOpened(event.fault) : NOTHING;
    const asked = taken(event.parent);
    if (asked !== undefined)
      return { in: [], out: [event.fault === undefined ? wire.answer(asked, event.data) : notDone(asked, event.fault)] };
    const prompt = state.asked.find(({ op }) => op !== undefined && op.id === event.parent);
    return prompt === undefined ? NOTHING : onPromptReply(event, prompt);
  }

  /** A driven agent without a way to take the additions of `initialize` works without them, and the first turn does not wait for them. */
  function notDone(asked: Pending, fault: Fault): Out {
    if (asked.subtype !== "initialize") return wire.refuse(asked, fault);
    state.awaited.clear();
    return fault.code === "unsupported" ? wire.answer(asked, undefined) : wire.refuse(asked, fault);
  }

  /** The answer of a command, or the reason for a missing turn. An unknown command is sent as a prompt. */
  function onPromptReply({ fault, data }: EventOf<"reply">, asked: Asked): Step<Op> {
    if (fault?.param === "command" && asked.plain !== undefined) {
      asked.op = asked.plain;
      return { in: [asked.plain], out: [] };
    }
    const text = fault === undefined ? commandText(data) : undefined;
    if (fault !== undefined) asked.outcome = { problem: fault.code === "interrupted" ? wire.cancelled : fault.message };
    else if (text !== undefined) asked.outcome = { text };
    if (fault === undefined || asked.op?.continues !== true) return NOTHING;
    return { in: [], out: wire.notContinued?.(fault) ?? [] };
  }

  function taken(op: string | undefined): Pending | undefined {
    const found = state.controls.get(op ?? "");
    if (op !== undefined) state.controls.delete(op);
    return found;
  }

  /** Without a session no request can be served: the host gets the reason, and the process exits. */
  function notOpened(fault: Fault | undefined): Step<Op> {
    const { message, out } = wire.notOpened(fault);
    state.isOver = true;
    const controls = [...state.controls.values(), ...state.late].map(({ request_id }) => refusal(request_id, message));
    return { in: [], out: [...controls, ...out] };
  }

  /** Every line that waits for a result gets one. */
  function onClosed(event: EventOf<"closed">): Out[] {
    if (state.isOver) return [];
    state.isOver = true;
    const problem = event.reason ?? "The agent has ended";
    const results = state.asked
      .splice(0)
      .flatMap(({ outcome = { problem }, times = 1 }) => Array.from({ length: times }, () => wire.outcome(outcome)).flat());
    return [...results, ...(wire.closed?.() ?? [])];
  }
}
