/** Host → agent: cancels, and results of the host's tools. */
import type { Op } from "../../../core/op.js";
import type { SideEnv, Step } from "../../dialect.js";
import { closing, quietSummary, sessionEvent } from "./write-turns.js";
import { invalid } from "./faults.js";
import { recoverable } from "./lines.js";
import { promptIdOf } from "./read-chats.js";
import type { Chat, Request } from "./read-ops.js";
import { resultCancel } from "./write-replies.js";
import { sessionNamed, type AgentState, type ClientSession, type Turn } from "./state.js";

type Cancel = Extract<Request, { kind: "cancel" }>["line"];

// --- cancel ---

/** Cancels the named prompt, else the running one, else the next one. */
export function readCancel(line: Cancel, state: AgentState, env: SideEnv): Step<Op> {
  const session = line.session_id == null ? state.active : sessionNamed(state, line.session_id);
  const asked = {
    session,
    promptId: line.prompt_id ?? undefined,
    reason: line.reason ?? undefined,
    requestId: line.request_id ?? undefined,
  };
  const noop = (why: string): Step<Op> => ({ in: [], out: resultCancel("noop", why, asked) });
  if (session === undefined) return noop(`There is no session '${line.session_id ?? ""}' here`);
  const turns = meantTurns(session, asked.promptId);
  const [first, ...others] = turns;
  if (first === undefined) return dropHeld(session, asked, state, env) ?? noop(nothing(asked.promptId));
  const id = env.stamp().id;
  state.asked.set(id, { kind: "cancel", ...asked, session, promptId: first.promptId });
  return { in: [first, ...others].map((turn, at) => interrupt(session, turn, at === 0 ? id : env.stamp().id, asked.reason)), out: [] };
}

function meantTurns(session: ClientSession, promptId: string | undefined): Turn[] {
  if (promptId !== undefined) return [...session.turns.values()].filter((turn) => turn.promptId === promptId);
  const next = session.live ?? session.turns.values().next().value;
  return next === undefined ? [] : [next];
}

function interrupt(session: ClientSession, turn: Turn, id: string, reason: string | undefined): Op {
  return { type: "turn.interrupt", id, session: session.handle, turn: turn.id, reason: `cancelled by the host (${reason ?? "escape"})` };
}

/** A held request is dropped before the agent gets it. */
function dropHeld(
  session: ClientSession,
  asked: Parameters<typeof resultCancel>[2],
  state: AgentState,
  env: SideEnv,
): Step<Op> | undefined {
  const at = session.held.findIndex(({ promptId }) => asked.promptId === undefined || promptId === asked.promptId);
  const [dropped] = at === -1 ? [] : session.held.splice(at, 1);
  if (dropped === undefined) return undefined;
  const promptId = promptIdOf(dropped, session);
  const now = env.stamp().at;
  const said = { at: now, session, promptId };
  const why = "The request is cancelled before it began.";
  return {
    in: [],
    out: [
      ...resultCancel("ok", why, { ...asked, promptId }),
      sessionEvent(said, "USER_CANCELLED", why),
      closing(state, said, { metadata: { summary: quietSummary(promptId, now, now, true), cancelled: true } }),
    ],
  };
}

function nothing(promptId: string | undefined): string {
  return promptId === undefined ? "Nothing runs that could be cancelled" : `The request '${promptId}' is neither running nor waiting`;
}

// --- tools of the host ---

/** Takes results only for calls that the host was given. */
export function readToolResponse(chat: Chat, state: AgentState, env: SideEnv): Step<Op> {
  const session = chat.sessionId === undefined ? state.active : sessionNamed(state, chat.sessionId);
  const { toolCallId: call } = chat;
  const about = { at: env.stamp().at, session: session ?? state.active, promptId: chat.promptId };
  const refuse = (message: string, param: string, code?: string): Step<Op> => {
    const said =
      about.session === undefined ? [] : [recoverable(state, { ...about, session: about.session }, invalid(message, param, code))];
    return { in: [], out: said };
  };
  if (call === undefined) return refuse("A tool_response needs the tool_call_id that it answers", "tool_call_id");
  if (session === undefined) return refuse(`There is no session '${chat.sessionId ?? ""}' here`, "session_id", "session_not_found");
  const request = session.hostCalls.get(call);
  if (request !== undefined) {
    session.hostCalls.set(call, undefined);
    return { in: [{ type: "host.answer", id: env.stamp().id, session: session.handle, request, ...chat.response }], out: [] };
  }
  const shown = session.live?.shown.get(call);
  const isComing = shown !== undefined && shown.status !== "ended" && session.live?.hostTools.has(shown.call.name) === true;
  if (!isComing || session.hostCalls.has(call) || session.earlyResponses.has(call))
    return refuse(`No call '${call}' waits for a result of the host`, "tool_call_id", "unknown_tool_call_id");
  session.earlyResponses.set(call, chat.response);
  return { in: [], out: [] };
}
