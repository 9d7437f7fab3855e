/** The agent's end of the wire: one session, whose prompts are answered in their order, each by exactly one `result`. */
import type { Fault } from "../../core/errors.js";
import type { Event, EventOf } from "../../core/event.js";
import { QUEUE_LIMIT } from "../../core/limits.js";
import type { Op } from "../../core/op.js";
import { roughSize } from "../../core/queue.js";
import type { Launch } from "../../core/wire.js";
import type { Out, Side, SideEnv, Step } from "../dialect.js";
import { echo } from "../kit/issues.js";
import { Questions } from "./asking.js";
import { canAnswer, onRequest } from "./controls.js";
import { exitOf } from "./exits.js";
import { readLine, type HostSaid } from "./host-lines.js";
import { collected } from "./document.js";
import { withSchema } from "./host-tools.js";
import { uuidOf } from "./ids.js";
import { refusal, systemLine } from "./lines.js";
import { askedBy } from "./prompts.js";
import { onHostRequest } from "./requests.js";
import { controlAnswer, controlRefusal } from "./replies.js";
import { commandText } from "./slash.js";
import { address, agentState, envelopeOf, type AgentState, type Asked, type Control } from "./state.js";
import { readSwitches } from "./switches.js";
import { resultLine, outcomeLines } from "./turn.js";
import { turnEvent } from "./write-events.js";

/** Seconds that the control channel gives a host for an answer. */
const ANSWER_SECONDS = 60;
/** Prompts that are held, together. */
const HELD_BYTES = 32 * 1024 * 1024;
/** Lines and requests that wait for their turn. */
const MOST_WAITING = 1024;
const NOTHING: Step<Op> = { in: [], out: [] };

export function agentSide(env: SideEnv): Side<Op, Event> {
  const state = agentState(env, new Questions(env));
  return {
    read(frame) {
      if (state.isOver) return NOTHING;
      if ("launch" in frame) return collected(opened(frame.launch), state);
      return collected(onLine("bad" in frame ? { problem: `${frame.bad}: ${echo(frame.line)}` } : readLine(frame.rec)), state);
    },
    write(event) {
      // The many: nobody waits for them.
      if (event.type === "text.delta" || event.type === "thinking.delta") return collected(turnEvent(event, state), state);
      return collected(joined(written(event), released()), state);
    },
    end() {
      state.isDeaf = true;
      const ops = state.questions.closed("Input closed", () => address(state));
      state.drains = !isDrained();
      return { in: ops, out: [], ...(state.drains && { waits: true as const }) };
    },
  };

  // --- lines ---

  /** The command line opens the session; what `initialize` adds to it comes later. */
  function opened({ argv, open, cwd }: Launch): Step<Op> {
    state.switches = readSwitches(argv);
    const { schema, fork, mode } = state.switches;
    state.modeName = mode;
    state.session = state.sessionId = open?.sessionId ?? uuidOf(env.stamp().id);
    state.opener = env.stamp().id;
    const config = {
      answerSeconds: ANSWER_SECONDS,
      ...(cwd !== undefined && { cwd }),
      ...open?.config,
      ...withSchema(schema, open?.config),
    };
    state.config = config;
    const forked = open?.open === "resume" && fork === true ? { fork: true } : {};
    // A fork has a name of its own.
    if (open?.open === "resume" && fork === true) state.session = uuidOf(env.stamp().id);
    return { in: [{ open: "new", ...open, ...forked, type: "session.open", id: state.opener, session: state.session, config }], out: [] };
  }

  function onLine(said: HostSaid): Step<Op> {
    if ("problem" in said) return ask({ outcome: { problem: said.problem } });
    if ("ignored" in said) return { in: [], out: [notice(said.ignored)] };
    if ("refused" in said) return { in: [], out: [refusal(said.request_id, said.refused)] };
    if ("request" in said) return control(said);
    if ("response" in said) return state.questions.answered(said.response, () => address(state));
    if ("cancels" in said) return cancelled(said.cancels);
    return ask(askedBy(said.prompt, state));
  }

  /** What waits is bounded: a prompt too many is refused in its place, and of lines that are nothing so many are answered there and no more. */
  function ask(asked: Asked): Step<Op> {
    const held = state.asked.filter(({ isHeld }) => isHeld === true);
    if (state.asked.length >= MOST_WAITING) return { in: [], out: [notice("too many lines wait for an answer; this one gets none")] };
    if (asked.op === undefined) state.asked.push(asked);
    else if (held.length < QUEUE_LIMIT && roughSize(held) + roughSize(asked) < HELD_BYTES) state.asked.push({ ...asked, isHeld: true });
    else state.asked.push({ outcome: { problem: `${held.length} prompts wait already; this one was refused` } });
    return released();
  }

  function notice(text: string): Out {
    return systemLine("notice", { level: "warning", notice: text }, envelopeOf(state));
  }

  /** An interrupt is never late. */
  function control(said: AgentState["late"][number]): Step<Op> {
    const waits = !canAnswer(said.request, state) || waitsForInitialize();
    if (waits && said.request.subtype !== "interrupt") return later(said);
    return joined(onRequest(said.request_id, said.request, state), released());
  }

  function later(said: AgentState["late"][number]): Step<Op> {
    if (state.late.length >= MOST_WAITING) return { in: [], out: [refusal(said.request_id, "Too many requests wait already")] };
    state.late.push(said);
    return NOTHING;
  }

  function waitsForInitialize(): boolean {
    return state.late.some(({ request }) => request.subtype === "initialize");
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

  // --- what waited ---

  /** Whatever can go on now: control requests, then the answers that are there, then prompts. */
  function released(): Step<Op> {
    const step: Step<Op> = { in: [], out: [] };
    for (let at = 0; at < state.late.length;) {
      const next = state.late[at];
      if (next === undefined || !canAnswer(next.request, state)) at++;
      else {
        state.late.splice(at, 1);
        append(step, onRequest(next.request_id, next.request, state));
      }
    }
    append(step, answered());
    if (isWaiting()) return step;
    for (const asked of state.asked) {
      if (asked.isHeld !== true || asked.op === undefined) continue;
      asked.isHeld = false;
      if (asked.outcome === undefined) step.in.push(asked.op);
    }
    append(step, answered());
    if (state.drains && isDrained()) step.in.push(shutdown());
    return step;
  }

  /** The first prompt waits until all is there that the session was promised. */
  function isWaiting(): boolean {
    if (!state.isReady || !state.isGathered || state.awaited.size > 0 || waitsForInitialize() || lacksAgents()) return true;
    return [...state.controls.values()].some(({ subtype }) => subtype === "initialize");
  }

  /** The host's own kinds of sub-agents are not listed yet. */
  function lacksAgents(): boolean {
    const { config, capabilities, catalogue } = state;
    if (capabilities["catalog"] !== true) return false;
    return (config.subagents ?? []).some(({ name }) => catalogue.subagents?.some((agent) => agent.name === name) !== true);
  }

  /** Nothing is held. A run of one prompt has no other input: what this side answers itself must still be asked for. */
  function isDrained(): boolean {
    const { late, asked, switches } = state;
    return late.length === 0 && asked.every(({ isHeld }) => isHeld !== true && !switches.isOneShot);
  }

  /** The end of input came while something was held; now nothing is. */
  function shutdown(): Op {
    state.drains = false;
    return { type: "shutdown", id: env.stamp().id, when: "drained" };
  }

  /** Prompts that no turn answers, when their turn has come. */
  function answered(): Step<Op> {
    const out: Out[] = [];
    while (state.turn === undefined && state.isReady) {
      const { outcome } = state.asked[0] ?? {};
      if (outcome === undefined) break;
      state.asked.shift();
      out.push(...outcomeLines(outcome, state), ...leaving("problem" in outcome ? outcome.problem : undefined, state));
    }
    return { in: [], out };
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
    return state.asked.splice(0).flatMap(({ outcome = { problem } }) => outcomeLines(outcome, state));
  }
}

/** A process that runs one prompt leaves when it is answered. */
function leaving(problem: string | undefined, { switches }: AgentState): Out[] {
  return !switches.isOneShot || problem === undefined ? [] : [{ exit: 1, reason: problem }];
}

function joined(first: Step<Op>, second: Step<Op>): Step<Op> {
  return { in: [...first.in, ...second.in], out: [...first.out, ...second.out] };
}

function append(step: Step<Op>, more: Step<Op>): void {
  step.in.push(...more.in);
  step.out.push(...more.out);
}
