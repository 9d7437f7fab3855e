/** Agent → client, read: `session/update` of a session that is open. */
import * as v from "valibot";
import { plainText, type Part } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import { OUTPUT_CHARS } from "../../../core/limits.js";
import type { SideEnv } from "../../dialect.js";
import { partOf } from "../wire/content.js";
import { readUsage } from "../wire/usage.js";
import { KnownUpdate, UpdateParams, type UpdateOf } from "../wire/updates.js";
import { capabilitiesOf, chosen, configNow, knowOptions } from "./options.js";
import { beginStarting, endDenied, readCall } from "./read-calls.js";
import type { DrivenSession, HostState } from "./state.js";

/** The largest number of updates kept for a session that is not ready, and of session names not known yet. */
const MOST_EARLY = 256;
const MOST_UNNAMED = 16;

export function readUpdate(params: unknown, state: HostState, env: SideEnv): Event[] | undefined {
  if (!v.is(UpdateParams, params)) return undefined;
  const session = state.named.get(params.sessionId);
  if (session === undefined) return keepUnnamed(params.sessionId, params, state);
  const begun = session.turn === undefined ? [] : beginStarting(session.turn);
  const events = [...begun, ...updateOf(params.update, session, state, env)];
  if (session.isReady) return events;
  if (session.early.length + events.length <= MOST_EARLY) session.early.push(...events);
  return [];
}

/** Keeps updates of an unknown session only while an opening waits for its name; updates of a closed session are dropped. */
function keepUnnamed(sessionId: string, params: unknown, { sessions, unnamed }: HostState): Event[] {
  if (![...sessions.values()].some(({ id }) => id === undefined)) {
    unnamed.clear();
    return [];
  }
  const kept = unnamed.get(sessionId) ?? [];
  if (kept.length < MOST_EARLY) kept.push(params);
  if (unnamed.size < MOST_UNNAMED) unnamed.set(sessionId, kept);
  return [];
}

function updateOf(update: v.InferOutput<typeof UpdateParams>["update"], session: DrivenSession, state: HostState, env: SideEnv): Event[] {
  if (!v.is(KnownUpdate, update)) return [unknown(update, session)];
  if (session.replay !== undefined && isPast(update)) {
    session.replay.read(update);
    return [];
  }
  switch (update.sessionUpdate) {
    case "user_message_chunk":
      // The agent repeats our prompt.
      return [];
    case "agent_message_chunk":
      return chunk("text", update, session);
    case "agent_thought_chunk":
      return chunk("thinking", update, session);
    case "tool_call":
    case "tool_call_update":
      return session.turn === undefined ? [] : readCall(update, session.turn);
    case "plan":
      return plan(update, session, env);
    case "available_commands_update":
      return [commands(update, session)];
    case "current_mode_update":
      chosen(session, { method: "session/set_mode", params: { modeId: update.currentModeId } });
      return updated(session, state);
    case "config_option_update":
      knowOptions(session, update);
      return updated(session, state);
    case "session_info_update":
      return named(update, session);
    case "usage_update":
      return [usage(update, session)];
    case "notice":
      return [notice(update, session)];
    case "compaction_update":
      return compaction(update, session);
    case "compaction_summary_chunk":
      keepSummary(update, session);
      return [];
    default:
      update satisfies never;
      return [];
  }
}

function isPast({ sessionUpdate }: KnownUpdate): boolean {
  return sessionUpdate.endsWith("_chunk") || sessionUpdate.startsWith("tool_call") || sessionUpdate === "plan";
}

/** The address of the running turn; without a turn that of the session. */
function address({ turn, handle }: DrivenSession): { session: string; turn?: string; parent?: string } {
  return turn?.reader.address ?? { session: handle };
}

function unknown(update: { sessionUpdate: string }, session: DrivenSession): Event {
  return { type: "other", ...address(session), name: update.sessionUpdate, data: update, ext: { acp: update } };
}

// --- words ---

/** A new message id closes the open block. Qwen Code sends the usage of a model call with an empty chunk. */
function chunk(
  kind: "text" | "thinking",
  update: UpdateOf<"agent_message_chunk" | "agent_thought_chunk">,
  session: DrivenSession,
): Event[] {
  const { turn } = session;
  if (turn === undefined) return outside(update, session);
  const meta: Record<string, unknown> = metaOf(update);
  const used = readUsage(meta["usage"]);
  const part = partOf(update.content);
  const spent = used === undefined ? [] : turn.reader.spent(used);
  if (part.type === "text" && part.text === "") return spent;
  const isOther = update.messageId != null && turn.message !== undefined && update.messageId !== turn.message;
  const closed = isOther ? turn.reader.closeBlock() : [];
  turn.message = update.messageId ?? turn.message;
  const text = part.type === "text" ? part.text : plainText([part]) || `[${part.type}]`;
  return [...endDenied(turn), ...closed, ...turn.reader.piece(kind, text), ...spent];
}

function metaOf(update: object): Record<string, unknown> {
  const found = Object.entries(update).find(([key]) => key === "_meta")?.[1];
  return v.is(v.record(v.string(), v.unknown()), found) ? found : {};
}

/** Text outside a turn becomes a notice. */
function outside({ content }: UpdateOf<"agent_message_chunk" | "agent_thought_chunk">, { handle }: DrivenSession): Event[] {
  const text = plainText([partOf(content)]);
  return text.trim() === "" ? [] : [{ type: "notice", session: handle, level: "info", text, source: "acp" }];
}

// --- the plan ---

/** A plan is the output of the open TodoWrite call; without one it becomes a call of its own. */
function plan({ entries }: UpdateOf<"plan">, { turn }: DrivenSession, env: SideEnv): Event[] {
  if (turn === undefined) return [];
  const items = entries.map(({ content, status }) => ({ text: content, status: statusOf(status) }));
  const output: Part[] = [{ type: "todo", items }];
  const { reader } = turn;
  const open = reader.calls.findLast(({ call, now }) => call.name === "TodoWrite" && now !== "ended");
  const told = open === undefined ? undefined : turn.calls.get(open.wireId);
  if (told !== undefined && open !== undefined) {
    told.plan = { type: "tool.ended", call: open.id, status: "ok", output };
    return [];
  }
  const { id } = env.stamp();
  const todos = items.map(({ text, status }) => ({ content: text, status }));
  const call = { id, name: "TodoWrite", args: { todos }, category: "info" as const, title: `Update the plan (${items.length} entries)` };
  return [...reader.request(call), ...reader.begin(id), ...reader.end(id, { status: "ok", output })];
}

function statusOf(status: string): "pending" | "in_progress" | "completed" {
  return status === "completed" || status === "in_progress" ? status : "pending";
}

// --- the session ---

function updated(session: DrivenSession, state: HostState): Event[] {
  session.config = configNow(session);
  const { handle, config } = session;
  return [{ type: "session.updated", session: handle, config, capabilities: capabilitiesOf(session, state) }];
}

function named({ title }: UpdateOf<"session_info_update">, session: DrivenSession): Event[] {
  if (title == null || title === session.name) return [];
  session.name = title;
  return [{ type: "session.updated", session: session.handle, name: title, config: session.config }];
}

function commands({ availableCommands }: UpdateOf<"available_commands_update">, { handle }: DrivenSession): Event {
  const listed = availableCommands.map(({ name, description, input }) => ({
    name,
    ...(description != null && { description }),
    ...(input?.hint != null && { argumentHint: input.hint }),
  }));
  return { type: "catalog.updated", session: handle, whole: true, commands: listed };
}

/** `context` is the present fill of the window; `usage` is the sum of the session's turns. */
function usage({ used, size, cost }: UpdateOf<"usage_update">, session: DrivenSession): Event {
  const counts = session.used ?? { input: 0, output: 0 };
  const dollars = cost?.currency === "USD" ? { cost: cost.amount } : {};
  return {
    type: "usage",
    session: session.handle,
    scope: "session",
    usage: counts,
    ...(size > 0 && { context: { used: Math.max(0, used), limit: size } }),
    ...dollars,
  };
}

const LEVELS: ReadonlyMap<string, EventOf<"notice">["level"]> = new Map([
  ["warning", "warning"],
  ["error", "error"],
]);

function notice({ severity, title, description }: UpdateOf<"notice">, session: DrivenSession): Event {
  const text = description == null || description === "" ? title : `${title}\n${description}`;
  return { type: "notice", ...address(session), level: LEVELS.get(severity) ?? "info", text, source: "acp" };
}

/** The largest number of summaries that are collected from chunks at the same time. */
const MOST_SUMMARIES = 8;

function keepSummary({ compactionId, content }: UpdateOf<"compaction_summary_chunk">, { summaries }: DrivenSession): void {
  if (!summaries.has(compactionId) && summaries.size >= MOST_SUMMARIES) return;
  const whole = `${summaries.get(compactionId) ?? ""}${plainText([partOf(content)])}`;
  summaries.set(compactionId, whole.slice(0, OUTPUT_CHARS).toWellFormed());
}

function compaction({ compactionId, status, summary, error }: UpdateOf<"compaction_update">, session: DrivenSession): Event[] {
  const closed = session.turn?.reader.closeBlock() ?? [];
  const head = { type: "compaction" as const, ...address(session) };
  if (status === "in_progress") return [...closed, { ...head, phase: "started" }];
  const told = summary == null ? session.summaries.get(compactionId) : plainText(summary.map(partOf));
  session.summaries.delete(compactionId);
  const words = status === "completed" ? told : (error ?? undefined);
  return [
    ...closed,
    { ...head, phase: status === "completed" ? "ended" : "failed", ...(words !== undefined && words !== "" && { summary: words }) },
  ];
}
