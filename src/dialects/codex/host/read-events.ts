/** Server → host, read: finds the thread of a record and turns the record into events. */
import * as v from "valibot";
import type { TodoItem } from "../../../core/content.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, ListedMcpServer } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Step } from "../../dialect.js";
import { protocolError } from "../../kit/bad-line.js";
import { issuesOf, shapeOf } from "../../kit/issues.js";
import { warning } from "../../kit/reply.js";
import { NOTHING, stepOf } from "../../kit/step.js";
import { readFault } from "../wire/errors.js";
import { notifications, type NoticeOf, type NotificationMethod } from "../wire/notifications.js";
import { Answered, Called, Refused } from "../wire/requests.js";
import type { Turn } from "../wire/threads.js";
import { readUsage } from "../wire/usage.js";
import { completeItem, startItem } from "./read-items.js";
import { readQuestion } from "./read-questions.js";
import { placeOf, startTurn, type HostedThread, type HostState, type RunningTurn } from "./state.js";

export function readRecord(rec: unknown, state: HostState): Step<Event> {
  if (v.is(Called, rec)) {
    const { id, method, params } = rec;
    return id === undefined ? stepOf(readNotification(method, params, state)) : readQuestion(id, method, params, state);
  }
  if (v.is(Answered, rec) && "result" in rec) return answered(rec.id, { result: rec.result }, state);
  if (v.is(Refused, rec)) {
    const fault: Fault = { code: "agent", message: rec.error.message, retryable: false };
    return rec.id === null
      ? stepOf([protocolError(`The server could not read a line of ours: ${fault.message}`)])
      : answered(rec.id, { error: fault }, state);
  }
  return stepOf([protocolError(`The server wrote a record that is ${isRecord(rec) ? "neither a call nor an answer" : shapeOf(rec)}`)]);
}

/** Reads an answer; an answer without an open request is ignored. */
function answered(id: string | number, answer: { result: unknown } | { error: Fault }, state: HostState): Step<Event> {
  const waits = typeof id === "number" ? state.asked.get(id) : undefined;
  if (waits === undefined || typeof id !== "number") return NOTHING;
  state.asked.delete(id);
  return waits(answer);
}

// --- notifications ---

function readNotification(method: string, params: unknown, state: HostState): Event[] {
  if (IGNORED.has(method)) return [];
  if (!isNotification(method)) return [stray(method, params, state)];
  return (
    READERS[method](params, state) ?? [protocolError(`The server wrote an invalid ${method}: ${issuesOf(notifications[method], params)}`)]
  );
}

function isNotification(method: string): method is NotificationMethod {
  return Object.hasOwn(notifications, method);
}

/** Notifications that repeat other records or concern features that we do not show. */
const IGNORED: ReadonlySet<string> = new Set([
  "account/rateLimits/updated",
  "deprecationNotice",
  "remoteControl/status/changed",
  "thread/readState/changed",
  "turn/diff/updated",
  "item/fileChange/patchUpdated",
]);

/** Passes on a notification of an unknown method unchanged. */
function stray(method: string, params: unknown, state: HostState): Event {
  const threadId = isRecord(params) && typeof params["threadId"] === "string" ? params["threadId"] : undefined;
  const place = placeOf(threadId, state);
  return {
    type: "other",
    ...(place !== undefined && { session: place.thread.handle }),
    name: method,
    data: params,
    ext: { codex: { method, params } },
  };
}

type Read = (params: unknown, state: HostState) => Event[] | undefined;

/** A reader of a notification; it returns undefined for invalid parameters. */
function reader<M extends NotificationMethod>(method: M, read: (params: NoticeOf<M>, state: HostState) => Event[]): Read {
  const schema: v.GenericSchema<unknown, NoticeOf<M>> = notifications[method];
  return (params, state) => {
    const parsed = v.safeParse(schema, params);
    return parsed.success ? read(parsed.output, state) : undefined;
  };
}

const READERS: Readonly<Record<NotificationMethod, Read>> = {
  error: reader("error", onError),
  warning: reader("warning", ({ threadId, message }, state) => {
    const place = placeOf(threadId, state);
    return [
      place === undefined
        ? { type: "notice", level: "warning", text: message, source: "codex" }
        : warning(message, place.thread.handle, "codex"),
    ];
  }),
  configWarning: reader("configWarning", ({ summary, details }) => {
    const text = [summary, details ?? ""].filter((words) => words !== "").join("\n");
    return [{ type: "notice", level: "warning", text, source: "codex" }];
  }),
  "thread/started": () => [],
  "thread/status/changed": () => [],
  "thread/archived": () => [],
  "thread/unarchived": () => [],
  "thread/deleted": () => [],
  "thread/reverted": () => [],
  "thread/closed": reader("thread/closed", onClosed),
  "thread/name/updated": reader("thread/name/updated", ({ threadId, threadName }, state) => {
    const place = placeOf(threadId, state);
    if (place === undefined || threadName == null || place.under !== undefined) return [];
    return [{ type: "session.updated", session: place.thread.handle, sessionId: threadId, name: threadName }];
  }),
  "thread/settings/updated": reader("thread/settings/updated", onSettings),
  "thread/tokenUsage/updated": reader("thread/tokenUsage/updated", onUsage),
  "turn/started": reader("turn/started", ({ threadId, turn }, state) => onTurnStarted(threadId, turn, state)),
  "turn/completed": reader("turn/completed", ({ threadId, turn }, state) => onTurnCompleted(threadId, turn, state)),
  "turn/plan/updated": reader("turn/plan/updated", onPlan),
  "item/started": reader("item/started", ({ item, ...at }, state) => inTurn(at, state, (place) => startItem(item, place))),
  "item/completed": reader("item/completed", ({ item, ...at }, state) =>
    inTurn(at, state, (place, thread) => {
      followChildren(item, thread, place.told.callOf(item.id)?.id ?? item.id, state);
      return completeItem(item, place);
    }),
  ),
  "item/agentMessage/delta": reader("item/agentMessage/delta", onText),
  "item/plan/delta": reader("item/plan/delta", onText),
  "item/reasoning/summaryPartAdded": reader("item/reasoning/summaryPartAdded", ({ summaryIndex, ...at }, state) =>
    summaryIndex === 0 ? [] : inTurn(at, state, ({ told: turn, under }) => turn.piece("thinking", "\n\n", under)),
  ),
  "item/reasoning/summaryTextDelta": reader("item/reasoning/summaryTextDelta", onThought),
  "item/reasoning/textDelta": reader("item/reasoning/textDelta", onThought),
  "item/commandExecution/outputDelta": reader("item/commandExecution/outputDelta", onOutput),
  "item/fileChange/outputDelta": reader("item/fileChange/outputDelta", onOutput),
  "item/mcpToolCall/progress": reader("item/mcpToolCall/progress", ({ itemId, message, ...at }, state) =>
    inTurn(at, state, ({ told: turn }) => turn.progress(itemId, { text: message })),
  ),
  "serverRequest/resolved": reader("serverRequest/resolved", ({ requestId }, state) => {
    const question = state.questions.get(requestId);
    state.questions.delete(requestId);
    if (question?.kind !== "request") return [];
    return [
      {
        type: "host.settled",
        session: question.thread.handle,
        request: question.request,
        ok: false,
        reason: "it is answered elsewhere, or void",
      },
    ];
  }),
  "mcpServer/startupStatus/updated": reader("mcpServer/startupStatus/updated", ({ threadId, name, status, error }, state) => {
    const place = placeOf(threadId, state);
    if (place === undefined || place.under !== undefined) return [];
    const now = status === "ready" ? "ready" : status === "starting" ? "connecting" : "failed";
    const server: ListedMcpServer = { name, status: now, ...(error != null && { error }), tools: [] };
    return [{ type: "catalog.updated", session: place.thread.handle, whole: false, mcpServers: [server] }];
  }),
};

// --- within a turn ---

interface At {
  threadId: string;
  turnId: string;
}

type Place = RunningTurn & { under: string | undefined };

/** Reads a record of a thread's own turn, or of a sub-agent during it. Records after the end of their turn are dropped. */
function inTurn({ threadId, turnId }: At, state: HostState, read: (place: Place, thread: HostedThread) => Event[]): Event[] {
  const place = placeOf(threadId, state);
  if (place === undefined) return [];
  const { thread, under } = place;
  const begun = under === undefined && thread.running === undefined && isAwaited(turnId, thread) ? startTurn(turnId, thread) : [];
  const { running } = thread;
  if (running === undefined || (under === undefined && running.wireTurn !== turnId)) return begun;
  running.isBegun = true;
  return [...begun, ...read({ ...running, under }, thread)];
}

/** Whether a prompt of ours began the turn. A resumed thread repeats the counts of its last turn, which is none of ours. */
function isAwaited(turnId: string, { prompts }: HostedThread): boolean {
  return prompts.some(({ wireTurn }) => wireTurn === turnId);
}

function onText({ itemId: _item, delta, ...at }: NoticeOf<"item/agentMessage/delta">, state: HostState): Event[] {
  return inTurn(at, state, ({ told: turn, under }) => turn.piece("text", delta, under));
}

function onThought({ delta, ...at }: NoticeOf<"item/reasoning/textDelta">, state: HostState): Event[] {
  return inTurn(at, state, ({ told: turn, under }) => turn.piece("thinking", delta, under));
}

function onOutput({ itemId, delta, ...at }: NoticeOf<"item/commandExecution/outputDelta">, state: HostState): Event[] {
  return inTurn(at, state, ({ told: turn }) => turn.progress(itemId, { text: delta, channel: "stdout" }));
}

/** Remembers the threads of the sub-agents that a call started. */
function followChildren(item: { type: string }, thread: HostedThread, call: string, state: HostState): void {
  const receivers = "receiverThreadIds" in item ? item.receiverThreadIds : undefined;
  if (item.type !== "collabAgentToolCall" || !Array.isArray(receivers)) return;
  for (const id of receivers) if (typeof id === "string" && !state.children.has(id)) state.children.set(id, { thread, call });
}

/** Reads the usage of the last model call: the total includes the resumed part of the thread. */
function onUsage({ tokenUsage: { last, modelContextWindow }, ...at }: NoticeOf<"thread/tokenUsage/updated">, state: HostState): Event[] {
  return inTurn(at, state, ({ told: turn, under }) =>
    turn.spent(readUsage(last)).map((event) => {
      if (event.type !== "usage" || under !== undefined || modelContextWindow == null) return event;
      return { ...event, context: { used: last.totalTokens, limit: modelContextWindow } };
    }),
  );
}

const STEPS = { pending: "pending", inProgress: "in_progress", completed: "completed" } as const;

/** A plan has no item on the wire and becomes an ended TodoWrite call. */
function onPlan({ plan, explanation, ...at }: NoticeOf<"turn/plan/updated">, state: HostState): Event[] {
  const items = plan.map(({ step, status }): TodoItem => ({ text: step, status: STEPS[status] }));
  return inTurn(at, state, ({ told: turn }, { running }) => {
    if (running === undefined) return [];
    const id = `plan-${running.wireTurn}-${++running.plans}`;
    const todos = items.map(({ text: content, status }) => ({ content, status }));
    const args = { todos, ...(explanation != null && { explanation }) };
    return [
      ...turn.request({ id, name: "TodoWrite", category: "info", args }),
      ...turn.end(id, { status: "ok", output: [{ type: "todo", items }] }),
    ];
  });
}

/** A retry becomes a notice; the last failure is kept for the end of the turn. */
function onError({ error, willRetry, threadId, turnId }: NoticeOf<"error">, state: HostState): Event[] {
  return inTurn({ threadId, turnId }, state, ({ told: turn, under }, { running }) => {
    if (willRetry || under !== undefined) {
      const text = [error.message, error.additionalDetails ?? ""].filter((words) => words !== "").join(": ");
      return [{ type: "notice", ...turn.address, level: "warning", text, kind: "retry", source: "codex" }];
    }
    if (running !== undefined) running.failed = readFault(error);
    return [];
  });
}

// --- turns ---

function onTurnStarted(threadId: string, { id }: Turn, state: HostState): Event[] {
  const place = placeOf(threadId, state);
  if (place === undefined || place.under !== undefined) return [];
  const { thread } = place;
  // A turn that still runs has ended without a notification.
  const ended = thread.running === undefined || thread.running.wireTurn === id ? [] : endTurn(thread.running, undefined, thread, state);
  const begun = startTurn(id, thread);
  if (thread.running !== undefined) thread.running.isBegun = true;
  return [...ended, ...begun];
}

function onTurnCompleted(threadId: string, turn: Turn, state: HostState): Event[] {
  const place = placeOf(threadId, state);
  if (place === undefined) return [];
  const { thread, under } = place;
  if (under !== undefined) return thread.running?.told.closeBlock(under) ?? [];
  const begun = thread.running === undefined && isAwaited(turn.id, thread) ? startTurn(turn.id, thread) : [];
  if (thread.running?.wireTurn !== turn.id) return begun;
  return [...begun, ...endTurn(thread.running, turn, thread, state)];
}

/** Ends a turn and its open items, which an interrupt leaves open. */
export function endTurn(running: RunningTurn, turn: Turn | undefined, thread: HostedThread, state: HostState): Event[] {
  const settled = voidQuestions(thread, state, "the turn ended");
  thread.running = undefined;
  thread.prompts = thread.prompts.filter((each) => each !== running.prompt);
  const { told: reader } = running;
  const abandoned = {
    abandoned: (call: { now: string }) => ({ status: call.now === "started" ? ("ok" as const) : ("cancelled" as const) }),
  };
  switch (turn?.status) {
    case "interrupted":
      return [...settled, ...reader.close({ outcome: "interrupted", reason: "interrupted" })];
    case "failed": {
      const fault = turn.error == null ? (running.failed ?? UNSAID) : readFault(turn.error);
      return [...settled, ...reader.close({ outcome: "failed", reason: fault.message, fault })];
    }
    case "completed":
      return [...settled, ...reader.close({ outcome: "completed", finish: "stop" }, abandoned)];
    default:
      return [...settled, ...reader.close({ outcome: "failed", reason: UNSAID.message, fault: UNSAID })];
  }
}

const UNSAID: Fault = { code: "agent", message: "The turn failed, and the server did not say why", retryable: false };

export function voidQuestions(thread: HostedThread, state: HostState, reason: string): Event[] {
  return [...state.questions].flatMap(([id, question]): Event[] => {
    if (question.thread !== thread) return [];
    state.questions.delete(id);
    if (question.kind !== "request") return [];
    return [{ type: "host.settled", session: thread.handle, request: question.request, ok: false, reason }];
  });
}

// --- threads ---

function onClosed({ threadId }: NoticeOf<"thread/closed">, state: HostState): Event[] {
  const place = placeOf(threadId, state);
  if (place === undefined || place.under !== undefined) {
    state.children.delete(threadId);
    return [];
  }
  const { thread } = place;
  // The answer to our own request ends the session.
  if (thread.isClosing) return [];
  const ended = thread.running === undefined ? [] : endTurn(thread.running, undefined, thread, state);
  state.threads.delete(thread.handle);
  return [...ended, { type: "session.ended", session: thread.handle }];
}

/** Reads changes of settings by others, and side effects of a change of the mode. Our own changes are answered elsewhere. */
function onSettings({ threadId, threadSettings }: NoticeOf<"thread/settings/updated">, state: HostState): Event[] {
  const place = placeOf(threadId, state);
  if (place === undefined || place.under !== undefined) return [];
  const { thread } = place;
  const { model, effort, cwd } = threadSettings;
  const changed = {
    ...(model != null && model !== thread.config.model && { model }),
    ...(effort != null && effort !== thread.config.effort && { effort }),
    ...(cwd != null && cwd !== thread.config.cwd && { cwd }),
  };
  if (Object.keys(changed).length === 0) return [];
  thread.config = { ...thread.config, ...changed };
  return [{ type: "session.updated", session: thread.handle, sessionId: threadId, config: changed }];
}
