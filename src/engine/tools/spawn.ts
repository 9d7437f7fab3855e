/** Spawn: sub-agents with a history of their own, for work that would fill the parent's. */
import * as v from "valibot";
import type { SubAgent } from "../turn/sub-agents/built-in-agents.js";
import { headOf } from "../workspace/output.js";
import { defineTool, type SpawnOutcome, type Tool } from "./tool.js";

/** The most sub-agents in one call. */
const MOST = 8;
const LINE_CHARS = 300;
const LIST_CHARS = 8000;

export function spawnTool(agents: readonly SubAgent[]): Tool {
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  const names = [...byName.keys()];
  const Task = v.object({
    name: v.pipe(v.string(), v.nonEmpty(), v.description("A short name, shown to the user")),
    prompt: v.pipe(v.string(), v.nonEmpty(), v.description("Everything the sub-agent needs to know; it sees nothing else")),
    agent: v.optional(
      v.pipe(v.picklist(names, `must be one of ${names.join(", ")}`), v.description("Which kind of sub-agent; general when absent")),
    ),
  });
  return defineTool({
    name: "Spawn",
    category: "exec",
    access: "none",
    endsItself: true,
    description:
      `Gives tasks to sub-agents that work side by side, each with a fresh conversation, and returns what each answered. ` +
      `At most ${MOST} at once. Use it for independent pieces of work. Kinds of sub-agents:\n${agentList(agents)}`,
    args: v.object({ tasks: v.pipe(v.array(Task), v.minLength(1), v.maxLength(MOST)) }),
    title: ({ tasks }) => `Spawn: ${tasks.map((task) => task.name.replace(/\s+/g, " ")).join(", ")}`,
    async run({ tasks }, context) {
      const outcomes = await context.spawn(
        tasks.map(({ name, prompt, agent }) => ({ name, prompt, agent: byName.get(agent ?? "general") })),
      );
      return {
        parts: [{ type: "text", text: outcomes.map(report).join("\n---\n") }],
        ...(outcomes.every((outcome) => !outcome.ok) && { failed: true }),
      };
    },
  });
}

function agentList(agents: readonly SubAgent[]): string {
  const lines = agents.map(({ name, description }) => headOf(`- ${name}: ${description}`, LINE_CHARS));
  return headOf(lines.join("\n"), LIST_CHARS);
}

function report({ name, ok, text }: SpawnOutcome): string {
  return `## ${name} [${ok ? "OK" : "ERROR"}]\n${text}`;
}
