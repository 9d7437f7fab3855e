/** Agent → host, read: converts displays of a tool's work (`result_display`, `confirmation`) to our parts. */
import * as v from "valibot";
import type { Part } from "../../../core/content.js";
import type { Call } from "../../../core/event.js";
import { FileDiff, PlanSummary, StringDisplay, TaskExecution, TodoList, Confirmation } from "../wire/event-records.js";

export function readDisplay(display: unknown): Part[] {
  if (display === undefined || display === null || display === "") return [];
  if (typeof display === "string") return [{ type: "text", text: display }];
  if (v.is(StringDisplay, display)) return display.text === "" ? [] : [{ type: "text", text: display.text }];
  if (v.is(FileDiff, display)) return [diffPart(display)];
  if (v.is(TodoList, display)) return [{ type: "todo", items: display.todos.map(todoItem) }];
  if (v.is(PlanSummary, display)) return [{ type: "plan", text: display.plan_markdown }];
  if (v.is(TaskExecution, display) && display.result !== undefined) return [{ type: "text", text: display.result }];
  return [{ type: "json", data: display }];
}

function diffPart(shown: v.InferOutput<typeof FileDiff>): Part {
  const stat = shown.stat ?? { ai_added_lines: 0, ai_removed_lines: 0, user_added_lines: 0, user_removed_lines: 0 };
  return {
    type: "diff",
    path: shown.file_name,
    before: shown.original,
    after: shown.modified,
    patch: shown.diff,
    stat: { added: stat.ai_added_lines + stat.user_added_lines, removed: stat.ai_removed_lines + stat.user_removed_lines },
  };
}

const STATUS = { pending: "pending", in_progress: "in_progress", completed: "completed" } as const;

function todoItem({ id, content, status }: v.InferOutput<typeof TodoList>["todos"][number]) {
  const known = Object.entries(STATUS).find(([name]) => name === status)?.[1];
  return { id, text: content, status: known ?? STATUS.pending };
}

/** The details that a person should see before deciding. */
export function readConfirmation(confirmation: unknown): Pick<Call, "title" | "preview"> {
  if (!v.is(Confirmation, confirmation)) return {};
  const { title } = confirmation;
  switch (confirmation.type) {
    case "edit": {
      const { file_name: path, original, modified, diff } = confirmation;
      const count = (mark: string): number =>
        diff.split("\n").filter((line) => line.startsWith(mark) && !line.startsWith(mark.repeat(3))).length;
      const stat = { added: count("+"), removed: count("-") };
      return { title, preview: [{ type: "diff", path, before: original, after: modified, patch: diff, stat }] };
    }
    case "plan":
      return { title, preview: [{ type: "plan", text: confirmation.plan }] };
    case "exec":
    case "info":
    case "mcp":
      return { title };
    default:
      confirmation satisfies never;
      return {};
  }
}
