/** Converts the arguments of tools that differ from ours: a sub-agent is one task, and a todo has an `activeForm`. */
import * as v from "valibot";
import { isRecord } from "../../../core/values/json-object.js";

type Input = Record<string, unknown>;

const Task = v.strictObject({ name: v.string(), prompt: v.string(), agent: v.optional(v.string()) });
const OneTask = v.strictObject({ tasks: v.tuple([Task]) });
const AgentInput = v.looseObject({ description: v.string(), prompt: v.string(), subagent_type: v.optional(v.string()) });

export function wireInput(tool: string, args: Input): Input {
  if (tool === "Spawn" && v.is(OneTask, args)) {
    const [{ name, prompt, agent }] = args.tasks;
    return { description: name, prompt, ...(agent !== undefined && { subagent_type: agent }) };
  }
  const todos = tool === "TodoWrite" ? args["todos"] : undefined;
  if (!Array.isArray(todos)) return args;
  return { ...args, todos: todos.map((todo: unknown) => (isRecord(todo) ? { activeForm: todo["content"], ...todo } : todo)) };
}

/** The arguments of a host's call as ours; a call with our own arguments stays as it is. */
export function ownArgs(tool: string, input: Input): Input {
  if (tool !== "Spawn" || "tasks" in input || !v.is(AgentInput, input)) return input;
  const { description, prompt, subagent_type } = input;
  return { tasks: [{ name: description, prompt, ...(subagent_type !== undefined && { agent: subagent_type }) }] };
}
