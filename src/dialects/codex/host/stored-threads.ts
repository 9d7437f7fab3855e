/** Ops about threads as Codex keeps them: names, archives, removals, and turns that are taken back. */
import type { Event } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { refusal, refused, replied, reply } from "../../kit/reply.js";
import { stepOf, together } from "../../kit/step.js";
import { endTurn } from "./read-events.js";
import { ask, placeOf, type HostedThread, type HostState } from "./state.js";

type StoredOp = OpOf<"session.mark"> | OpOf<"session.delete"> | OpOf<"session.rewind">;

/** Sends a request; its refusal is the op's. */
function asking(op: StoredOp, method: string, params: object, state: HostState, then: () => Step<Event>): Step<Event> {
  const request = ask(method, params, state, (answer) => ("error" in answer ? stepOf<Event>([refusal(op, answer.error)]) : then()));
  return { in: [], out: [request] };
}

/** The conversation goes back, and files stay as they are: Codex has no more. A turn has the server's id there. */
export function rewind(op: OpOf<"session.rewind">, thread: HostedThread, threadId: string, state: HostState): Step<Event> {
  const { files = op.conversation !== true, conversation = op.files !== true, preview = false } = op;
  if (files || !conversation || preview) return refused(op, "Codex takes back the conversation alone: say conversation, and no files");
  if (thread.running !== undefined || thread.prompts.length > 0)
    return refused(op, "A turn runs or waits: interrupt it, or wait for its end, and rewind then", "busy");
  const beforeTurnId = thread.wireTurns.get(op.turn) ?? op.turn;
  return asking(op, "thread/revert", { threadId, beforeTurnId }, state, () =>
    stepOf<Event>([{ ...reply(op, "ok"), data: { files: [], left: [] } }]),
  );
}

export function remove(op: OpOf<"session.delete">, state: HostState): Step<Event> {
  const { sessionId: threadId } = op;
  if (placeOf(threadId, state) !== undefined) return refused(op, `The session '${threadId}' is open; close it first`, "session");
  return asking(op, "thread/delete", { threadId }, state, () => replied(op, "ok"));
}

/** A name and the archive are two requests. The server tells the name of a thread that is open. */
export function mark(op: OpOf<"session.mark">, state: HostState): Step<Event> {
  const { sessionId: threadId, name, archived } = op;
  const rest = (): Step<Event> => (archived === undefined ? replied(op, "ok") : archive(op, archived, state));
  if (name !== undefined) return asking(op, "thread/name/set", { threadId, name }, state, rest);
  return archived === undefined ? replied(op, "noop") : rest();
}

/** The server lets go of an archived thread: its session has ended. */
function archive(op: OpOf<"session.mark">, archived: boolean, state: HostState): Step<Event> {
  const { sessionId: threadId } = op;
  return asking(op, archived ? "thread/archive" : "thread/unarchive", { threadId }, state, () => {
    const place = archived ? placeOf(threadId, state) : undefined;
    const done = replied(op, "ok");
    if (place === undefined || place.under !== undefined) return done;
    const { thread } = place;
    const ended = thread.running === undefined ? [] : endTurn(thread.running, undefined, thread, state);
    state.threads.delete(thread.handle);
    return together(stepOf<Event>([...ended, { type: "session.ended", session: thread.handle }]), done);
  });
}
