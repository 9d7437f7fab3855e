/** Agent → host, written: events become lines. Writers trust: the stream is grammatical. */
import { plainText, type Part } from "../../../core/content.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import type { Out } from "../../dialect.js";
import { capabilitiesOf } from "../wire/capabilities.js";
import { writeServers, writeUnchanged, writeUpdated } from "./changes.js";
import { errorLine, info, line } from "./lines.js";
import { writeCommand } from "./slash.js";
import type { AgentState } from "./state.js";
import { writeUsage } from "../wire/usage.js";
import type { LaterEvent, WireEventOf } from "../wire/records.js";

export function writeEvent(event: Event, state: AgentState): Out[] {
  if (state.left) return [];
  if (event.under !== undefined) return writeChild(event, state);
  const msg_id = state.messages.get(event.turn ?? "") ?? "";
  if (!state.isReady && isEarly(event)) {
    state.early.push(event);
    return [];
  }
  switch (event.type) {
    case "session.ready":
      return writeReady(event, state);
    case "session.updated":
      return writeUpdated(event, state);
    case "catalog.updated":
      return writeCatalog(event, state);
    case "turn.started":
      state.streaming = true;
      return [line({ type: "stream_start", msg_id })];
    case "text.delta":
      return [line({ type: "text_delta", text: event.text, msg_id })];
    case "thinking.delta":
      return [line({ type: "thinking", text: event.text, msg_id })];
    case "text.done":
    case "thinking.done":
      if (event.streamed === true || event.text === "") return [];
      return [line({ type: event.type === "text.done" ? "text_delta" : "thinking", text: event.text, msg_id })];
    case "tool.requested":
    case "approval.requested":
    case "tool.started":
    case "tool.ended":
      return writeCall(event, msg_id, state);
    case "tool.progress":
      return state.revision.says.progress(event, msg_id, state);
    case "turn.ended":
      return endStream(event, msg_id, state);
    case "notice":
      return [info(event.text, msg_id)];
    case "error":
      return writeError(event, msg_id, state);
    case "reply":
      return writeReply(event, state);
    case "session.ended":
    case "session.changed":
    case "closed":
    case "user.message":
    case "tool.delta":
    case "approval.settled":
    case "host.request":
    case "host.settled":
    case "usage":
    case "compaction":
    case "other":
      return [];
    default:
      event satisfies never;
      return [];
  }
}

function writeReady(event: EventOf<"session.ready">, state: AgentState): Out[] {
  state.isReady = true;
  state.config = event.config ?? {};
  state.capabilities = event.capabilities ?? {};
  return [line(readyLine(event, state)), ...writeEarly(state)];
}

/** The events that may be written before `ready`. */
function isEarly(event: Event): boolean {
  return event.type === "notice" || event.type === "error" || (event.type === "reply" && event.to === "ping");
}

/** `ready` is the first line; events that came before it are written behind it. */
function writeEarly(state: AgentState): Out[] {
  return [...state.earlyLines.splice(0), ...state.early.splice(0).flatMap((event) => writeEvent(event, state))];
}

function writeCatalog({ commands, mcpServers = [] }: EventOf<"catalog.updated">, state: AgentState): Out[] {
  if (commands !== undefined) state.commands = new Set(commands.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  return writeServers(mcpServers, state);
}

function endStream(event: EventOf<"turn.ended">, msg_id: string, state: AgentState): Out[] {
  state.streaming = false;
  state.messages.delete(event.turn ?? "");
  state.slashed.delete(event.turn ?? "");
  state.calls.clear();
  state.announced.clear();
  const end = line({ type: "stream_end", msg_id, ...state.revision.says.end(event), usage: writeUsage(event.usage) });
  return [end, ...state.afterStream.splice(0)];
}

function writeError({ turn, fault }: EventOf<"error">, msg_id: string, { revision }: AgentState): Out[] {
  if (turn === undefined) return [errorLine(null, fault)];
  return (fault.code === "tool" ? revision.says.passingError(fault, msg_id) : undefined) ?? [errorLine(msg_id, fault)];
}

/** The output of a sub-agent is left out; its calls that need an approval become calls of the parent's message. */
function writeChild(event: Event, state: AgentState): Out[] {
  const told = state.revision.says.child(event, state);
  if (told !== undefined) return told;
  return writeChildCall(event, state);
}

export function writeChildCall(event: Event, state: AgentState): Out[] {
  const msg_id = state.messages.get(event.turn ?? "") ?? "";
  if (event.type === "tool.requested" || event.type === "approval.requested") return writeCall(event, msg_id, state);
  if ((event.type === "tool.started" || event.type === "tool.ended") && state.announced.has(event.call))
    return writeCall(event, msg_id, state);
  return [];
}

type CallEvent = EventOf<"tool.requested" | "approval.requested" | "tool.started" | "tool.ended">;

function writeCall(event: CallEvent, msg_id: string, state: AgentState): Out[] {
  switch (event.type) {
    case "tool.requested":
      state.calls.set(event.call.id, event.call);
      return [];
    case "approval.requested":
      for (const call of event.calls) state.announced.add(call.id);
      return event.calls.map((call) => line({ type: "tool_request", msg_id, call_id: call.id, tool: toolOf(withTitle(call, event)) }));
    case "tool.started":
      return running(event.call, msg_id, state);
    case "tool.ended":
      return ended(event, msg_id, state);
    default:
      event satisfies never;
      return [];
  }
}

function running(call: string, msg_id: string, state: AgentState): Out[] {
  return [...announced(call, msg_id, state), line({ type: "tool_running", msg_id, call_id: call, tool_name: nameOf(call, state) })];
}

function announced(call: string, msg_id: string, state: AgentState): Out[] {
  if (state.announced.has(call)) return [];
  state.announced.add(call);
  return state.revision.says.announcement(state.calls.get(call), msg_id);
}

function nameOf(call: string, state: AgentState): string {
  return state.calls.get(call)?.name ?? "";
}

/** A call that failed before it ran is announced first: hosts expect to know the call of a result. */
function ended(event: EventOf<"tool.ended">, msg_id: string, state: AgentState): Out[] {
  if (event.status === "denied" || event.status === "cancelled") {
    const cancelled = line({ type: "tool_cancelled", msg_id, call_id: event.call, reason: event.reason ?? "" });
    return [...announced(event.call, msg_id, state), cancelled];
  }
  const first = state.announced.has(event.call) ? [] : running(event.call, msg_id, state);
  const result = line({
    type: "tool_result",
    msg_id,
    call_id: event.call,
    tool_name: nameOf(event.call, state),
    status: event.status === "ok" ? "success" : "error",
    ...outputOf(event.output ?? [], state.calls.get(event.call)),
  });
  return [...first, result];
}

/** Some agents send the preview only with the question. */
function withTitle(call: Call, { calls, message }: EventOf<"approval.requested">): Call {
  return call.title === undefined && calls.length === 1 && message !== undefined ? { ...call, title: message } : call;
}

export function toolOf(call: Call): WireEventOf<"tool_request">["tool"] {
  const description = oneLine(call.title ?? call.name);
  return { name: call.name, category: call.category ?? categoryOf(call.name), args: call.args ?? {}, description };
}

/** Another agent's title may be a whole script. */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** An edit is shown by its diff; its text is for the model. */
function outputOf(parts: readonly Part[], call: Call | undefined): Pick<WireEventOf<"tool_result">, "output" | "output_type" | "metadata"> {
  const image = parts.find((part) => part.type === "image");
  if (image !== undefined) return { output: image.data, output_type: "image", metadata: { mime: image.mime } };
  const diff = parts.find((part) => part.type === "diff");
  if (diff === undefined || canonicalTool(call?.name ?? "") !== "Edit")
    return { output: plainText(parts.filter((part) => part.type !== "diff")), output_type: "text" };
  const path = call?.args?.["file_path"];
  return { output: diff.patch, output_type: "diff", metadata: { file_path: typeof path === "string" ? path : diff.path } };
}

function writeReply(event: EventOf<"reply">, state: AgentState): Out[] {
  const { fault } = event;
  if (event.to === "session.open") {
    const reason = fault?.message ?? "The session could not be opened";
    const told = errorLine(null, { code: "config", message: reason, retryable: false });
    if (state.isReady) return [told];
    state.isReady = true;
    const lines = [...writeEarly(state), told];
    state.left = true;
    return [...lines, { exit: 1, reason }];
  }
  if (event.to === "ping" && fault === undefined) return [line({ type: "pong" })];
  if (event.to === "session.configure" && fault !== undefined) return writeUnchanged(event.parent, fault, state);
  if (event.to === "turn.prompt" && state.slashed.has(event.parent ?? "")) return writeCommand(event, state);
  if (event.to === "turn.prompt" && fault !== undefined) state.messages.delete(event.parent ?? "");
  // A real host sends its history once more before it stops, and must not get an error for it.
  if (event.to === "session.seed" && fault !== undefined) return [info(fault.message)];
  if (event.to === "approval.answer" && event.status === "noop") {
    return [info("That call was answered already; this answer changes nothing")];
  }
  return fault === undefined ? [] : [errorLine(null, fault)];
}

function readyLine(event: EventOf<"session.ready">, state: AgentState): LaterEvent {
  const { revision } = state;
  const { tool_approval, thinking, mcp, ...more } = capabilitiesOf(state);
  return {
    type: "ready",
    version: revision.version,
    ...(event.sessionId !== undefined && { session_id: event.sessionId }),
    capabilities: { tool_approval, thinking, mcp, ...(revision.isLater && more) },
  };
}
