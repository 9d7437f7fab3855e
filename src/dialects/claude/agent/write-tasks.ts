/** Sub-agents on this wire: the prompt, the start and the end of each. Their lines name the Spawn call as parent. */
import type { EventOf } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { envelopeOf } from "../../kit/stream-json/agent/session.js";
import { kindOf, type Task, taskId } from "../../kit/stream-json/agent/tasks.js";
import { systemLine, usageOrNone, userLine } from "./lines.js";
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
  const usage = { total_tokens: tokensOf(task), tool_uses: task.toolUses, duration_ms: Math.max(0, at - task.since) };
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

/** The result of a call with one sub-agent, as data; undefined for one with several. */
export function taskResult(call: string, task: Task, text: string, at: number): object | undefined {
  const [spec, ...more] = task.specs;
  if (spec === undefined || more.length > 0) return undefined;
  return {
    status: "completed",
    prompt: spec.prompt,
    agentId: taskId(call, 0, spec),
    agentType: kindOf(spec),
    content: [{ type: "text", text: text.replace(/^## .* \[OK\]\n/, "") }],
    totalToolUseCount: task.toolUses,
    totalDurationMs: Math.max(0, at - task.since),
    totalTokens: tokensOf(task),
    usage: usageOrNone(task.usage),
  };
}

function tokensOf({ usage }: Task): number {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage ?? {};
  return input + output + cacheRead + cacheWrite + reasoning;
}
