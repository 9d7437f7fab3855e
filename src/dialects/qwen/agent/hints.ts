/** Hints for half-written commands and paths: requests and answers, and the order among them. */
import type { EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { SideEnv, Step } from "../../dialect.js";
import type { Request } from "./read-ops.js";
import { resultHint } from "./write-replies.js";
import { sessionNamed, type AgentState, type ClientSession, type HintAsked } from "./state.js";

type LineOf<K extends Request["kind"]> = Extract<Request, { kind: K; line: unknown }>["line"];

/** A hint is for the session that it names, else for any: commands and files are the same. */
export function readHint(asked: LineOf<"hint"> | LineOf<"hint.cancel">, state: AgentState, env: SideEnv): Step<Op> {
  const session = sessionNamed(state, asked.session_id ?? "") ?? state.active;
  if (session === undefined) return { in: [], out: [] };
  if (asked.type === "command_hint_cancel") {
    const triggers = asked.trigger == null ? (["slash", "at"] as const) : [asked.trigger];
    for (const trigger of triggers) state.hints.delete(hintKey(session, asked.prompt_id, trigger));
    return { in: triggers.map((trigger) => suggest(session, env, { trigger, text: "", cancel: true })), out: [] };
  }
  const { trigger, text, cursor, context, prompt_id, request_id } = asked;
  const op = suggest(session, env, { trigger, text, ...(cursor != null && { cursor }), ...(context != null && { context }) });
  const hint: HintAsked = { kind: "hint", session, promptId: prompt_id ?? undefined, trigger, requestId: request_id ?? undefined, op };
  return { in: [askHint(hint, state)], out: [] };
}

function askHint(hint: HintAsked, state: AgentState): Suggest {
  state.asked.set(hint.op.id ?? "", hint);
  state.hints.set(hintKey(hint.session, hint.promptId, hint.trigger), hint.op.id ?? "");
  return hint.op;
}

function hintKey(session: ClientSession, promptId: string | null | undefined, trigger: string): string {
  return JSON.stringify([session.handle, promptId ?? null, trigger]);
}

type Suggest = OpOf<"command.suggest">;

function suggest(
  session: ClientSession,
  env: SideEnv,
  fields: Pick<Suggest, "trigger" | "text" | "cursor" | "context" | "cancel">,
): Suggest {
  return { type: "command.suggest", id: env.stamp().id, session: session.handle, ...fields };
}

// --- answers ---

/**
 * A hint that was replaced by a hint for another prompt is asked again after it; a hint for the same prompt drops the earlier one
 * for good.
 */
export function answerHint(event: EventOf<"reply">, asked: HintAsked, state: AgentState, env: SideEnv): Step<Op> {
  const { session, promptId, trigger } = asked;
  const key = hintKey(session, promptId, trigger);
  const isLatest = state.hints.get(key) === event.parent;
  if (event.status === "noop" && isLatest) session.overtaken.push(asked);
  if (event.status === "noop" || event.status === "loading") return { in: [], out: resultHint(event, asked) };
  if (isLatest) state.hints.delete(key);
  return { in: nextOvertaken(session, trigger, state, env), out: resultHint(event, asked) };
}

function nextOvertaken(session: ClientSession, trigger: string, state: AgentState, env: SideEnv): Op[] {
  const at = session.overtaken.findIndex((hint) => hint.trigger === trigger);
  const [next] = at === -1 ? [] : session.overtaken.splice(at, 1);
  // The hint may have been cancelled or asked again meanwhile.
  if (next === undefined || state.hints.get(hintKey(session, next.promptId, trigger)) !== next.op.id) return [];
  return [askHint({ ...next, op: { ...next.op, id: env.stamp().id } }, state)];
}
