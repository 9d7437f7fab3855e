/** Spawn: sub-agents with a history of their own, for work that would fill the parent's. */
import * as v from "valibot";
import { defineTool, type SpawnOutcome } from "./tool.js";

/** Sub-agents in one call. */
const MOST = 8;

const Task = v.object({
  name: v.pipe(v.string(), v.nonEmpty(), v.description("A short name, shown to the user")),
  prompt: v.pipe(v.string(), v.nonEmpty(), v.description("Everything the sub-agent needs to know; it sees nothing else")),
});

export const spawn = defineTool({
  name: "Spawn",
  category: "exec",
  access: "none",
  endsItself: true,
  description:
    `Gives tasks to sub-agents that work side by side, each with a fresh conversation and the same tools, and returns what each answered. ` +
    `At most ${MOST} at once. Use it for independent pieces of work; a sub-agent cannot spawn further ones.`,
  args: v.object({ tasks: v.pipe(v.array(Task), v.minLength(1), v.maxLength(MOST)) }),
  title: ({ tasks }) => `Spawn: ${tasks.map((task) => task.name.replace(/\s+/g, " ")).join(", ")}`,
  async run({ tasks }, context) {
    const outcomes = await context.spawn(tasks);
    return {
      parts: [{ type: "text", text: outcomes.map(report).join("\n---\n") }],
      ...(outcomes.every((outcome) => !outcome.ok) && { failed: true }),
    };
  },
});

function report({ name, ok, text }: SpawnOutcome): string {
  return `## ${name} [${ok ? "OK" : "ERROR"}]\n${text}`;
}
