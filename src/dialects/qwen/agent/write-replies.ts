/** Agent → host: the `result/*` lines. */
import * as v from "valibot";
import { CommandReply, SuggestReply, type CommandResult } from "../../../core/command.js";
import { plainText } from "../../../core/content.js";
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { partDisplay } from "./displays.js";
import { line, seconds } from "./lines.js";
import type { AgentState, ClientSession, HintAsked } from "./state.js";
import type { ResultDisplay, WireCommandResult } from "../wire/event-records.js";
import type { CommandRef } from "../wire/op-records.js";

type Reply = EventOf<"reply">;

export function resultCommand(session: ClientSession, promptId: string, command: CommandRef, result: WireCommandResult): Out {
  return line({ type: "result/command", session_id: session.id, prompt_id: promptId, command, result });
}

/** The result of a command, or the reason for its failure. */
export function commandResult({ fault, data }: Reply, state: AgentState): WireCommandResult {
  if (fault !== undefined) return { type: "message", level: "error", content: fault.message };
  return v.is(CommandReply, data) ? wireResult(data.result, state) : { type: "message", level: "info", content: "" };
}

function wireResult(result: CommandResult, state: AgentState): WireCommandResult {
  switch (result.type) {
    case "message":
      return { type: "message", level: result.level, content: result.text };
    case "dialog":
      return dialog(result, state);
    case "tool":
      return { type: "tool", tool_name: result.tool, result_display: partDisplay(result.parts) ?? words(plainText(result.parts)) };
    case "submit_prompt":
      return { type: "submit_prompt", auto_submitted: true };
    default:
      result satisfies never;
      return { type: "message", level: "info", content: "" };
  }
}

/** A host that cannot show choices gets a text instead. */
function dialog(
  { dialog: name, text, choices = [] }: Extract<CommandResult, { type: "dialog" }>,
  { formats }: AgentState,
): WireCommandResult {
  if (formats.input === "text") {
    const content = `${text}. The dialog '${name}' cannot be shown: without structured input (--input-format stream-json) there is no control channel.`;
    return { type: "message", level: "warning", content };
  }
  const offered = choices.map(({ value, label, description, current }) => ({
    label: label ?? value,
    value,
    ...(description !== undefined && { description }),
    ...(current !== undefined && { current }),
  }));
  return { type: "dialog", dialog: name, content: text, ...(offered.length > 0 && { choices: offered }) };
}

function words(text: string): ResultDisplay {
  return { kind: "string", text };
}

/** The answer to a hint; a replaced or cancelled hint gets none. */
export function resultHint({ status, fault, data }: Reply, asked: HintAsked): Out[] {
  if (status === "noop") return [];
  const { session, promptId, trigger, requestId } = asked;
  const found = v.is(SuggestReply, data) ? data : { suggestions: [] };
  return [
    line({
      type: "result/command_hint",
      session_id: session.id,
      ...(promptId !== undefined && { prompt_id: promptId }),
      ...(requestId !== undefined && { request_id: requestId }),
      trigger,
      status,
      suggestions: offered(found.suggestions, asked),
      ...(status === "ok" && { metadata: { is_perfect_match: found.perfect ?? false } }),
      ...(fault !== undefined && { message: fault.message }),
    }),
  ];
}

/** Suggests commands that begin with the written word, if there are any. */
function offered(suggestions: SuggestReply["suggestions"], { trigger, op }: HintAsked): Record<string, unknown>[] {
  const written = op.text.slice(0, op.cursor).replace(/^\//, "");
  const begins = suggestions.filter(({ value }) => value.toLowerCase().startsWith(written.toLowerCase()));
  const kept = trigger === "slash" && begins.length > 0 ? begins : suggestions;
  return kept.map(({ label, value, description }) => ({ label, value, ...(description !== undefined && { description }) }));
}

export function resultHeartbeat(session: ClientSession | undefined, promptId: string | undefined, at: number): Out {
  return line({
    type: "result/heartbeat",
    ...(session !== undefined && { session_id: session.id }),
    ...(promptId !== undefined && { prompt_id: promptId }),
    status: "ok",
    ts: seconds(at),
  });
}

/** The result of a cancel, and the answer to a named one. */
export function resultCancel(
  status: "ok" | "noop",
  message: string,
  asked: { session: ClientSession | undefined; promptId: string | undefined; reason: string | undefined; requestId: string | undefined },
): Out[] {
  const { session, promptId, reason, requestId } = asked;
  const result = line({
    type: "result/cancel",
    ...(session !== undefined && { session_id: session.id }),
    ...(promptId !== undefined && { prompt_id: promptId }),
    status,
    ...(reason !== undefined && { reason }),
    message,
  });
  return requestId === undefined ? [result] : [result, controlResponse(requestId, { subtype: "success", result: {} })];
}

export function controlResponse(
  request_id: string,
  response: { subtype: "success" | "error"; result?: Record<string, unknown>; error?: { message: string; retryable: boolean } },
): Out {
  return line({ type: "control_response", request_id, response: { request_id, ...response } });
}
