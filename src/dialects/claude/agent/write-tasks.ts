/** Sub-agents on this wire: the prompt, the start and the end of each. Their lines name the Spawn call as parent. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
import { kindOf, type Task, taskId } from "../../kit/stream-json/agent/tasks.js";
import { systemLine, userLine } from "./lines.js";
import type { AgentState } from "./state.js";

export function taskStarted(call: string, task: Task, state: AgentState): Out[] {
  return task.specs.flatMap((spec, at) => [
    systemLine(
      "task_started",
      { task_id: taskId(call, at, spec), tool_use_id: call, description: spec.name, subagent_type: kindOf(spec), prompt: spec.prompt },
      envelopeOf(state),
    ),
    userLine({ content: [{ type: "text", text: spec.prompt }] }, envelopeOf(state, call)),
  ]);
}

/** The end of a sub-agent. Several sub-agents of one call have only a common cost. */
export function taskEnded({ call, status, at = 0 }: EventOf<"tool.ended">, task: Task, state: AgentState): Out[] {
  const ended = status === "ok" ? "completed" : status === "failed" ? "failed" : "stopped";
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = task.usage ?? {};
  const total_tokens = input + output + cacheRead + cacheWrite + reasoning;
  const usage = { total_tokens, tool_uses: task.toolUses, duration_ms: Math.max(0, at - task.since) };
  return task.specs.map((spec, index) =>
    systemLine(
      "task_notification",
      {
        task_id: taskId(call, index, spec),
        tool_use_id: call,
        status: ended,
        summary: spec.name,
        ...(task.specs.length === 1 && { usage }),
      },
      envelopeOf(state),
    ),
  );
}
