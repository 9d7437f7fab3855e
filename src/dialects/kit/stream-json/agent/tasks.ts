/** The sub-agents of a call, as the agent's side tracks them. */
import * as v from "valibot";
import type { Usage } from "../../../../core/event.js";

const Tasks = v.looseObject({
  tasks: v.array(v.looseObject({ name: v.string(), prompt: v.string(), agent: v.optional(v.string()) })),
});
export type TaskSpec = v.InferOutput<typeof Tasks>["tasks"][number];

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

/** The kind of a sub-agent. */
export function kindOf({ agent }: TaskSpec): string {
  return agent ?? "general";
}

export function taskId(call: string, index: number, spec: TaskSpec): string {
  return index === 0 ? `${kindOf(spec)}-${call}` : `${kindOf(spec)}-${call}-${index + 1}`;
}
