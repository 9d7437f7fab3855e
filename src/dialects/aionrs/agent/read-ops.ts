/** Host → agent, read: commands become ops. */
import * as v from "valibot";
import type { Part } from "../../../core/content.js";
import type { Op, OpOf } from "../../../core/op.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { SideEnv, Step } from "../../dialect.js";
import { issuesOf, echo, shapeOf, stringField } from "../../kit/issues.js";
import { addServer, setConfig, setMode } from "./changes.js";
import type { AgentState } from "./state.js";
import type { Command, CommandOf } from "../wire/records.js";

/** A command, or the problem of the line. */
export function readCommand(rec: unknown, { revision }: AgentState): Command | string {
  if (!isRecord(rec)) return `A command must be a JSON object, not ${shapeOf(rec)}`;
  const type = stringField(rec, "type");
  if (type === undefined) return 'A command needs a string field "type"';
  const schema = Object.entries(revision.commands).find(([name]) => name === type)?.[1];
  if (schema === undefined) return `Unknown command type: ${echo(type)}`;
  return v.is(schema, rec) ? rec : `Invalid ${type}: ${issuesOf(schema, rec)}`;
}

export function readOps(command: Command, state: AgentState, env: SideEnv): Step<Op> {
  const head = { id: env.stamp().id, session: state.session };
  switch (command.type) {
    case "message":
      return asked(prompt(command, state, head));
    case "stop":
      return stop(state, head);
    case "tool_approve": {
      const grant = command.scope === "always" ? "category" : "call";
      return asked({ type: "approval.answer", ...head, answers: [{ call: command.call_id, decision: "allow", grant }] });
    }
    case "tool_deny":
      return asked({
        type: "approval.answer",
        ...head,
        answers: [{ call: command.call_id, decision: "deny", reason: command.reason ?? "" }],
      });
    case "init_history":
      return asked({ type: "session.seed", ...head, text: command.text });
    case "set_mode":
      return setMode(command, state, head);
    case "set_config":
      return setConfig(command, state, head);
    case "add_mcp_server":
      return addServer(command, state, head, env);
    case "ping":
      return asked({ type: "ping", ...head });
    default:
      command satisfies never;
      return { in: [], out: [] };
  }
}

function asked(op: Op): Step<Op> {
  return { in: [op], out: [] };
}

/** The turn has the op's id, so that a refusal, which names the op, finds it. */
function prompt(command: CommandOf<"message">, state: AgentState, head: { id: string; session: string }): Op {
  state.prompted = true;
  state.messages.set(head.id, command.msg_id);
  const files = (command.files ?? []).map((path): Part => ({ type: "file", path }));
  const words = command[state.revision.text] ?? command.input ?? command.content ?? "";
  const plain: OpOf<"turn.prompt"> = { type: "turn.prompt", ...head, turn: head.id, parts: [{ type: "text", text: words }, ...files] };
  const slash = state.revision.isLater && files.length === 0 ? slashCommand(words, state) : undefined;
  if (slash === undefined) return plain;
  state.slashed.set(head.id, plain);
  return { ...plain, command: slash };
}

/** Until the commands are known, the agent is asked; a text without a known command is sent as a prompt. */
function slashCommand(words: string, { commands }: AgentState): { name: string; args?: string } | undefined {
  const [, name, args] = /^\/([\w:.-]+)(?:\s+([^]*))?$/.exec(words.trim()) ?? [];
  if (name === undefined || commands?.has(name) === false) return undefined;
  return { name, ...(args !== undefined && { args }) };
}

/** The running turn or the next one; without either the command has no effect. */
function stop(state: AgentState, head: { id: string; session: string }): Step<Op> {
  const turn = state.messages.keys().next().value;
  return turn === undefined ? { in: [], out: [] } : asked({ type: "turn.interrupt", ...head, turn, reason: "stopped by the host" });
}
