/** Sub-agents on this wire: the prompt of each, its beginning and its end. Their own words and calls have the call as their parent. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { kindOf, taskId, type Task } from "../../kit/stream-json/agent-tasks.js";
import { userLine } from "../../kit/stream-json/write-lines.js";
import { writeUsage } from "../wire/usage.js";
import { systemLine } from "./lines.js";
import { envelopeOf } from "../../kit/stream-json/agent-session.js";
import { type AgentState } from "./state.js";

export function taskStarted(call: string, task: Task, state: AgentState): Out[] {
  return task.specs.flatMap((spec, at) => [
    userLine([{ type: "text", text: spec.prompt }], envelopeOf(state, call)),
    systemLine(
      "task_started",
      { task_id: taskId(call, at, spec), tool_use_id: call, description: spec.name, subagent_type: kindOf(spec) },
      envelopeOf(state),
    ),
  ]);
}

/** The cost of several sub-agents of one call is known as a sum only. */
export function taskEnded({ call, status, at = 0 }: EventOf<"tool.ended">, task: Task, state: AgentState): Out[] {
  const ended = status === "ok" ? "completed" : status === "failed" ? "failed" : "cancelled";
  const total_tokens = task.usage === undefined ? 0 : (writeUsage(task.usage).total_tokens ?? 0);
  const usage = { total_tokens, tool_uses: task.toolUses, duration_ms: Math.max(0, at - task.since) };
  return task.specs.flatMap((spec, index) => [
    userLine([{ type: "text", text: `Agent "${kindOf(spec)}: ${spec.name}" ${ended}.` }], envelopeOf(state)),
    systemLine(
      "task_notification",
      { task_id: taskId(call, index, spec), tool_use_id: call, status: ended, ...(task.specs.length === 1 && { usage }) },
      envelopeOf(state),
    ),
  ]);
}
