/** TodoWrite: the model's list of tasks, shown to people. */
import * as v from "valibot";
import { defineTool } from "./tool.js";

const MAX_ITEMS = 100;

export const todoWrite = defineTool({
  name: "TodoWrite",
  category: "info",
  access: "none",
  description:
    "Replaces the todo list that the user sees; always give the whole list. Use it for work of several steps: " +
    "one item in_progress at a time, completed as soon as it is done.",
  args: v.object({
    todos: v.pipe(
      v.array(
        v.object({
          content: v.pipe(v.string(), v.regex(/\S/, "must not be empty"), v.description("What is to do.")),
          status: v.picklist(["pending", "in_progress", "completed"]),
          id: v.optional(v.string()),
        }),
      ),
      v.maxLength(MAX_ITEMS, `at most ${MAX_ITEMS} items`),
    ),
  }),
  title: (args) => `Update the todo list (${args.todos.length} items)`,
  async run(args) {
    const items = args.todos.map(({ content, status, id }) => ({ text: content, status, ...(id !== undefined && { id }) }));
    return { parts: [{ type: "todo", items }] };
  },
});
