/** Sub-agents on this wire: the prompt of each, its beginning and its end. Their own words and calls have the call as their parent. */
import * as v from "valibot";
import type { EventOf, Usage } from "../../../core/event.js";
import type { Out } from "../../dialect.js";
import { userLine } from "../../kit/stream-json/write-lines.js";
import { writeUsage } from "../wire/usage.js";
import { systemLine } from "./lines.js";
import { envelopeOf } from "../../kit/stream-json/agent-session.js";
import { type AgentState } from "./state.js";

const Tasks = v.looseObject({
  tasks: v.array(v.looseObject({ name: v.string(), prompt: v.string(), agent: v.optional(v.string()) })),
});
type TaskSpec = v.InferOutput<typeof Tasks>["tasks"][number];

/** The sub-agents of one call. */
export interface Task {
  specs: readonly TaskSpec[];
  since: number;
  usage: Usage | undefined;
  toolUses: number;
}

export function taskOf(args: Record<string, unknown>, at: number): Task | undefined {
  return v.is(Tasks, args) ? { specs: args.tasks, since: at, usage: undefined, toolUses: 0 } : undefined;
}

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

function kindOf({ agent }: TaskSpec): string {
  return agent ?? "general";
}

function taskId(call: string, index: number, spec: TaskSpec): string {
  return index === 0 ? `${kindOf(spec)}-${call}` : `${kindOf(spec)}-${call}-${index + 1}`;
}
