/** Lines that only a Wayland Core writes, beyond those of aionrs. */
import type { Fault } from "../../../core/errors.js";
import type { Call, Event, EventOf } from "../../../core/event.js";
import { info } from "../../aionrs/agent/lines.js";
import type { Says } from "../../aionrs/wire/revision.js";
import type { AgentState } from "../../aionrs/agent/state.js";
import { toolOf, writeChildCall, writeEvent } from "../../aionrs/agent/write-events.js";
import type { Out } from "../../dialect.js";
import type { WireEvent } from "../wire.js";

export const says: Says = {
  capabilities: ({ switched }) => Object.fromEntries([...switched].map((name) => [name, true])),
  announcement: (call, msg_id) => (call === undefined ? [] : [announced(call, msg_id)]),
  end: (event) => ({ finish_reason: finishReason(event) }),
  progress: (event, msg_id, state) => (state.switched.has("streaming_tools") ? chunk(event, msg_id, state) : []),
  child: (event, state) => (state.switched.has("sub_agent_traces") ? trace(event, state) : undefined),
  // Wayland's host takes an error for the end of the turn, which goes on here.
  passingError: (fault: Fault, msg_id) => [info(fault.message, msg_id)],
  serverFailed: (name, reason) => [line({ type: "mcp_failed", name, reason })],
  allServers: true,
};

function announced(call: Call, msg_id: string): Out {
  return line({ type: "call_announced", msg_id, call_id: call.id, tool: toolOf(call), critical: false });
}

function finishReason({ outcome, finish }: EventOf<"turn.ended">): "stop" | "length" | "error" | "max_turns" {
  if (outcome === "failed") return "error";
  return finish === "length" || finish === "max_turns" ? finish : "stop";
}

function chunk({ call, text }: EventOf<"tool.progress">, msg_id: string, state: AgentState): Out[] {
  if (text === undefined) return [];
  return [line({ type: "tool_chunk", msg_id, call_id: call, tool_name: state.calls.get(call)?.name ?? "", chunk: text })];
}

/** A call that must be asked for comes up as one of the parent's; all else goes under the call that started the sub-agent. */
function trace(event: Event, state: AgentState): Out[] {
  const asked = writeChildCall(event, state);
  if (asked.length > 0) return asked;
  const { under = "", ...own } = event;
  const known = "call" in own && typeof own.call === "string" ? [own.call] : [];
  const inner = writeEvent(own, { ...state, announced: new Set(known) });
  const spawn = state.calls.get(under);
  return inner.flatMap((out) => ("rec" in out && isRecord(out.rec) ? [traced(under, agentName(spawn), out.rec)] : []));
}

function traced(parent_call_id: string, agent_name: string, inner: { type: string }): Out {
  return line({ type: "sub_agent_event", parent_call_id, agent_name, inner });
}

/** The name of the sub-agent that a call started. Several may work under one call, and the events do not tell which of them speaks. */
function agentName(spawn: Call | undefined): string {
  const tasks = spawn?.args?.["tasks"];
  const names = Array.isArray(tasks) ? tasks.flatMap((task: unknown) => (isNamed(task) ? [task.name] : [])) : [];
  return names.length === 0 ? "sub-agent" : names.join(", ");
}

function isNamed(task: unknown): task is { name: string } {
  return typeof task === "object" && task !== null && "name" in task && typeof task.name === "string";
}

function isRecord(rec: unknown): rec is { type: string } {
  return typeof rec === "object" && rec !== null && "type" in rec && typeof rec.type === "string";
}

function line(rec: WireEvent): Out {
  return { rec };
}
