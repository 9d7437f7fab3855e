/** Tools that the agent's side serves itself: a question for the user, and the result for a schema. Each wire has its own names for them. */
import type { HostTool, SessionConfig } from "../../core/config.js";

const ASK_USER: Omit<HostTool, "name"> = {
  description:
    "Asks the user up to four questions with choices to pick from, and waits for the answers. Use it when the task cannot go on without a " +
    "decision that only the user can make.",
  parameters: {
    type: "object",
    properties: {
      questions: {
        type: "array",
        minItems: 1,
        maxItems: 4,
        items: {
          type: "object",
          properties: {
            question: { type: "string", description: "The whole question" },
            header: { type: "string", description: "A word or two to show above it" },
            options: {
              type: "array",
              minItems: 2,
              maxItems: 4,
              items: {
                type: "object",
                properties: { label: { type: "string" }, description: { type: "string" } },
                required: ["label", "description"],
              },
            },
            multiSelect: { type: "boolean", description: "Whether more than one may be picked" },
          },
          required: ["question", "header", "options"],
        },
      },
    },
    required: ["questions"],
  },
};

export function askUserTool(name: string): HostTool {
  return { name, ...ASK_USER };
}

/** The tool for the result of a schema exists whatever other tools are allowed. */
export function withSchema(name: string, schema: Record<string, unknown> | undefined, { allowedTools }: SessionConfig = {}): SessionConfig {
  if (schema === undefined) return {};
  const tool: HostTool = {
    name,
    description: "Hands over the result of the whole task, and ends it. Call it exactly once, when everything else is done.",
    parameters: schema,
  };
  return { hostTools: [tool], ...(allowedTools !== undefined && { allowedTools: [...allowedTools, name] }) };
}
