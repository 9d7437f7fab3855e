/** Agent → client, read: answers to our requests. */
import * as v from "valibot";
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { SideEnv, Step } from "../../dialect.js";
import { refusal, reply } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { faultOf, type RpcError } from "../wire/rpc.js";
import { InitializeResult, ListResult, OptionsResult, SessionResult } from "../wire/sessions.js";
import { usageOfResult } from "../wire/usage.js";
import { onAuthenticated, onGreeting, onOpened, onRefusedOpen, onSetUp, refusedSession } from "./open.js";
import { chosen, knowOptions } from "./options.js";
import { endDenied } from "./read-calls.js";
import { readUpdate } from "./read-updates.js";
import { ask } from "./requests.js";
import { agentName, type Asked, type DrivenSession, type HostState, type RunningTurn } from "./state.js";
import { asPrompt, begin, changed, marked, writeOp } from "./write-ops.js";

export type Given = { result: unknown } | { error: RpcError };

export function readResult(asked: Asked, given: Given, state: HostState, env: SideEnv): Step<Event> {
  const error = "error" in given ? given.error : undefined;
  const value = "result" in given ? given.result : undefined;
  switch (asked.for) {
    case "initialize":
      return greeted(value, error, state);
    case "authenticate":
      return onAuthenticated(asked, error, state, env);
    case "open":
      return opened(asked, given, state, env);
    case "setup": {
      if (v.is(OptionsResult, value)) knowOptions(asked.session, value);
      return released(asked.session, onSetUp(asked, error, state), state, env);
    }
    case "change":
      return change(asked, value, error);
    case "prompt":
      return ended(asked.session, asked.turn, given, state, env);
    case "steer":
      return steered(asked, given, state, env);
    case "close":
      return NOTHING;
    case "delete":
      return { in: [error === undefined ? reply(asked.op, "ok") : refusal(asked.op, faultOf(error))], out: [] };
    case "mark":
      return marked(asked, error === undefined ? undefined : faultOf(error), state);
    case "list":
      return listed(asked, given, state);
    default:
      return asked satisfies never;
  }
}

function greeted(value: unknown, error: RpcError | undefined, state: HostState): Step<Event> {
  const unreadable: Fault = { code: "protocol", message: "The agent's answer to initialize is none", retryable: false };
  const greeting = v.safeParse(InitializeResult, value);
  if (error !== undefined) state.refused = faultOf(error);
  else state.refused = greeting.success ? onGreeting(greeting.output, state) : unreadable;
  return NOTHING;
}

// --- sessions ---

function opened(asked: Asked & { for: "open" }, given: Given, state: HostState, env: SideEnv): Step<Event> {
  const { session } = asked;
  if ("error" in given) return onRefusedOpen(asked, given.error, state);
  const told = isRecord(given.result) ? given.result : {};
  if (!v.is(SessionResult, told)) {
    const fault = {
      code: "protocol",
      message: `${agentName(state)} answered the opening of a session with something else`,
      retryable: false,
    };
    return refusedSession(session, fault, state);
  }
  const step = onOpened(session, told, state);
  // Updates of this session that arrived before the answer which names it.
  const before = state.unnamed.get(session.id ?? "") ?? [];
  state.unnamed.delete(session.id ?? "");
  const early = before.flatMap((params) => readUpdate(params, state, env) ?? []);
  return released(session, together(step, { in: early, out: [] }), state, env);
}

/** Writes the ops that were held until the session was ready. */
function released(session: DrivenSession, step: Step<Event>, state: HostState, env: SideEnv): Step<Event> {
  if (!session.isReady || session.held.length === 0) return step;
  return session.held
    .splice(0)
    .map((op) => writeOp(op, state, env))
    .reduce(together<Event>, step);
}

function change({ session, change: whole, choice }: Asked & { for: "change" }, value: unknown, error: RpcError | undefined): Step<Event> {
  if (error === undefined) chosen(session, choice);
  else whole.fault ??= faultOf(error);
  if (v.is(OptionsResult, value)) knowOptions(session, value);
  return --whole.left > 0 ? NOTHING : { in: changed(whole, session), out: [] };
}

const MOST_PAGES = 20;

function listed(asked: Asked & { for: "list" }, given: Given, state: HostState): Step<Event> {
  if ("error" in given)
    return { in: [refusal({ type: "session.list", ...(asked.op !== undefined && { id: asked.op }) }, faultOf(given.error))], out: [] };
  const { sessions = [], nextCursor } = v.is(ListResult, given.result) ? given.result : {};
  asked.found.push(...sessions);
  if (nextCursor != null && ++asked.pages < MOST_PAGES) return { in: [], out: [ask("session/list", { cursor: nextCursor }, asked, state)] };
  const live = [...state.sessions.values()].map(({ handle, config }) => ({ session: handle, config }));
  const stored = asked.found.map(({ sessionId, cwd, title, updatedAt }) => ({
    id: sessionId,
    cwd,
    ...(title != null && { name: title }),
    ...(updatedAt != null && !Number.isNaN(Date.parse(updatedAt)) && { usedAt: Date.parse(updatedAt) }),
  }));
  const head = asked.op === undefined ? {} : { parent: asked.op };
  return { in: [{ type: "reply", to: "session.list", status: "ok", ...head, data: { sessions: live, stored } }], out: [] };
}

// --- turns ---

const PromptResult = v.looseObject({ stopReason: v.optional(v.string()) });

type TurnEnd = Pick<EventOf<"turn.ended">, "outcome" | "finish" | "reason" | "fault" | "usage">;

const FINISHES: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "length"],
  ["max_turn_requests", "max_turns"],
  ["refusal", "refusal"],
]);

function ended(session: DrivenSession, turn: RunningTurn, given: Given, state: HostState, env: SideEnv): Step<Event> {
  // Closing the session has already ended its turn.
  if (session.turn !== turn) return NOTHING;
  const end = endOf(given, turn);
  const events = [
    ...endDenied(turn),
    ...turn.reader.close(end, { abandoned: () => ({ status: "cancelled", reason: end.reason ?? "the turn ended" }) }),
  ];
  const told = events.findLast((event) => event.type === "turn.ended");
  if (told?.type === "turn.ended" && told.usage !== undefined) session.used = addUsage(session.used, told.usage);
  session.turn = undefined;
  for (const [key, permission] of state.permissions) if (permission.session === session) state.permissions.delete(key);
  const next = session.queue.shift();
  return together({ in: events, out: [] }, next === undefined ? NOTHING : begin(next, session, state, env));
}

function endOf(given: Given, { isInterrupted, used: known }: RunningTurn): TurnEnd {
  const usage = "error" in given ? known : (usageOfResult(given.result) ?? known);
  const used = usage === undefined ? {} : { usage };
  if ("error" in given) {
    if (isInterrupted) return { outcome: "interrupted", ...used };
    const fault = faultOf(given.error);
    return { outcome: "failed", reason: fault.message, fault, ...used };
  }
  const stopReason = v.is(PromptResult, given.result) ? given.result.stopReason : undefined;
  if (stopReason === "cancelled") return { outcome: "interrupted", ...used };
  const finish = FINISHES.get(stopReason ?? "");
  return { outcome: "completed", ...(finish !== undefined && { finish }), ...used };
}

const SteerResult = v.looseObject({ outcome: v.optional(v.string()) });

/** Answers a steer; a steer that came too late for its turn becomes the next prompt. */
function steered({ session, op }: Asked & { for: "steer" }, given: Given, state: HostState, env: SideEnv): Step<Event> {
  const head = { session: session.handle, ...(op.id !== undefined && { parent: op.id }) };
  if ("error" in given) return { in: [refusal(op, faultOf(given.error))], out: [] };
  if (v.is(SteerResult, given.result) && given.result.outcome === "promptRequired") return writeOp(asPrompt(op), state, env);
  return { in: [{ type: "reply", to: op.type, status: "ok", ...head }], out: [] };
}
