/** Agent → client, written: events that answer a request of the client or ask the client a question. */
import * as v from "valibot";
import { CommandReply } from "../../../core/command.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { exitMessage } from "../../kit/exit-message.js";
import { resultText } from "../../kit/slash.js";
import { NOTHING } from "../../kit/step.js";
import { CODES, errorOf, failure, result, type RpcId } from "../wire/rpc.js";
import type { SessionInfo } from "../wire/sessions.js";
import { writeUsage } from "../wire/usage.js";
import { update } from "./lines.js";
import { modesOf, optionsOf } from "./options.js";
import { askClient, askPermission, withdraw } from "./questions.js";
import { forget, type AgentState, type AskedPrompt, type ClientSession, type Pending } from "./state.js";
import { updatesOf } from "./write-updates.js";

export function writeEvent(event: Event, state: AgentState, env: SideEnv): Step<Op> {
  if (event.type === "reply") return onReply(event, state, env);
  if (event.type === "closed") return out(onClosed(event, state));
  const session = state.sessions.get(event.session ?? "");
  if (session === undefined) return out(unaddressed(event));
  if (event.type === "session.ready" && event.replay !== true) return out(onReady(event, session, state));
  if (event.replay === true) return out(replayed(event, session, state, env));
  switch (event.type) {
    case "session.updated":
      return out(onUpdated(event, session, state));
    case "session.ended":
      return out(onEnded(session, state));
    case "turn.ended":
      return out(onTurnEnded(event, session, state));
    case "approval.requested":
      return out([...updatesOf(event, session, state, env), ...askPermission(event, session, state)]);
    case "host.request":
      return askClient(event, session, state, env);
    case "host.settled":
      return out(withdraw(state, (asked) => asked.for === "host" && asked.session === session && asked.request === event.request));
    case "turn.started":
      return out(steered(event, state));
    case "tool.started":
    case "tool.ended":
      return out([...answered(event.call, session, state), ...updatesOf(event, session, state, env)]);
    default:
      return out(updatesOf(event, session, state, env));
  }
}

/** Withdraws the permission question of a call that started or ended: another host or the deadline answered it. */
function answered(call: string, session: ClientSession, state: AgentState): Out[] {
  return withdraw(state, (asked) => asked.for === "approval" && asked.session === session && asked.call === call);
}

function unaddressed(event: Event): Out[] {
  if (event.type === "error") return [{ log: event.fault.message }];
  return event.type === "notice" && (event.level === "warning" || event.level === "error") ? [{ log: event.text }] : [];
}

// --- sessions ---

function onReady(event: EventOf<"session.ready">, session: ClientSession, state: AgentState): Out[] {
  const pending = taken(event.parent, state);
  if (pending?.for !== "open") return [];
  const isNew = pending.op.open === "new" || pending.op.fork === true;
  if (isNew) session.id = event.sessionId ?? session.handle;
  session.isReady = true;
  session.name = event.name;
  know(event, session);
  state.named.set(session.id, session);
  const title = event.name === undefined ? [] : [update(session, "session_info_update", { title: event.name })];
  const left = pending.op.after !== undefined && typeof event.replay === "number" ? event.replay : 0;
  if (left === 0) return [opened(pending.rpc, isNew, session), ...title];
  session.replay = { left, rpc: pending.rpc };
  return title;
}

function opened(rpc: RpcId, isNew: boolean, session: ClientSession): Out {
  const body = { modes: modesOf(session), configOptions: optionsOf(session) };
  return result(rpc, isNew ? { sessionId: session.id, ...body } : body);
}

/** Writes a replayed event. Replayed approvals are left out; the open request is answered after the last replayed event. */
function replayed(event: Event, session: ClientSession, state: AgentState, env: SideEnv): Out[] {
  const lines = REPLAYED.has(event.type) ? updatesOf(event, session, state, env) : [];
  const { replay } = session;
  if (replay === undefined || --replay.left > 0) return lines;
  session.replay = undefined;
  session.message = undefined;
  session.calls.clear();
  return [...lines, opened(replay.rpc, false, session)];
}

const REPLAYED: ReadonlySet<Event["type"]> = new Set([
  "user.message",
  "text.delta",
  "text.done",
  "thinking.delta",
  "thinking.done",
  "tool.requested",
  "tool.ended",
  "other",
]);

function know({ config, capabilities }: EventOf<"session.ready"> | EventOf<"session.updated">, session: ClientSession): void {
  session.config = { ...session.config, ...config };
  session.capabilities = capabilities ?? session.capabilities;
  session.told = { mode: modesOf(session).currentModeId, options: JSON.stringify(optionsOf(session)) };
}

/** Notifies the client of each change that the answer to its own request does not contain. */
function onUpdated(event: EventOf<"session.updated">, session: ClientSession, state: AgentState): Out[] {
  const before = session.told;
  const pending = taken(event.parent, state);
  know(event, session);
  const asked = pending?.for === "mode" || pending?.for === "option" ? pending : undefined;
  const isMode = before.mode !== session.told.mode && asked?.for !== "mode";
  const isOptions = before.options !== session.told.options && asked?.for !== "option";
  const isNamed = event.name !== undefined && event.name !== session.name;
  session.name = event.name ?? session.name;
  return [
    ...(asked === undefined ? [] : [result(asked.rpc, asked.for === "option" ? { configOptions: optionsOf(session) } : {})]),
    ...(isMode ? [update(session, "current_mode_update", { currentModeId: session.told.mode })] : []),
    ...(isOptions ? [update(session, "config_option_update", { configOptions: optionsOf(session) })] : []),
    ...(isNamed ? [update(session, "session_info_update", { title: event.name })] : []),
  ];
}

function onEnded(session: ClientSession, state: AgentState): Out[] {
  const fault = { code: "session", message: `The session '${session.id}' has ended`, retryable: false };
  const questions = withdraw(state, (asked) => asked.session === session);
  const prompts = session.prompts.splice(0).map(({ rpc }) => failure(rpc, errorOf(fault)));
  const waiting = [...state.pending].filter(([, pending]) => "session" in pending && pending.session === session);
  for (const [op] of waiting) state.pending.delete(op);
  forget(session, state);
  return [
    ...questions,
    ...prompts,
    ...waiting.map(([, pending]) => (pending.for === "close" ? result(pending.rpc, {}) : failure(pending.rpc, errorOf(fault)))),
  ];
}

/** The agent is gone: each open request of the client is answered with its exit. */
function onClosed(event: EventOf<"closed">, state: AgentState): Out[] {
  const fault = { code: "launch", message: exitMessage(event), retryable: true };
  const prompts = [...state.sessions.values()].flatMap((session) => session.prompts.splice(0).map(({ rpc }) => rpc));
  const waiting = [...state.pending.values()].map(({ rpc }) => rpc);
  const loads = [...state.sessions.values()].flatMap(({ replay }) => (replay === undefined ? [] : [replay.rpc]));
  state.pending.clear();
  state.sessions.clear();
  return [...prompts, ...waiting, ...loads].map((rpc) => failure(rpc, errorOf(fault)));
}

// --- turns ---

function onTurnEnded(event: EventOf<"turn.ended">, session: ClientSession, state: AgentState): Out[] {
  session.message = undefined;
  session.calls.clear();
  const questions = withdraw(state, (asked) => asked.for === "approval" && asked.session === session && asked.turn === event.turn);
  const prompt = takePrompt(session, ({ op, turn }) => op === event.parent || turn === event.turn);
  return prompt === undefined ? questions : [...questions, endOf(prompt.rpc, event)];
}

/** Answers a steer that the agent ran as a turn of its own. */
function steered({ parent }: EventOf<"turn.started">, state: AgentState): Out[] {
  const pending = state.pending.get(parent ?? "");
  if (pending?.for !== "steer") return [];
  state.pending.delete(parent ?? "");
  return [result(pending.rpc, { outcome: "startedNewTurn" })];
}

function endOf(rpc: RpcId, event: EventOf<"turn.ended">): Out {
  const { outcome, fault, reason, usage } = event;
  if (outcome === "failed")
    return failure(rpc, errorOf(fault ?? { code: "internal", message: reason ?? "The turn failed", retryable: false }));
  return result(rpc, { stopReason: stopReason(event), ...(usage !== undefined && { usage: writeUsage(usage) }) });
}

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ["length", "max_tokens"],
  ["max_tokens", "max_tokens"],
  ["max_turns", "max_turn_requests"],
  ["max_tool_calls", "max_turn_requests"],
  ["max_cost", "max_turn_requests"],
  ["refusal", "refusal"],
  ["content-filter", "refusal"],
  ["content_filter", "refusal"],
]);

function stopReason({ outcome, finish }: EventOf<"turn.ended">): string {
  return outcome === "interrupted" ? "cancelled" : (STOP_REASONS.get(finish ?? "") ?? "end_turn");
}

function takePrompt(session: ClientSession, isMeant: (prompt: AskedPrompt) => boolean): AskedPrompt | undefined {
  const at = session.prompts.findIndex(isMeant);
  return at === -1 ? undefined : session.prompts.splice(at, 1)[0];
}

// --- replies ---

function onReply(event: EventOf<"reply">, state: AgentState, env: SideEnv): Step<Op> {
  const pending = state.pending.get(event.parent ?? "");
  if (pending !== undefined) return onPendingReply(event, pending, state, env);
  for (const session of state.sessions.values()) {
    const prompt = session.prompts.find(({ op }) => op === event.parent);
    if (prompt !== undefined) return onPromptReply(event, prompt, session, env);
  }
  // The agent failed to start, before any request: an error without an id tells the client.
  return event.parent === undefined && event.fault !== undefined ? out([failure(null, errorOf(event.fault))]) : NOTHING;
}

function onPendingReply(event: EventOf<"reply">, pending: Pending, state: AgentState, env: SideEnv): Step<Op> {
  if (event.status === "loading") return NOTHING;
  const { fault } = event;
  if (fault !== undefined && pending.for === "open") return onRefusedOpen(fault, pending, state, env);
  taken(event.parent, state);
  if (fault !== undefined) return out([failure(pending.rpc, errorOf(fault))]);
  switch (pending.for) {
    case "list":
      return out([result(pending.rpc, listed(event.data, pending))]);
    case "status":
      return out([statusOf(event.data, pending)]);
    case "steer":
      return out([
        result(pending.rpc, event.status === "ok" ? { outcome: "injected" } : { outcome: "promptRequired", reason: "noRunningTurn" }),
      ]);
    case "delete":
    case "mark":
      return out([result(pending.rpc, {})]);
    case "title":
      return out([result(pending.rpc, { title: pending.title })]);
    case "close":
    case "mode":
    case "option":
      // `noop`: nothing changed. A change and the end of a session come as events of their own.
      if (event.status !== "noop") break;
      return out([result(pending.rpc, pending.for === "option" ? { configOptions: optionsOf(pending.session) } : {})]);
    case "open":
      break;
    default:
      pending satisfies never;
  }
  state.pending.set(event.parent ?? "", pending);
  return NOTHING;
}

/** Opens the session again without the client's files and terminals if the agent cannot use them. */
function onRefusedOpen(fault: Fault, pending: Pending & { for: "open" }, state: AgentState, env: SideEnv): Step<Op> {
  const { op, rpc } = pending;
  state.pending.delete(op.id ?? "");
  const { workspace, ...config } = op.config ?? {};
  if (fault.code === "unsupported" && workspace !== undefined) {
    const again = { ...op, id: env.stamp().id, config };
    state.pending.set(again.id, { ...pending, op: again });
    return { in: [again], out: [] };
  }
  state.sessions.delete(op.session);
  return out([failure(rpc, errorOf(fault))]);
}

/** Writes the result of a command as a message; an unknown command is sent again as plain text. */
function onPromptReply({ fault, data, status }: EventOf<"reply">, prompt: AskedPrompt, session: ClientSession, env: SideEnv): Step<Op> {
  if (status === "loading") return NOTHING;
  if (fault?.param === "command" && prompt.plain !== undefined) {
    const again = { ...prompt.plain, id: env.stamp().id };
    prompt.op = again.id;
    prompt.plain = undefined;
    return { in: [again], out: [] };
  }
  const said = v.is(CommandReply, data) ? data.result : undefined;
  if (fault === undefined && (said === undefined || said.type === "submit_prompt")) return NOTHING;
  takePrompt(session, (one) => one === prompt);
  if (fault?.code === "interrupted") return out([result(prompt.rpc, { stopReason: "cancelled" })]);
  if (fault !== undefined) return out([failure(prompt.rpc, errorOf(fault))]);
  const text = said === undefined || said.type === "submit_prompt" ? "" : resultText(said);
  const words = text === "" ? [] : [update(session, "agent_message_chunk", { messageId: env.stamp().id, content: { type: "text", text } })];
  return out([...words, result(prompt.rpc, { stopReason: "end_turn" })]);
}

// --- the list ---

const StoredSessions = v.looseObject({
  stored: v.optional(
    v.array(
      v.looseObject({
        id: v.string(),
        cwd: v.optional(v.string()),
        name: v.optional(v.string()),
        firstPrompt: v.optional(v.string()),
        usedAt: v.optional(v.number()),
        archived: v.optional(v.boolean()),
      }),
    ),
  ),
});

const PAGE = 100;

/** One page of the stored sessions. The cursor is the number of sessions on the pages before. */
function listed(
  data: unknown,
  { cwd, cursor, archived: shown }: Pending & { for: "list" },
): { sessions: SessionInfo[]; nextCursor?: string } {
  const stored = v.is(StoredSessions, data) ? (data.stored ?? []) : [];
  const all = stored
    .filter((session) => cwd === undefined || session.cwd === cwd)
    .filter(({ archived = false }) => shown === "include" || archived === (shown === "only"));
  const from = Number.parseInt(cursor ?? "0", 10) || 0;
  const sessions = all.slice(from, from + PAGE).map(({ id, cwd: folder = "", name, firstPrompt, usedAt, archived }): SessionInfo => ({
    sessionId: id,
    cwd: folder,
    title: name ?? firstPrompt ?? null,
    ...(usedAt !== undefined && { updatedAt: new Date(usedAt).toISOString() }),
    ...(archived === true && { archived }),
  }));
  return { sessions, ...(from + PAGE < all.length && { nextCursor: String(from + PAGE) }) };
}

function statusOf(data: unknown, { rpc, sessionId }: Pending & { for: "status" }): Out {
  const stored = v.is(StoredSessions, data) ? (data.stored ?? []) : [];
  if (stored.some(({ id }) => id === sessionId)) return result(rpc, { status: "saved" });
  return failure(rpc, { code: CODES.notFound, message: `There is no session '${sessionId}'`, data: { sessionId } });
}

function taken(op: string | undefined, state: AgentState): Pending | undefined {
  const pending = state.pending.get(op ?? "");
  state.pending.delete(op ?? "");
  return pending;
}

function out(lines: Out[]): Step<Op> {
  return { in: [], out: lines };
}
