/** Agent → client, written: events become notifications and items that the thread keeps. */
import type { TodoItem } from "../../../core/content.js";
import type { Event, EventOf, Usage } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import { addUsage } from "../../../core/usage.js";
import { writeFault } from "../wire/errors.js";
import { writeInput } from "../wire/input.js";
import type { AnyItem } from "../wire/items.js";
import { writeUsage } from "../wire/usage.js";
import type { ClientThread, KeptTurn, Lane } from "./state.js";
import { keep, seconds, settingsView, statusView, threadView, turnView } from "./views.js";
import { completedItem, kindOf, startedItem, stringOf } from "./write-items.js";

export interface Notice {
  method: string;
  params: Record<string, unknown>;
}

export function notice(method: string, params: Record<string, unknown>): Notice {
  return { method, params };
}

/** The notifications of an event within a thread. questions.ts and side.ts write questions and answers. */
export function noticesOf(event: Event, thread: ClientThread): Notice[] {
  const at = event.at ?? 0;
  switch (event.type) {
    case "turn.started":
      return startTurn(event, thread);
    case "turn.ended":
      return endTurn(event, thread);
    case "text.delta":
    case "thinking.delta":
      return onLane(event, thread, (lane) => piece(event.type === "text.delta" ? "text" : "thinking", event.text, lane, at));
    case "text.done":
    case "thinking.done":
      return onLane(event, thread, (lane) => whole(event.type === "text.done" ? "text" : "thinking", event.text, lane, at));
    case "user.message":
      return onLane(event, thread, (lane) => userMessage(writeInput(event.parts).input, lane, at));
    case "tool.requested":
      return onLane(event, thread, (lane) =>
        event.call.name === "TodoWrite" ? held(event.call, lane, thread) : request(event.call, lane, thread, at),
      );
    case "tool.progress":
      return progress(event, thread);
    case "tool.ended":
      return endCall(event, thread, at);
    case "usage":
      return onUsage(event, thread);
    case "compaction":
      return compaction(event, thread, at);
    case "error":
      return onError(event, thread);
    case "notice":
      return onNotice(event, thread);
    case "session.updated":
      return onUpdated(event, thread);
    case "catalog.updated":
      return (event.mcpServers ?? []).map(({ name, status, error = null }) =>
        notice("mcpServer/startupStatus/updated", {
          threadId: thread.threadId,
          name,
          status: status === "connecting" ? "starting" : status,
          error,
          failureReason: null,
        }),
      );
    case "other":
      return passedOn(event, thread);
    case "session.ready":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "tool.delta":
    case "tool.started":
    case "approval.requested":
    case "approval.settled":
    case "host.request":
    case "host.settled":
    case "reply":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

// --- turns ---

export function beginTurn(id: string, thread: ClientThread, at: number): Notice[] {
  const turn: KeptTurn = { id, items: [], status: "inProgress", error: null, startedAt: seconds(at), completedAt: null, bytes: 0 };
  thread.lanes.set("", { threadId: thread.threadId, turn, block: undefined, count: 0 });
  thread.lastTurn = id;
  const { threadId } = thread;
  return [
    notice("thread/status/changed", { threadId, status: statusView(true) }),
    notice("turn/started", { threadId, turn: turnView(turn, "notLoaded") }),
  ];
}

function startTurn(event: EventOf<"turn.started">, thread: ClientThread): Notice[] {
  const id = event.turn ?? "";
  if (thread.lanes.get("")?.turn.id === id) return [];
  const begun = beginTurn(id, thread, event.at ?? 0);
  const said = thread.inputs.get(id);
  thread.inputs.delete(id);
  thread.wantsStructure = said?.schema !== undefined;
  const lane = thread.lanes.get("");
  return said === undefined || lane === undefined ? begun : [...begun, ...userMessage(said.input, lane, event.at ?? 0)];
}

const NO_STRUCTURE = "The model ended without a result that has the schema of this turn";

function endTurn(event: EventOf<"turn.ended">, thread: ClientThread): Notice[] {
  const lane = thread.lanes.get("");
  if (lane === undefined || lane.turn.id !== event.turn) return [];
  const at = event.at ?? 0;
  const counted = event.usage === undefined || thread.isCounted ? [] : count(event.usage, null, lane, thread);
  const value = thread.structured === undefined ? [] : whole("text", JSON.stringify(thread.structured.value), lane, at);
  const children = [...thread.lanes]
    .filter(([under]) => under !== "")
    .flatMap(([under, child]) => endLane(under, child, "completed", thread, at));
  const lacks = thread.wantsStructure && thread.structured === undefined && event.outcome === "completed" && !endsInJson(lane);
  const status = thread.structured !== undefined ? "completed" : lacks ? "failed" : event.outcome;
  const fault =
    status !== "failed"
      ? undefined
      : (thread.fault ?? event.fault ?? { code: "agent", message: lacks ? NO_STRUCTURE : (event.reason ?? "The turn failed") });
  const error = fault === undefined ? null : writeFault(fault);
  const failure = error === null ? [] : [notice("error", { error, willRetry: false, threadId: thread.threadId, turnId: lane.turn.id })];
  const left = [...thread.calls.values()].filter((shown) => shown.lane === lane);
  for (const { call } of left) thread.calls.delete(call.id);
  const ended = endLane("", lane, status, thread, at, error);
  thread.fault = thread.structured = thread.compacting = undefined;
  thread.isCounted = thread.wantsStructure = false;
  return [...counted, ...value, ...children, ...failure, ...ended];
}

function endsInJson({ turn }: Lane): boolean {
  const last = turn.items.findLast(({ type }) => type === "agentMessage");
  try {
    JSON.parse(typeof last?.["text"] === "string" ? last["text"] : "");
    return true;
  } catch {
    return false;
  }
}

export function endLane(
  under: string,
  lane: Lane,
  status: KeptTurn["status"],
  thread: ClientThread,
  at: number,
  error: unknown = null,
): Notice[] {
  thread.lanes.delete(under);
  const { turn, threadId } = lane;
  turn.status = status;
  turn.error = error;
  turn.completedAt = seconds(at);
  if (under === "") keep(thread, turn);
  const idle = under === "" ? [notice("thread/status/changed", { threadId, status: { type: "idle" } })] : [];
  return [...idle, notice("turn/completed", { threadId, turn: turnView(turn, "summary") })];
}

/** Writes to the lane of an event. The first event of a sub-agent opens its lane, which is a thread with one turn. */
function onLane(event: Event, thread: ClientThread, write: (lane: Lane) => Notice[]): Notice[] {
  const { under = "" } = event;
  const known = thread.lanes.get(under);
  if (known !== undefined) return write(known);
  const above = thread.calls.get(under);
  if (above === undefined) return [];
  const threadId = `${thread.threadId}/${under}`;
  const turn: KeptTurn = {
    id: `${under}-turn`,
    items: [],
    status: "inProgress",
    error: null,
    startedAt: seconds(event.at ?? 0),
    completedAt: null,
    bytes: 0,
  };
  const lane: Lane = { threadId, turn, block: undefined, count: 0 };
  thread.lanes.set(under, lane);
  above.item = { ...above.item, receiverThreadIds: [threadId] };
  const view = { ...threadView(thread), id: threadId, parentThreadId: thread.threadId, source: { subAgent: "other" } };
  return [
    notice("thread/started", { thread: view }),
    notice("turn/started", { threadId, turn: turnView(turn, "notLoaded") }),
    ...write(lane),
  ];
}

// --- items ---

function itemNotice(phase: "started" | "completed", item: AnyItem, lane: Lane, at: number): Notice {
  const times = phase === "started" ? { startedAtMs: at } : { completedAtMs: at };
  return notice(`item/${phase}`, { item, threadId: lane.threadId, turnId: lane.turn.id, ...times });
}

/** The largest number of items that a turn keeps. */
const ITEMS = 1000;

function completed(item: AnyItem, lane: Lane, at: number): Notice {
  const { items } = lane.turn;
  items.push(item);
  if (items.length > ITEMS) items.shift();
  return itemNotice("completed", item, lane, at);
}

function userMessage(input: readonly object[], lane: Lane, at: number): Notice[] {
  const item = { type: "userMessage", id: nextId("user", lane), clientId: null, content: input };
  return [itemNotice("started", item, lane, at), completed(item, lane, at)];
}

function nextId(kind: string, lane: Lane): string {
  return `${kind}_${lane.turn.id}_${++lane.count}`;
}

function blockItem({ id, kind, text }: NonNullable<Lane["block"]>): AnyItem {
  if (kind === "thinking") return { type: "reasoning", id, summary: text === "" ? [] : [text], content: [] };
  return { type: "agentMessage", id, text, phase: null, memoryCitation: null, delivery: null, questions: null };
}

function opened(kind: "text" | "thinking", lane: Lane, at: number): Notice[] {
  if (lane.block?.kind === kind) return [];
  const before = closeBlock(lane, at);
  lane.block = { id: nextId(kind === "text" ? "msg" : "rs", lane), kind, text: "" };
  const started = itemNotice("started", blockItem(lane.block), lane, at);
  if (kind === "text") return [...before, started];
  const part = { threadId: lane.threadId, turnId: lane.turn.id, itemId: lane.block.id, summaryIndex: 0 };
  return [...before, started, notice("item/reasoning/summaryPartAdded", part)];
}

function piece(kind: "text" | "thinking", delta: string, lane: Lane, at: number): Notice[] {
  const before = opened(kind, lane, at);
  const { block } = lane;
  if (block === undefined) return before;
  block.text += delta;
  const params = { threadId: lane.threadId, turnId: lane.turn.id, itemId: block.id, delta };
  if (kind === "text") return [...before, notice("item/agentMessage/delta", params)];
  return [...before, notice("item/reasoning/summaryTextDelta", { ...params, summaryIndex: 0 })];
}

function whole(kind: "text" | "thinking", text: string, lane: Lane, at: number): Notice[] {
  const before = opened(kind, lane, at);
  if (lane.block !== undefined) lane.block.text = text;
  return [...before, ...closeBlock(lane, at)];
}

function closeBlock(lane: Lane, at: number): Notice[] {
  const { block } = lane;
  if (block === undefined) return [];
  lane.block = undefined;
  return [completed(blockItem(block), lane, at)];
}

// --- calls ---

/** Keeps a TodoWrite call without an item: its end becomes `turn/plan/updated`. */
function held(call: EventOf<"tool.requested">["call"], lane: Lane, thread: ClientThread): Notice[] {
  thread.calls.set(call.id, { call, lane, item: startedItem(call, thread.config.cwd, lane.threadId) });
  return [];
}

function request(call: EventOf<"tool.requested">["call"], lane: Lane, thread: ClientThread, at: number): Notice[] {
  const before = closeBlock(lane, at);
  const item = startedItem(call, thread.config.cwd, lane.threadId);
  thread.calls.set(call.id, { call, lane, item });
  return [...before, itemNotice("started", item, lane, at)];
}

/** Shows a call before the question about it: a TodoWrite call gets its item, a change of a file its patch. */
export function announced(call: EventOf<"tool.requested">["call"], thread: ClientThread, at: number): Notice[] {
  const shown = thread.calls.get(call.id);
  if (shown === undefined) return [];
  const isHeld = shown.call.name === "TodoWrite";
  shown.call = { ...shown.call, ...call };
  if (isHeld) return [itemNotice("started", shown.item, shown.lane, at)];
  const item = startedItem(shown.call, thread.config.cwd, shown.lane.threadId);
  const isNews = kindOf(call.name) === "change" && JSON.stringify(item) !== JSON.stringify(shown.item);
  shown.item = item;
  if (!isNews) return [];
  const { threadId, turn } = shown.lane;
  return [notice("item/fileChange/patchUpdated", { threadId, turnId: turn.id, itemId: call.id, changes: item["changes"] })];
}

function progress({ call, text, parts }: EventOf<"tool.progress">, thread: ClientThread): Notice[] {
  const shown = thread.calls.get(call);
  const delta = text ?? (parts === undefined ? "" : JSON.stringify(parts));
  if (shown === undefined || delta === "") return [];
  const at = { threadId: shown.lane.threadId, turnId: shown.lane.turn.id, itemId: call };
  if (shown.item.type === "commandExecution") return [notice("item/commandExecution/outputDelta", { ...at, delta })];
  if (shown.item.type === "fileChange") return [notice("item/fileChange/outputDelta", { ...at, delta })];
  return [notice("item/mcpToolCall/progress", { ...at, message: delta })];
}

function endCall(event: EventOf<"tool.ended">, thread: ClientThread, at: number): Notice[] {
  const shown = thread.calls.get(event.call);
  if (shown === undefined) return [];
  thread.calls.delete(event.call);
  const { lane, call, item } = shown;
  const child = thread.lanes.get(event.call);
  const childEnd = child === undefined ? [] : [...closeBlock(child, at), ...endLane(event.call, child, "completed", thread, at)];
  const steps = call.name === "TodoWrite" && event.status === "ok" ? planOf(event, call.args) : undefined;
  const plan =
    steps === undefined
      ? []
      : [notice("turn/plan/updated", { threadId: lane.threadId, turnId: lane.turn.id, explanation: null, plan: steps })];
  return [...childEnd, ...plan, ...(steps === undefined ? [completed(completedItem(item, call, event), lane, at)] : [])];
}

const STEPS = { pending: "pending", in_progress: "inProgress", completed: "completed" } as const;

/** The steps of a TodoWrite call; undefined if neither its output nor its arguments have a list. */
function planOf({ output = [] }: EventOf<"tool.ended">, args: Record<string, unknown> = {}): object[] | undefined {
  const todo = output.find((part) => part.type === "todo");
  if (todo !== undefined) return todo.items.map(({ text, status }: TodoItem) => ({ step: text, status: STEPS[status] }));
  const { todos } = args;
  if (!Array.isArray(todos)) return undefined;
  return todos.filter(isRecord).map((each) => ({
    step: stringOf(each["text"] ?? each["content"]),
    status: each["status"] === "completed" ? "completed" : each["status"] === "in_progress" ? "inProgress" : "pending",
  }));
}

// --- counts, errors, and the session ---

function onUsage(event: EventOf<"usage">, thread: ClientThread): Notice[] {
  const lane = thread.lanes.get("");
  if (event.scope !== "call" || lane === undefined) return [];
  return count(event.usage, event.context?.limit ?? null, lane, thread);
}

function count(usage: Usage, limit: number | null, lane: Lane, thread: ClientThread): Notice[] {
  thread.isCounted = true;
  thread.usage = addUsage(thread.usage, usage);
  const tokenUsage = { total: writeUsage(thread.usage), last: writeUsage(usage), modelContextWindow: limit };
  return [notice("thread/tokenUsage/updated", { threadId: thread.threadId, turnId: lane.turn.id, tokenUsage })];
}

function compaction(event: EventOf<"compaction">, thread: ClientThread, at: number): Notice[] {
  const lane = thread.lanes.get(event.under ?? "") ?? thread.lanes.get("");
  if (lane === undefined) return [];
  const before = closeBlock(lane, at);
  if (event.phase === "started") {
    lane.count++;
    return [...before, itemNotice("started", compactionItem(lane), lane, at)];
  }
  if (event.phase === "ended") return [...before, completed(compactionItem(lane), lane, at)];
  return [...before, notice("warning", { threadId: thread.threadId, message: "The conversation could not be summed up" })];
}

function compactionItem(lane: Lane): AnyItem {
  return { type: "contextCompaction", id: `compact_${lane.turn.id}_${lane.count}` };
}

/** Keeps the fault of a turn for its end; another error becomes a warning. */
function onError({ fault, turn }: EventOf<"error">, thread: ClientThread): Notice[] {
  if (turn !== undefined && fault.code !== "tool") {
    thread.fault = fault;
    return [];
  }
  return [notice("warning", { threadId: thread.threadId, message: fault.message })];
}

function onNotice({ level, text, kind, turn }: EventOf<"notice">, thread: ClientThread): Notice[] {
  const { threadId } = thread;
  if (kind === "retry" && turn !== undefined)
    return [
      notice("error", { error: writeFault({ code: "provider", message: text, retryable: true }), willRetry: true, threadId, turnId: turn }),
    ];
  return level === "warning" || level === "error" ? [notice("warning", { threadId, message: text })] : [];
}

function onUpdated({ config = {}, name }: EventOf<"session.updated">, thread: ClientThread): Notice[] {
  const { threadId } = thread;
  thread.config = { ...thread.config, ...config };
  const renamed = name === undefined || name === thread.name ? [] : [notice("thread/name/updated", { threadId, threadName: name })];
  thread.name = name ?? thread.name;
  if (Object.keys(config).length === 0) return renamed;
  return [...renamed, notice("thread/settings/updated", { threadId, threadSettings: settingsView(thread) })];
}

/** Passes on a notification of an unknown method from a driven Codex unchanged. */
function passedOn({ ext }: EventOf<"other">, { threadId }: ClientThread): Notice[] {
  const said = ext?.["codex"];
  if (!isRecord(said) || typeof said["method"] !== "string") return [];
  const params = isRecord(said["params"]) ? said["params"] : {};
  return [notice(said["method"], "threadId" in params ? { ...params, threadId } : params)];
}
