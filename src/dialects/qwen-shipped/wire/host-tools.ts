/** Tools that this side itself answers: a question for the user, and the result that a schema asks for. */
import type { HostTool, SessionConfig } from "../../../core/config.js";

export const ASK_USER: HostTool = {
  name: "ask_user_question",
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

export const STRUCTURED = "structured_output";

function structuredTool(schema: Record<string, unknown>): HostTool {
  return {
    name: STRUCTURED,
    description: "Hands over the result of the whole task, and ends it. Call it exactly once, when everything else is done.",
    parameters: schema,
  };
}

/** The result that a schema asks for is handed over by a tool, which exists whatever other tools do. */
export function withSchema(schema: Record<string, unknown> | undefined, config: SessionConfig = {}): SessionConfig {
  if (schema === undefined) return {};
  const { allowedTools } = config;
  return { hostTools: [structuredTool(schema)], ...(allowedTools !== undefined && { allowedTools: [...allowedTools, STRUCTURED] }) };
}
