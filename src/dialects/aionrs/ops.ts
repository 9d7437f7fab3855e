/** Host → agent: commands and ops. */
import * as v from "valibot";
import { plainText, type Part } from "../../core/content.js";
import type { Event } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Out, SideEnv, Step } from "../dialect.js";
import { describeIssues, shapeOf, stringField } from "../kit/issues.js";
import { writeLaunch } from "./launch.js";
import type { AgentState, HostState } from "./state.js";
import { commands, WireMode, type Command } from "./wire.js";

// --- read: the agent's side ---

/** A command, or what is wrong with the line. */
export function readCommand(rec: unknown): Command | string {
  if (typeof rec !== "object" || rec === null || Array.isArray(rec)) return `A command must be a JSON object, not ${shapeOf(rec)}`;
  const type = stringField(rec, "type");
  if (type === undefined) return 'A command needs a string field "type"';
  const schema = Object.entries(commands).find(([name]) => name === type)?.[1];
  if (schema === undefined) return `Unknown command type: ${type}`;
  const result = v.safeParse(schema, rec);
  return result.success ? result.output : `Invalid ${type}: ${describeIssues(result.issues)}`;
}

export function readOps(command: Command, state: AgentState, env: SideEnv): Op[] {
  const head = { id: env.stamp().id, session: state.session };
  switch (command.type) {
    case "message":
      return [prompt(command, state, env, head)];
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

function prompt(command: Extract<Command, { type: "message" }>, state: AgentState, env: SideEnv, head: { id: string; session: string }): Op {
  const turn = env.stamp().id;
  state.messages.set(turn, command.msg_id);
  const files = (command.files ?? []).map((path): Part => ({ type: "file", path }));
  return { type: "turn.prompt", ...head, turn, parts: [{ type: "text", text: command.input ?? command.content ?? "" }, ...files] };
}

/** The turn that runs or is next; none is a no-op. */
function stop(state: AgentState, head: { id: string; session: string }): Op[] {
  const turn = state.messages.keys().next().value;
  return turn === undefined ? [] : [{ type: "turn.interrupt", ...head, turn, reason: "stopped by the host" }];
}

// --- write: the host's side ---

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "session.open":
      return open(op, state);
    case "turn.prompt":
      return send(message(op, state, env));
    case "turn.interrupt":
      if (state.turn === undefined) return answered(op, "noop");
      state.interrupted = true;
      return { in: answered(op, "ok").in, out: [{ rec: { type: "stop" } }] };
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

/** A process is one session: opening it is starting it. */
function open(op: OpOf<"session.open">, state: HostState): Step<Event> {
  state.session = op.session;
  state.opener = op.id;
  return { in: [], out: [{ launch: writeLaunch(op) }] };
}

/** Both names of the text: each revision reads its own and ignores the other. */
function message(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): unknown {
  const msg_id = op.turn ?? env.stamp().id;
  if (op.id !== undefined) state.prompts.set(msg_id, op.id);
  const files = op.parts.flatMap((part) => (part.type === "file" && part.path !== undefined ? [part.path] : []));
  const input = plainText(op.parts.filter((part) => part.type !== "file" || part.path === undefined));
  return { type: "message", msg_id, input, content: input, ...(files.length > 0 && { files }) };
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
  if (!v.is(WireMode, mode)) {
    const fault = { code: "unsupported", message: `aionrs has no mode '${String(mode)}'`, retryable: false };
    return { in: [{ type: "reply", to: op.type, status: "error", fault, parent: op.id, session: state.session }], out: [] };
  }
  return {
    in: [{ type: "session.updated", session: state.session, parent: op.id, config: { mode } }],
    out: [{ rec: { type: "set_mode", mode } }],
  };
}

function send(rec: unknown): Step<Event> {
  return { in: [], out: [{ rec }] };
}

function answered(op: Op, status: "ok" | "noop"): Step<Event> {
  return { in: [{ type: "reply", to: op.type, status, parent: op.id, session: op.session }], out: [] };
}
