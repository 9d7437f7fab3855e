/** Sub-agents on this wire: the prompt, the start and the end of each. Their lines name the Spawn call as parent. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { kindOf, taskId, type Task } from "../../kit/stream-json/agent/tasks.js";
import { userLine } from "../../kit/stream-json/write-lines.js";
import { writeUsage } from "../wire/usage.js";
import { systemLine } from "./lines.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
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

/** Several sub-agents of one call have only a common cost. */
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
