/** Requests about threads as they are kept: lists, names, archives, turns that are taken back, removals. */
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { together } from "../../kit/step.js";
import type { RequestId } from "../wire/requests.js";
import type { RequestOf } from "./calls.js";
import type { Context } from "./requests.js";
import type { ClientThread } from "./state.js";
import { storedThreads, threadView, type StoredThread } from "./views.js";
import { notice, type Notice } from "./write-events.js";

export function refused(id: RequestId, message = "The agent refused"): Step<Op> {
  return { in: [], out: [{ rec: { error: { code: -32_600, message }, id } }] };
}

/** Sends an op; `then` continues with its answer, or the request is refused with the agent's reason. */
function asking(id: RequestId, op: Op, { state }: Context, then: (event: Event) => Step<Op>): Step<Op> {
  state.waiting.set(op.id ?? "", (event) => {
    if (event.type === "reply" && event.status === "error") return refused(id, event.fault?.message);
    return then(event);
  });
  return { in: [op], out: [] };
}

/** The answer to a request, and the news of it for the client. */
function answered(id: RequestId, result: unknown, notices: readonly Notice[], { env, respond, tell }: Context): Step<Op> {
  return { in: [], out: [respond(id, result), ...tell(notices, env.stamp().at)] };
}

function withStored(id: RequestId, context: Context, then: (stored: readonly StoredThread[]) => Step<Op>): Step<Op> {
  const op: Op = { type: "session.list", id: context.env.stamp().id };
  return asking(id, op, context, (event) => then(event.type === "reply" ? storedThreads(event.data) : []));
}

// --- lists ---

export function list({ id, params }: RequestOf<"thread/list">, context: Context): Step<Op> {
  return withStored(id, context, (stored) => ({ in: [], out: [context.respond(id, pageOf(stored, params ?? {}))] }));
}

/** A cursor is the place where the next page begins. */
function pageOf(stored: readonly StoredThread[], params: NonNullable<RequestOf<"thread/list">["params"]>): object {
  const { limit, cursor, cwd, archived, searchTerm, sortDirection } = params;
  const folders = cwd == null ? undefined : [cwd].flat();
  const words = searchTerm?.toLowerCase() ?? "";
  const found = stored
    .filter((one) => one.isArchived === (archived === true))
    .map(({ thread }) => thread)
    .filter((thread) => folders === undefined || folders.includes(String(thread["cwd"])))
    .filter(({ name, preview }) => [name, preview].some((told) => typeof told === "string" && told.toLowerCase().includes(words)));
  const sorted = sortDirection === "asc" ? found.toReversed() : found;
  const from = Math.max(0, Number(cursor ?? 0) || 0);
  const to = limit == null ? sorted.length : from + Math.max(1, limit);
  return { data: sorted.slice(from, to), nextCursor: to < sorted.length ? String(to) : null, backwardsCursor: null };
}

// --- marks ---

function mark(threadId: string, marks: Pick<OpOf<"session.mark">, "name" | "archived">, { env }: Context): Op {
  return { type: "session.mark", id: env.stamp().id, sessionId: threadId, ...marks };
}

/** An update of the session tells the client of a loaded thread. */
export function setName({ id, params }: RequestOf<"thread/name/set">, context: Context): Step<Op> | string {
  const { threadId } = params;
  const name = params.name.trim();
  if (name === "") return "thread name must not be empty";
  const isLoaded = context.state.threads.has(threadId);
  const news = isLoaded ? [] : [notice("thread/name/updated", { threadId, threadName: name })];
  return asking(id, mark(threadId, { name }, context), context, () => answered(id, {}, news, context));
}

/** A loaded thread is closed, too. */
export function archive({ id, params: { threadId } }: RequestOf<"thread/archive">, context: Context): Step<Op> {
  const { state, env } = context;
  return asking(id, mark(threadId, { archived: true }, context), context, () => {
    const live = state.threads.get(threadId);
    const close: Op[] = live === undefined ? [] : [{ type: "session.close", id: env.stamp().id, session: live.handle }];
    return together({ in: close, out: [] }, answered(id, {}, [notice("thread/archived", { threadId })], context));
  });
}

export function unarchive({ id, params: { threadId } }: RequestOf<"thread/unarchive">, context: Context): Step<Op> {
  return withStored(id, context, (stored) => {
    const found = stored.find(({ thread, isArchived }) => isArchived && thread["id"] === threadId);
    if (found === undefined) return refused(id, `no archived thread found for thread id ${threadId}`);
    return asking(id, mark(threadId, { archived: false }, context), context, () =>
      answered(id, { thread: found.thread }, [notice("thread/unarchived", { threadId })], context),
    );
  });
}

export function remove({ id, params: { threadId } }: RequestOf<"thread/delete">, context: Context): Step<Op> {
  const { state, env } = context;
  const live = state.threads.get(threadId);
  const close: Op[] = live === undefined ? [] : [{ type: "session.close", id: env.stamp().id, session: live.handle }];
  const op: Op = { type: "session.delete", id: env.stamp().id, sessionId: threadId };
  const asked = asking(id, op, context, () => answered(id, {}, [notice("thread/deleted", { threadId })], context));
  return together({ in: close, out: [] }, asked);
}

// --- turns that are taken back ---

/** The conversation goes back to before a turn; files stay as they are, as in Codex. */
export function revert({ id, params }: RequestOf<"thread/revert">, thread: ClientThread, context: Context): Step<Op> {
  const { beforeTurnId: turn } = params;
  const op: Op = { type: "session.rewind", id: context.env.stamp().id, session: thread.handle, turn, conversation: true };
  return asking(id, op, context, () => {
    const from = thread.turns.findIndex((each) => each.id === turn);
    if (from !== -1) thread.turns.splice(from);
    const result = { thread: threadView(thread), turnsBackwardsCursor: null, itemsBackwardsCursor: null };
    return answered(id, result, [notice("thread/reverted", { threadId: thread.threadId })], context);
  });
}
