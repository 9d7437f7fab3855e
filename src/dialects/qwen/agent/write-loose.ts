/** Agent → host: events that occur inside or outside a turn. */
import type { Event, EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { isRecord } from "../../../core/values/json-object.js";
import { askHost, expire } from "./questions.js";
import { invalid, wireError } from "./faults.js";
import { line, recoverable, spoken, type Said } from "./lines.js";
import type { AgentState } from "./state.js";
import { terminal } from "./terminal.js";

export function writeLoose(event: Event, said: Said, state: AgentState): Out[] {
  switch (event.type) {
    case "host.request":
      return hostRequest(event, said, state);
    case "host.settled":
      if (!event.ok) expire(state, said.session, event.request, event.reason ?? "failed", event.reason === "the turn was interrupted");
      return [];
    case "compaction":
      // The summary of a sub-agent's conversation is not the session's.
      return event.phase === "ended" && event.under === undefined ? [compressed(event, said)] : [];
    case "notice":
      return notice(event, said, state);
    case "error":
      return [recoverable(state, said, wireError(event.fault))];
    case "other":
      return isRecord(event.ext?.["qwen"]) ? [line(event.ext["qwen"])] : [];
    case "session.ready":
    case "session.updated":
    case "session.ended":
    case "session.changed":
    case "closed":
    case "turn.started":
    case "turn.ended":
    case "text.delta":
    case "text.done":
    case "thinking.delta":
    case "thinking.done":
    case "user.message":
    case "tool.requested":
    case "tool.delta":
    case "tool.started":
    case "tool.progress":
    case "tool.ended":
    case "approval.requested":
    case "approval.settled":
    case "usage":
    case "catalog.updated":
    case "reply":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

/** A tool of the host: its call is on the wire, and the host's request answers it by name. */
export function hostRequest(event: EventOf<"host.request">, said: Said, state: AgentState): Out[] {
  if (event.kind === "tool" && event.call !== undefined) said.session.hostCalls.set(event.call, event.request);
  return askHost(state, said, event);
}

const LEVELS = { debug: "debug", info: "info", warning: "warn", error: "error" } as const;

/** Notices go to a host that asked for terminal annotations, else to stderr. */
function notice(event: EventOf<"notice">, said: Said, state: AgentState): Out[] {
  if (event.kind === "mentions") return [recoverable(state, said, invalid(event.text, "input.parts", "attachment_failed"))];
  if (event.kind === "unknown_tool") return [recoverable(state, said, invalid(event.text, "options.tool_overrides", "unknown_tool"))];
  if (!said.session.showsTerminal) return event.level === "debug" ? [] : [{ log: event.text }];
  const scope = event.level === "debug" ? "debug" : "system";
  const annotation = terminal(said, { channel: "stderr", source: "console", console_level: LEVELS[event.level], log_scope: scope });
  return [spoken(state, said, { content: event.text, annotations: [annotation] })];
}

function compressed({ before, after, summary }: EventOf<"compaction">, { session, turn }: Said): Out {
  const metrics = { ...(before !== undefined && { original_tokens: before }), ...(after !== undefined && { compressed_tokens: after }) };
  return line({
    type: "x-qwen-session-event",
    session_id: session.id,
    ...(turn !== undefined && { prompt_id: turn.promptId }),
    event: "ChatCompressed",
    message: summary === undefined ? "The conversation was summed up." : `The conversation was summed up: ${summary}`,
    ...(Object.keys(metrics).length > 0 && { metrics }),
  });
}
