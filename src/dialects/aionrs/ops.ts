/** Host → agent: commands and ops. */
import * as v from "valibot";
import { plainText, type Part } from "../../core/content.js";
import type { Event } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Out, SideEnv, Step } from "../dialect.js";
import { issuesOf, echo, shapeOf, stringField } from "../kit/issues.js";
import { restrictions, unsaid, writeLaunch } from "./launch.js";
import type { AgentState, HostState } from "./state.js";
import { commands, WireMode, type Command } from "./wire.js";

// --- read: the agent's side ---

/** A command, or what is wrong with the line. */
export function readCommand(rec: unknown): Command | string {
  if (typeof rec !== "object" || rec === null || Array.isArray(rec)) return `A command must be a JSON object, not ${shapeOf(rec)}`;
  const type = stringField(rec, "type");
  if (type === undefined) return 'A command needs a string field "type"';
  const schema = Object.entries(commands).find(([name]) => name === type)?.[1];
  if (schema === undefined) return `Unknown command type: ${echo(type)}`;
  return v.is(schema, rec) ? rec : `Invalid ${type}: ${issuesOf(schema, rec)}`;
}

export function readOps(command: Command, state: AgentState, env: SideEnv): Op[] {
  const head = { id: env.stamp().id, session: state.session };
  switch (command.type) {
    case "message":
      return [prompt(command, state, head)];
    case "stop":
      return stop(state, head);
    case "tool_approve": {
      const grant = command.scope === "always" ? "category" : "call";
      return [{ type: "approval.answer", ...head, answers: [{ call: command.call_id, decision: "allow", grant }] }];
    }
    case "tool_deny":
      return [{ type: "approval.answer", ...head, answers: [{ call: command.call_id, decision: "deny", reason: command.reason ?? "" }] }];
    case "init_history":
      return [{ type: "session.seed", ...head, text: command.text }];
    case "set_mode":
      return [{ type: "session.configure", ...head, patch: { mode: command.mode } }];
    default:
      command satisfies never;
      return [];
  }
}

/** The turn has the op's id, so that a refusal, which names the op, finds it. */
function prompt(command: Extract<Command, { type: "message" }>, state: AgentState, head: { id: string; session: string }): Op {
  state.messages.set(head.id, command.msg_id);
  const files = (command.files ?? []).map((path): Part => ({ type: "file", path }));
  return { type: "turn.prompt", ...head, turn: head.id, parts: [{ type: "text", text: command.input ?? command.content ?? "" }, ...files] };
}

/** The turn that runs or is next; none is a no-op. */
function stop(state: AgentState, head: { id: string; session: string }): Op[] {
  const turn = state.messages.keys().next().value;
  return turn === undefined ? [] : [{ type: "turn.interrupt", ...head, turn, reason: "stopped by the host" }];
}

// --- write: the host's side ---

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return message(op, state, env);
    case "turn.interrupt":
      return interrupt(op, state);
    case "approval.answer":
      return { in: [], out: op.answers.map((answer) => answerLine(answer, state)) };
    case "session.seed":
      return { in: answered(op, "ok").in, out: [{ rec: { type: "init_history", text: op.text } }] };
    case "session.configure":
      return configure(op, state);
    default:
      return { in: [], out: [] };
  }
}

/** A process is one session: opening it is starting it. Translation never widens authority: what would restrict it and cannot be said is refused. */
export function openOp(op: OpOf<"session.open">, state: HostState): Step<Event> {
  state.session = op.session;
  const { mode } = op.config ?? {};
  if (mode !== undefined && !v.is(WireMode, mode)) return refused(op, noMode(mode), state);
  const dropped = restrictions(op.config ?? {});
  if (dropped.length > 0) return refused(op, `aionrs cannot be told ${dropped.join(", ")}, and would do more without`, state);
  state.opener = op.id;
  if (mode === "auto_edit") state.mode = mode;
  const lost = unsaid(op.config ?? {});
  return { in: lost.length === 0 ? [] : [warning(`aionrs cannot be told ${lost.join(", ")}`, state)], out: [{ launch: writeLaunch(op) }] };
}

/** Both names of the text: each revision reads its own and ignores the other. */
function message(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const msg_id = op.turn ?? env.stamp().id;
  state.prompts.set(msg_id, op.id);
  const files = op.parts.flatMap((part) => (part.type === "file" && part.path !== undefined ? [part.path] : []));
  const input = plainText(op.parts.filter((part) => part.type !== "file" || part.path === undefined));
  const lost = unsendable(op);
  return {
    in: lost.length === 0 ? [] : [warning(`aionrs cannot carry ${lost.join(", ")}; files go by their paths`, state)],
    out: [{ rec: { type: "message", msg_id, input, content: input, ...(files.length > 0 && { files }) } }],
  };
}

function unsendable({ parts, command, overrides }: OpOf<"turn.prompt">): string[] {
  const lost = parts.filter(isUnsendable).map((part) => `a part of type ${part.type}`);
  if (command !== undefined) lost.push("a command");
  if (overrides !== undefined) lost.push("overrides");
  return lost;
}

function isUnsendable(part: Part): boolean {
  if (part.type === "image") return true;
  if (part.type !== "file" && part.type !== "resource") return false;
  return part.text === undefined && !(part.type === "file" && part.path !== undefined);
}

/** The wire's word names no message: it is said only when the message meant is the one on the wire. */
function interrupt(op: OpOf<"turn.interrupt">, state: HostState): Step<Event> {
  const [asked] = state.prompts.keys();
  const onWire = state.turn ?? asked;
  if (onWire === undefined || (op.turn !== undefined && op.turn !== onWire)) return answered(op, "noop");
  state.interrupted = true;
  return { in: answered(op, "ok").in, out: [{ rec: { type: "stop" } }] };
}

function answerLine(answer: OpOf<"approval.answer">["answers"][number], state: HostState): Out {
  if (answer.decision === "allow") {
    return { rec: { type: "tool_approve", call_id: answer.call, scope: answer.grant === "category" ? "always" : "once" } };
  }
  state.denied.add(answer.call);
  return { rec: { type: "tool_deny", call_id: answer.call, reason: answer.reason ?? "" } };
}

/** The wire does not acknowledge a mode, so we do. */
function configure(op: OpOf<"session.configure">, state: HostState): Step<Event> {
  const { mode } = op.patch;
  if (!v.is(WireMode, mode)) return refused(op, noMode(mode), state);
  return {
    in: [{ type: "session.updated", session: state.session, parent: op.id, config: { mode } }],
    out: [{ rec: { type: "set_mode", mode } }],
  };
}

function noMode(mode: string | undefined): string {
  return `aionrs has no mode '${mode ?? ""}'; it has ${WireMode.options.join(", ")}`;
}

function refused(op: Op, message: string, state: HostState): Step<Event> {
  const fault = { code: "unsupported", message, retryable: false };
  return { in: [{ type: "reply", to: op.type, status: "error", fault, parent: op.id, session: state.session }], out: [] };
}

function warning(text: string, state: HostState): Event {
  return { type: "notice", session: state.session, level: "warning", text, source: "aionrs" };
}

function answered(op: Op, status: "ok" | "noop"): Step<Event> {
  return { in: [{ type: "reply", to: op.type, status, parent: op.id, session: op.session }], out: [] };
}
