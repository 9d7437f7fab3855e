/** Host → agent, written: ops become user lines, control requests and control responses. */
import { plainText, textPart, type Part } from "../../../core/content.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import { withoutCommand, withoutMentions } from "../../../core/text/plain-words.js";
import type { SideEnv, Step } from "../../dialect.js";
import { refused, replied, warning } from "../../kit/reply.js";
import { NOTHING } from "../../kit/step.js";
import { change, interrupt } from "../../kit/stream-json/host/changes.js";
import { promptWarnings } from "../../kit/stream-json/host/prompt-gaps.js";
import type { SentPrompt } from "../../kit/stream-json/host/turns.js";
import type { HostState } from "./state.js";
import { wireMode } from "../wire/names.js";

export function writeOp(op: Op, state: HostState, env: SideEnv): Step<Event> {
  switch (op.type) {
    case "turn.prompt":
      return prompt(op, state, env);
    case "turn.interrupt":
      return interrupt(op, state);
    case "approval.answer":
      return state.questions.answer(op, state.running) ?? replied(op, "noop");
    case "host.answer":
      return state.questions.answerMessage(op, state.session) ?? replied(op, "noop");
    case "session.configure":
      return configure(op, state);
    case "session.open":
    case "session.seed":
    case "session.close":
    case "session.list":
    case "session.watch":
    case "session.rewind":
    case "session.delete":
    case "session.mark":
    case "provider.set":
    case "turn.steer":
    case "command.suggest":
    case "ping":
    case "shutdown":
    case "other":
      return NOTHING;
    default:
      op satisfies never;
      return NOTHING;
  }
}

// --- turns ---

/** An empty message would never be answered. */
function prompt(op: OpOf<"turn.prompt">, state: HostState, env: SideEnv): Step<Event> {
  const sent: SentPrompt = { turn: op.turn ?? env.stamp().id, op: op.id };
  if (op.continues === true)
    return { in: [], out: [state.requests.send({ subtype: "continue_last_turn" }, { for: "continue", prompt: sent })] };
  const content = contentOf({ ...op, parts: op.parts.map(withoutImage) });
  if (content.length === 0) return refused(op, "Qwen Code takes no empty prompt", "protocol");
  state.prompts.push(sent);
  const said = promptWarnings(op, { agent: "Qwen Code", source: "qwen-shipped", session: state.session });
  const images = op.parts.filter(({ type }) => type === "image").length;
  if (images > 0) said.push(warning(`Qwen Code takes no images over its protocol; ${images} left out`, state.session, "qwen-shipped"));
  const message = { role: "user", content };
  return { in: said, out: [{ rec: { type: "user", session_id: state.sessionId ?? "", message, parent_tool_use_id: null } }] };
}

/**
 * Escapes plain text: the agent attaches mentioned files and runs text that begins like a command, so other text is written
 * differently.
 */
function contentOf({ command, parts, mentions = false }: OpOf<"turn.prompt">): string {
  if (command !== undefined) {
    const args = mentions ? command.args : withoutMentions(command.args ?? "");
    return `/${command.name}${args === undefined || args === "" ? "" : ` ${args}`}`;
  }
  const words = parts.map((part) => writePart(part, mentions)).filter((text) => text !== "");
  return withoutCommand(words.join("\n"));
}

/** The agent would pass an image block to its model as JSON text. */
function withoutImage(part: Part): Part {
  return part.type === "image" ? textPart(`(An image of type ${part.mime} was left out: it cannot be sent to you)`) : part;
}

function writePart(part: Part, mentions: boolean): string {
  return part.type === "file" && part.text === undefined ? namedFile(part) : wordsOf(part, mentions);
}

/** Mentions count in the prompt's own text only, not in the content of attached files. */
function wordsOf(part: Part, mentions: boolean): string {
  const text = plainText([part]);
  return mentions && part.type === "text" ? text : withoutMentions(text);
}

/** A file as a mention, which the agent attaches; a `data:` address has no text. */
function namedFile({ path, uri = "" }: { path?: string | undefined; uri?: string | undefined }): string {
  if (path !== undefined) return `@${path.replaceAll(" ", "\\ ")}`;
  return /^data:/i.test(uri) ? "" : withoutMentions(uri);
}

// --- the session ---

function configure(op: OpOf<"session.configure">, state: HostState): Step<Event> {
  const { mode, model, effort } = op.patch;
  const requests = [
    ...(mode === undefined ? [] : [{ subtype: "set_permission_mode", mode: wireMode(mode) }]),
    ...(model === undefined ? [] : [{ subtype: "set_model", model }]),
    ...(effort === undefined ? [] : [{ subtype: "set_effort", effort }]),
  ];
  return change(op, requests, state);
}
