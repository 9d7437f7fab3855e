/** Host → agent, written: ops become commands. */
import { plainText, type Part } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import { withoutCommand } from "../../../core/text/plain-words.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { configure } from "./changes.js";
import { refused, replied, reply, warning } from "../../kit/reply.js";
import type { HostState } from "./state.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return message(op, state, env);
    case "turn.interrupt":
      return interrupt(op, state);
    case "approval.answer":
      return answer(op, state);
    case "session.seed":
      return { in: [reply(op, "ok")], out: [{ rec: { type: "init_history", text: op.text } }] };
    case "session.configure":
      return configure(op, state);
    case "ping":
      state.pings.push(op.id);
      return { in: [], out: [{ rec: { type: "ping" } }] };
    case "session.open":
    case "session.close":
    case "session.list":
    case "session.watch":
    case "session.rewind":
    case "session.delete":
    case "session.mark":
    case "provider.set":
    case "turn.steer":
    case "host.answer":
    case "command.suggest":
    case "shutdown":
    case "other":
      return { in: [], out: [] };
    default:
      op satisfies never;
      return { in: [], out: [] };
  }
}

/** The text has two field names: each revision reads its own and ignores the other. Text that only looks like a command is escaped. */
function message(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const msg_id = op.turn ?? env.stamp().id;
  state.prompts.set(msg_id, op.id);
  state.prompted = true;
  const files = op.parts.flatMap((part) => (part.type === "file" && part.path !== undefined ? [part.path] : []));
  const words = plainText(op.parts.filter((part) => part.type !== "file" || part.path === undefined));
  const slash = state.revision.isLater ? op.command : undefined;
  const input = slash === undefined ? withoutCommand(words) : `/${slash.name}${slash.args ? ` ${slash.args}` : ""}`;
  const lost = unsendable(op, slash !== undefined);
  return {
    in:
      lost.length === 0
        ? []
        : [warning(`${state.revision.name} cannot carry ${lost.join(", ")}; files go by their paths`, state.session, state.revision.id)],
    out: [{ rec: { type: "message", msg_id, input, content: input, ...(files.length > 0 && { files }) } }],
  };
}

function unsendable({ parts, command, overrides }: OpOf<"turn.prompt">, isSlash: boolean): string[] {
  const lost = parts.filter(isUnsendable).map((part) => `a part of type ${part.type}`);
  if (command !== undefined && !isSlash) lost.push("a command");
  if (overrides !== undefined) lost.push("overrides");
  return lost;
}

function isUnsendable(part: Part): boolean {
  if (part.type === "image") return true;
  if (part.type !== "file" && part.type !== "resource") return false;
  return part.text === undefined && !(part.type === "file" && part.path !== undefined);
}

/** Interrupts the message on the wire. The wire's stop names no message, so other turns get `noop`. */
function interrupt(op: OpOf<"turn.interrupt">, state: HostState): Step<Event> {
  const [asked] = state.prompts.keys();
  const onWire = state.running?.reader.address.turn ?? asked;
  if (onWire === undefined || (op.turn !== undefined && op.turn !== onWire)) return replied(op, "noop");
  state.interrupted = true;
  return { in: [reply(op, "ok")], out: [{ rec: { type: "stop" } }] };
}

/** The real program ignores an answer without an open question, so our side reports the outcome. */
function answer(op: OpOf<"approval.answer">, state: HostState): Step<Event> {
  const open = op.answers.filter(({ call }) => state.asked.get(call) === "open" && state.running?.reader.byId(call)?.now === "requested");
  const out = open.map((one) => answerLine(one, state));
  const strange = op.answers.find(({ call }) => !state.asked.has(call));
  if (strange !== undefined) return { in: refused(op, `No approval was asked for call '${strange.call}'`, "protocol").in, out };
  return { in: open.length < op.answers.length ? [reply(op, "noop")] : [], out };
}

function answerLine(answer: OpOf<"approval.answer">["answers"][number], state: HostState): Out {
  state.asked.set(answer.call, "settled");
  if (answer.decision === "deny") state.running?.denied.add(answer.call);
  const token = state.tokens.get(answer.call);
  if (token !== undefined) return { rec: { type: "approval_resume", resume_token: token, approved: answer.decision === "allow" } };
  const call_id = state.running?.reader.byId(answer.call)?.wireId ?? answer.call;
  if (answer.decision === "allow") {
    return { rec: { type: "tool_approve", call_id, scope: answer.grant === "category" ? "always" : "once" } };
  }
  return { rec: { type: "tool_deny", call_id, reason: answer.reason ?? "" } };
}
