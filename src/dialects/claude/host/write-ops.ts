/** Host → agent, written: ops become user lines, control requests and control responses. */
import { plainText, type Part } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import { withoutCommand, withoutMentions } from "../../../core/text/plain-words.js";
import type { SideEnv, Step } from "../../dialect.js";
import { refused, replied } from "../../kit/reply.js";
import { wireMode } from "../wire/names.js";
import { hookAnswered } from "./hooks.js";
import { messageOf, rewind } from "./rewind.js";
import { change, interrupt } from "../../kit/stream-json/host/changes.js";
import { promptWarnings } from "../../kit/stream-json/host/prompt-gaps.js";
import type { SentPrompt } from "../../kit/stream-json/host/turns.js";
import type { HostState } from "./state.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, state, env);
    case "turn.steer":
      return steer(op, state);
    case "turn.interrupt":
      return interrupt(op, state);
    case "approval.answer":
      return state.questions.answer(op, state.running) ?? replied(op, "noop");
    case "host.answer":
      return (
        hookAnswered(op, state) ??
        state.questions.answerUser(op, state.session) ??
        state.questions.answerMessage(op, state.session) ??
        replied(op, "noop")
      );
    case "session.configure":
      return configure(op, state);
    case "session.rewind":
      return rewind(op, state);
    case "session.open":
    case "session.seed":
    case "session.close":
    case "session.list":
    case "session.watch":
    case "session.delete":
    case "session.mark":
    case "provider.set":
    case "command.suggest":
    case "ping":
    case "shutdown":
    case "other":
      return { in: [], out: [] };
    default:
      op satisfies never;
      return { in: [], out: [] };
  }
}

// --- turns ---

type Block = { type: "text"; text: string } | { type: "image"; source: object };

function prompt(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const sent: SentPrompt = { turn: op.turn ?? env.stamp().id, op: op.id };
  const content = contentOf(op);
  if (content.length === 0) return refused(op, "Claude Code takes no empty prompt", "protocol");
  state.prompts.push(sent);
  const said = promptWarnings(op, { agent: "Claude Code", source: "claude", session: state.session });
  return { in: said, out: [userLine(content, state, messageOf(sent.turn))] };
}

/** Sends text for the running turn. Claude Code folds it in after the next tool result, or else runs it as the next turn. */
function steer(op: OpOf<"turn.steer">, state: HostState): Step<Event> {
  if (state.running === undefined) return replied(op, "noop");
  const content = contentOf(op);
  return content.length === 0 ? replied(op, "noop") : { in: [], out: [userLine(content, state)] };
}

/** `uuid` names a prompt, so that its files can be taken back. */
function userLine(content: Block[], { sessionId = "" }: HostState, uuid?: string): { rec: unknown } {
  const named = uuid === undefined ? {} : { uuid };
  return { rec: { type: "user", ...named, session_id: sessionId, message: { role: "user", content }, parent_tool_use_id: null } };
}

/**
 * The prompt as blocks. Claude Code attaches mentioned files and runs text that begins with a slash; text that is not
 * meant so is escaped.
 */
function contentOf({ parts, ...op }: OpOf<"turn.prompt"> | OpOf<"turn.steer">): Block[] {
  const mentions = op.type === "turn.prompt" && op.mentions === true;
  const command = op.type === "turn.prompt" ? op.command : undefined;
  if (command !== undefined) {
    const args = (mentions ? command.args : withoutMentions(command.args ?? "")) ?? "";
    return [{ type: "text", text: `/${command.name}${args === "" ? "" : ` ${args}`}` }];
  }
  const blocks = parts.map((part) => blockOf(part, mentions)).filter((block) => block.type !== "text" || block.text !== "");
  const [first, ...rest] = blocks;
  return first?.type === "text" ? [{ ...first, text: withoutCommand(first.text) }, ...rest] : blocks;
}

function blockOf(part: Part, mentions: boolean): Block {
  if (part.type === "image") return { type: "image", source: { type: "base64", media_type: part.mime, data: part.data } };
  if (part.type === "file" && part.text === undefined) return { type: "text", text: namedFile(part) };
  const text = plainText([part]);
  // Mentions count in the prompt's own text only, not in the content of attached files.
  return { type: "text", text: mentions && part.type === "text" ? text : withoutMentions(text) };
}

/** A file as a mention, which Claude Code attaches; a `data:` address has no text. */
function namedFile({ path, uri = "" }: { path?: string | undefined; uri?: string | undefined }): string {
  if (path !== undefined) return /\s/.test(path) ? `@"${path}"` : `@${path}`;
  return /^data:/i.test(uri) ? "" : withoutMentions(uri);
}

// --- the session ---

function configure(op: OpOf<"session.configure">, state: HostState): Step<Event> {
  const { mode, model, thinkingBudget } = op.patch;
  const wired = mode === "yolo" ? "default" : wireMode(mode);
  const requests = [
    ...(mode === undefined ? [] : [{ subtype: "set_permission_mode", mode: wired }]),
    ...(model === undefined ? [] : [{ subtype: "set_model", model }]),
    ...(thinkingBudget === undefined ? [] : [{ subtype: "set_max_thinking_tokens", max_thinking_tokens: thinkingBudget }]),
  ];
  return change(op, requests, state);
}
