/** Agent → host, read: the lines of a turn up to its `result`. */
import * as v from "valibot";
import type { Event, Usage } from "../../../core/event.js";
import { addUsage } from "../../../core/usage.js";
import type { SideEnv } from "../../dialect.js";
import { stringField } from "../../kit/issues.js";
import { resultParts, userBlocks } from "../../kit/stream-json/host/read-messages.js";
import { endTurn, failedEnd, isPassing, released, type TurnEnd, turnOf } from "../../kit/stream-json/host/turns.js";
import { content } from "../../kit/stream-json/wire.js";
import type { Assistant, ResultMeta, StreamEvent } from "../wire/event-records.js";
import { isEmpty, ModelUsage, readUsage, WireUsage } from "../wire/usage.js";
import type { HostState, RunningTurn } from "./state.js";

// --- messages ---

export function onAssistant({ message, parent_tool_use_id, error }: Assistant, turn: RunningTurn): Event[] {
  const under = parent_tool_use_id ?? undefined;
  const blocks = message.content.filter((block) => v.is(content.Block, block));
  const [only] = blocks;
  if (error !== undefined && under === undefined && blocks.length === 1 && only?.type === "text") {
    const before = released(turn);
    turn.complaint = only.text;
    return before;
  }
  return [...released(turn), ...blocks.flatMap((block) => turn.messages.block(block, under))];
}

export function onStreamed(event: StreamEvent, under: string | undefined, turn: RunningTurn): Event[] {
  const { told, messages } = turn;
  switch (event.type) {
    case "message_start":
      if (under === undefined) turn.usage = readUsage(event.message.usage ?? {});
      return [];
    case "content_block_start":
      return [...released(turn), ...messages.blockStart(event, under)];
    case "content_block_delta":
      return messages.blockDelta(event, under);
    case "message_delta": {
      const usage = event.usage === undefined ? undefined : counted(event.usage, turn.usage);
      if (under !== undefined || usage === undefined || isEmpty(usage)) return [];
      turn.usage = undefined;
      return told.spent(usage);
    }
    case "content_block_stop":
    case "message_stop":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

/** The usage of a message: its end has the output, and may or may not repeat the input. */
function counted(last: WireUsage, first: Usage | undefined): Usage {
  const known = Object.fromEntries(Object.entries(readUsage(last)).filter(([, count]) => count !== 0));
  return { ...(first ?? { input: 0, output: 0 }), ...known };
}

/** Reads results of tools. Other lines of the user are left out: they repeat a prompt, an interrupt or a command. */
export function onUser(body: unknown, metas: readonly ResultMeta[], turn: RunningTurn | undefined): Event[] {
  return userBlocks(body).flatMap((said): Event[] => {
    if (!("call" in said) || turn === undefined) return [];
    const meta = metas.find(({ id }) => id === said.call);
    return onResultOf(said.call, said.block, meta, turn);
  });
}

function onResultOf(wireId: string, block: Record<string, unknown>, meta: ResultMeta | undefined, { told, denied }: RunningTurn): Event[] {
  const output = resultParts(block["content"]);
  if (block["is_error"] !== true) return told.end(wireId, { status: "ok", output });
  const reason = output.map((part) => (part.type === "text" ? part.text : "")).join("");
  const isDenied = denied.has(told.callOf(wireId)?.id ?? "");
  if (meta?.permission_decision?.decision === "reject" || isDenied) return told.end(wireId, { status: "denied", output, reason });
  if (meta?.non_execution_kind === "user-rejected") return told.end(wireId, { status: "cancelled", output, reason });
  return told.end(wireId, { status: "failed", output });
}

// --- the end ---

/** Ends the running turn. A result without a turn is a report on a task, or the reason for which a prompt got no turn. */
export function onResult(rec: Record<string, unknown>, state: HostState, env: SideEnv): Event[] {
  const isError = rec["is_error"] === true || (stringField(rec, "subtype") ?? "").startsWith("error");
  state.isFailed = isError;
  if (state.running === undefined && !isError) return [];
  if (state.running === undefined && state.prompts.length === 0)
    return [{ type: "error", session: state.session, fault: { code: "agent", message: wordsOf(rec), retryable: false } }];
  const { begun, turn } = turnOf(state, env);
  const words = wordsOf(rec);
  if (isError && turn.complaint === words) turn.complaint = "";
  const usage = v.is(WireUsage, rec["usage"]) ? readUsage(rec["usage"]) : undefined;
  const spent = usage === undefined || isEmpty(usage) ? {} : { usage };
  const ended = endTurn(turn, state, {
    ...(isError ? errorEnd(rec, words, turn) : { outcome: "completed", finish: finishOf(rec) }),
    ...spent,
  });
  return [...begun, ...spentSoFar(rec, state), ...ended];
}

function wordsOf(rec: Record<string, unknown>): string {
  const errors = Array.isArray(rec["errors"]) ? rec["errors"].filter((error) => typeof error === "string") : [];
  return stringField(rec, "result") ?? errors.join("; ");
}

function finishOf(rec: Record<string, unknown>): string {
  return stringField(rec, "stop_reason") === "max_tokens" ? "length" : "stop";
}

function errorEnd(rec: Record<string, unknown>, words: string, turn: RunningTurn): TurnEnd {
  const subtype = stringField(rec, "subtype") ?? "";
  const reason = stringField(rec, "terminal_reason") ?? "";
  if (subtype === "error_max_turns") return { outcome: "completed", finish: "max_turns" };
  if (subtype === "error_max_budget_usd") return { outcome: "completed", finish: "max_cost" };
  if (turn.isInterrupted || reason.startsWith("aborted")) return { outcome: "interrupted", reason: "interrupted" };
  const message = words === "" ? `The turn ended with ${subtype}` : words;
  const status = typeof rec["api_error_status"] === "number" ? rec["api_error_status"] : undefined;
  const retryable = status === undefined ? isPassing(message) : status === 429 || status >= 500;
  const code = subtype.startsWith("error_max") ? "limit" : "provider";
  return failedEnd({ code, message, retryable, ...(status !== undefined && { status }) });
}

/** The cost and the usage of the whole process, sub-agents included. */
function spentSoFar({ modelUsage, total_cost_usd: cost }: Record<string, unknown>, { session }: HostState): Event[] {
  if (!v.is(v.record(v.string(), ModelUsage), modelUsage) || typeof cost !== "number" || cost === 0) return [];
  const usage = Object.values(modelUsage).map(ownUsage).reduce<Usage | undefined>(addUsage, undefined);
  return usage === undefined ? [] : [{ type: "usage", session, scope: "session", usage, cost }];
}

function ownUsage({ inputTokens, outputTokens, cacheReadInputTokens = 0, cacheCreationInputTokens = 0 }: ModelUsage): Usage {
  return {
    input: inputTokens,
    output: outputTokens,
    ...(cacheReadInputTokens > 0 && { cacheRead: cacheReadInputTokens }),
    ...(cacheCreationInputTokens > 0 && { cacheWrite: cacheCreationInputTokens }),
  };
}
