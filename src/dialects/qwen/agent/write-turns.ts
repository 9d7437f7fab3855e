/** Agent → host: the end of a turn, its closing summary, and the exit code of a run for one prompt. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { exitOf, wireError } from "./faults.js";
import { chunk, completion, line, spoken, type Said } from "./lines.js";
import type { AgentState, Turn } from "./state.js";
import { terminal } from "./terminal.js";
import type { Metadata, Summary } from "../wire/event-records.js";

type Ended = EventOf<"turn.ended">;

export function endTurn(event: Ended, said: Said, turn: Turn, state: AgentState): Out[] {
  const { session, at } = said;
  session.turns.delete(turn.id);
  // A prompt has the id of its turn.
  state.asked.delete(turn.id);
  session.live = undefined;
  const summary = { prompt_id: turn.promptId, num_turns: turn.calls, duration_ms: Math.max(0, at - turn.startedAt) };
  const fault = event.fault ?? turn.fault;
  const metadata: Partial<Metadata> = {
    summary: { ...summary, is_error: event.outcome !== "completed" },
    ...(event.outcome === "interrupted" && { cancelled: true }),
    ...(event.outcome === "failed" && {
      error: wireError(fault ?? { code: "internal", message: event.reason ?? "The turn failed" }),
    }),
  };
  const code = exitCode(event, turn);
  const last = session.showsTerminal
    ? [
        spoken(state, said, {
          annotations: [terminal(said, { channel: "stdout", source: "system", exit_code: code, log_scope: "system" })],
        }),
      ]
    : [];
  return [
    ...last,
    ...eventsOf(event, turn).map(([name, message]) => sessionEvent(said, name, message)),
    closing(state, said, { usage: event.usage ?? turn.usage, metadata }),
    // A run for one prompt tells the outcome by its exit code.
    ...(state.formats.input === "text" && code !== 0 ? [{ exit: code }] : []),
  ];
}

/** The line that ends a request. */
export function closing(state: AgentState, said: Said, more: { usage?: Ended["usage"]; metadata: Partial<Metadata> }): Out {
  return state.chunks ? chunk(said, {}, { finish: "stop", ...more }) : completion(said, { content: "" }, { finish: "stop", ...more });
}

/** The summary of a request without a model call. */
export function quietSummary(promptId: string, startedAt: number, at: number, is_error = false): Summary {
  return { prompt_id: promptId, num_turns: 0, duration_ms: Math.max(0, at - startedAt), is_error };
}

export function sessionEvent({ session, turn, promptId = turn?.promptId }: Said, event: string, message: string): Out {
  return line({
    type: "x-qwen-session-event",
    session_id: session.id,
    ...(promptId !== undefined && { prompt_id: promptId }),
    event,
    message,
  });
}

/** The RFC uses Gemini's names. */
const FINISHES: Readonly<Record<string, [name: string, message: string]>> = {
  length: ["MAX_TOKENS", "The response was cut off at the limit of its tokens."],
  max_turns: ["MaxSessionTurns", "The turn was stopped at the limit of its model calls."],
  max_tool_calls: ["MaxSessionTurns", "The turn was stopped at the limit of its tool calls."],
  max_cost: ["MaxSessionTurns", "The turn was stopped at the limit of the session's costs."],
  max_seconds: ["MaxSessionTurns", "The turn was stopped at the limit of its time."],
  refusal: ["SAFETY", "The model refused to answer."],
  content_filter: ["SAFETY", "The model's answer was held back by a content filter."],
  loop: ["LoopDetected", "The turn was stopped: the model asked for the same call again and again."],
};

function eventsOf(event: Ended, turn: Turn): [string, string][] {
  switch (event.outcome) {
    case "interrupted":
      return [["USER_CANCELLED", event.reason ?? "The turn was cancelled."]];
    case "failed": {
      const fault = event.fault ?? turn.fault;
      return fault?.code === "context_overflow" ? [["SessionTokenLimitExceeded", fault.message]] : [];
    }
    case "completed": {
      const why = FINISHES[event.finish ?? ""];
      return [...(why === undefined ? [] : [why]), ["Finished", "The turn is finished."]];
    }
    default:
      event.outcome satisfies never;
      return [];
  }
}

/** The exit codes of Qwen's command. */
function exitCode({ outcome, finish, fault }: Ended, turn: Turn): number {
  if (outcome === "interrupted") return 130;
  if (outcome === "failed") return exitOf(fault ?? turn.fault ?? { code: "internal", message: "" });
  if (finish === "max_turns") return 53;
  return finish === "max_tool_calls" || finish === "max_cost" || finish === "max_seconds" ? 55 : 0;
}
