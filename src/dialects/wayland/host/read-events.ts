/**
 * Reads the lines of a driven Wayland Core beyond those of aionrs: known lines become events, unknown ones are passed on, and a critical
 * one must be understood.
 */
import * as v from "valibot";
import type { Event } from "../../../core/event.js";
import { onServer } from "../../aionrs/host/changes.js";
import { at, isOpen, onRequest, stray } from "../../aionrs/host/read-events.js";
import type { Hears } from "../../aionrs/wire/revision.js";
import { here, runningCall, type HostState } from "../../aionrs/host/state.js";
import { readUsage } from "../../aionrs/wire/usage.js";
import { stringField } from "../../kit/issues.js";
import { events, ownEvents, PASSED_ON, type OwnEvent, type OwnEventOf } from "../wire.js";

export const hears: Hears = {
  own(rec, state) {
    const type = stringField(rec, "type") ?? "";
    if (Object.hasOwn(events, type)) return undefined;
    const schema = Object.entries(ownEvents).find(([name]) => name === type)?.[1];
    if (schema !== undefined && v.is(schema, rec)) return read(rec, state) ?? [stray(type, rec, state)];
    return schema === undefined && !PASSED_ON.has(type) && isCritical(rec) ? refuse(type, state) : undefined;
  },
  end(event) {
    const { finish_reason, usage_delta } = v.is(events.stream_end, event) ? event : {};
    return {
      ...(finish_reason !== undefined && { finish: finish_reason, failed: finish_reason === "error" }),
      ...(usage_delta && { usage: readUsage(usage_delta) }),
    };
  },
};

/** Undefined when it has no place here: it is passed on then. */
function read(event: OwnEvent, state: HostState): Event[] | undefined {
  switch (event.type) {
    case "call_announced":
      return onAnnounced(event, state);
    case "tool_chunk":
      return onChunk(event.call_id, event.chunk, state);
    case "tool_panicked":
      return onPanicked(event, state);
    case "approval_required":
      return onApproval(event, state);
    case "mcp_failed":
      return onServer({ name: event.name, status: "failed", error: event.reason, tools: [] }, state);
    case "sub_agent_event":
      return onTrace(event, state);
    case "compact_offload":
      return [{ type: "notice", ...here(state), level: "info", kind: "compaction", text: `Compacted: ${event.tokens_freed} tokens freed` }];
    case "budget_exceeded":
      return [{ type: "notice", ...here(state), level: "warning", text: `The budget is exceeded: ${event.reason}` }];
    case "mid_flight_monitor_decision":
      return [
        { type: "notice", ...here(state), level: "warning", text: `The agent's monitor decided to ${event.directive}: ${event.reason}` },
      ];
    default:
      event satisfies never;
      return undefined;
  }
}

function onAnnounced({ msg_id, call_id, tool }: OwnEventOf<"call_announced">, state: HostState): Event[] | undefined {
  const { running } = state;
  if (running?.reader.address.turn !== msg_id || runningCall(state, call_id) !== undefined) return undefined;
  return running.reader.request({ id: call_id, name: tool.name, args: tool.args, category: tool.category, title: tool.description });
}

function onChunk(call_id: string, text: string, state: HostState): Event[] | undefined {
  return isOpen(call_id, state) ? state.running?.reader.progress(call_id, { text }) : undefined;
}

function onPanicked({ call_id, tool_name, panic_message }: OwnEventOf<"tool_panicked">, state: HostState): Event[] | undefined {
  const reader = state.running?.reader;
  if (reader === undefined || runningCall(state, call_id)?.now === "ended") return undefined;
  const output = [{ type: "text" as const, text: panic_message }];
  return [...reader.known(call_id, tool_name), ...reader.end(call_id, { status: "failed", output, reason: panic_message })];
}

/** A call that was asked for already needs no second question; one that has a token is asked for here. */
function onApproval({ call_id, resume_token, context = "" }: OwnEventOf<"approval_required">, state: HostState): Event[] | undefined {
  if (resume_token === "") return [];
  const { running } = state;
  if (running === undefined || runningCall(state, call_id) !== undefined) return undefined;
  state.tokens.set(call_id, resume_token);
  const tool = { name: "", category: "exec" as const, args: {}, description: context };
  return onRequest({ type: "tool_request", msg_id: running.reader.address.turn, call_id, tool }, running, state);
}

/** The output of a child is progress of the call that started it. */
function onTrace({ parent_call_id, agent_name, inner }: OwnEventOf<"sub_agent_event">, state: HostState): Event[] | undefined {
  const said = inner["text"] ?? inner["message"];
  const text = typeof said === "string" ? `${agent_name}: ${said}\n` : `${agent_name}: ${inner.type}\n`;
  return onChunk(parent_call_id, text, state);
}

function isCritical(rec: unknown): boolean {
  return typeof rec === "object" && rec !== null && "critical" in rec && rec.critical === true;
}

/** Going on without it would be guessing. */
function refuse(type: string, state: HostState): Event[] {
  const message = `The agent said '${type}', which it calls critical and we do not know; it was ended`;
  state.refused = { code: "version", message, retryable: false };
  return state.isReady ? [{ type: "error", ...at(state), fault: state.refused }] : [];
}
