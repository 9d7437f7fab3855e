/** Server → client: parameters of notifications, by method. Each may have `emittedAtMs`. */
import * as v from "valibot";
import { Item } from "./items.js";
import { Question } from "./questions.js";
import { Answered, Refused, RequestId } from "./requests.js";
import { Settings, Thread, TokenCounts, Turn, TurnError } from "./threads.js";

const text = v.string();
const ofTurn = { threadId: text, turnId: text } as const;
const delta = { ...ofTurn, itemId: text, delta: text } as const;

const PlanStep = v.looseObject({ step: text, status: v.picklist(["pending", "inProgress", "completed"]) });

export const notifications = {
  error: v.looseObject({ error: TurnError, willRetry: v.optional(v.boolean(), false), ...ofTurn }),
  warning: v.looseObject({ threadId: v.nullish(text), message: text }),
  configWarning: v.looseObject({ summary: text, details: v.nullish(text) }),
  "thread/started": v.looseObject({ thread: Thread }),
  "thread/status/changed": v.looseObject({
    threadId: text,
    status: v.looseObject({
      type: v.picklist(["notLoaded", "idle", "systemError", "active"]),
      activeFlags: v.nullish(v.array(text)),
    }),
  }),
  "thread/closed": v.looseObject({ threadId: text }),
  "thread/archived": v.looseObject({ threadId: text }),
  "thread/unarchived": v.looseObject({ threadId: text }),
  "thread/deleted": v.looseObject({ threadId: text }),
  "thread/reverted": v.looseObject({ threadId: text }),
  "thread/name/updated": v.looseObject({ threadId: text, threadName: v.nullish(text) }),
  "thread/settings/updated": v.looseObject({ threadId: text, threadSettings: Settings }),
  "thread/tokenUsage/updated": v.looseObject({
    ...ofTurn,
    tokenUsage: v.looseObject({ total: TokenCounts, last: TokenCounts, modelContextWindow: v.nullish(v.number()) }),
  }),
  "turn/started": v.looseObject({ threadId: text, turn: Turn }),
  "turn/completed": v.looseObject({ threadId: text, turn: Turn }),
  "turn/plan/updated": v.looseObject({ ...ofTurn, explanation: v.nullish(text), plan: v.array(PlanStep) }),
  "item/started": v.looseObject({ ...ofTurn, item: Item }),
  "item/completed": v.looseObject({ ...ofTurn, item: Item }),
  "item/agentMessage/delta": v.looseObject(delta),
  "item/plan/delta": v.looseObject(delta),
  "item/reasoning/summaryPartAdded": v.looseObject({ ...ofTurn, itemId: text, summaryIndex: v.number() }),
  "item/reasoning/summaryTextDelta": v.looseObject({ ...delta, summaryIndex: v.nullish(v.number()) }),
  "item/reasoning/textDelta": v.looseObject(delta),
  "item/commandExecution/outputDelta": v.looseObject(delta),
  "item/fileChange/outputDelta": v.looseObject(delta),
  "item/mcpToolCall/progress": v.looseObject({ ...ofTurn, itemId: text, message: text }),
  "serverRequest/resolved": v.looseObject({ threadId: text, requestId: RequestId }),
  "mcpServer/startupStatus/updated": v.looseObject({
    threadId: v.nullish(text),
    name: text,
    status: v.picklist(["starting", "ready", "failed", "cancelled"]),
    error: v.nullish(text),
  }),
} as const;
export type NotificationMethod = keyof typeof notifications;
export type NoticeOf<M extends NotificationMethod> = v.InferOutput<(typeof notifications)[M]>;

function notification<M extends NotificationMethod>(method: M) {
  return v.looseObject({ method: v.literal(method), params: notifications[method] });
}

const Notification = v.variant("method", [
  notification("error"),
  notification("warning"),
  notification("configWarning"),
  notification("thread/started"),
  notification("thread/status/changed"),
  notification("thread/closed"),
  notification("thread/archived"),
  notification("thread/unarchived"),
  notification("thread/deleted"),
  notification("thread/reverted"),
  notification("thread/name/updated"),
  notification("thread/settings/updated"),
  notification("thread/tokenUsage/updated"),
  notification("turn/started"),
  notification("turn/completed"),
  notification("turn/plan/updated"),
  notification("item/started"),
  notification("item/completed"),
  notification("item/agentMessage/delta"),
  notification("item/plan/delta"),
  notification("item/reasoning/summaryPartAdded"),
  notification("item/reasoning/summaryTextDelta"),
  notification("item/reasoning/textDelta"),
  notification("item/commandExecution/outputDelta"),
  notification("item/fileChange/outputDelta"),
  notification("item/mcpToolCall/progress"),
  notification("serverRequest/resolved"),
  notification("mcpServer/startupStatus/updated"),
]);

/** Any record of the server: a notification, a question, or an answer to the client. */
export const ServerRecord = v.union([Notification, Question, Answered, Refused]);
