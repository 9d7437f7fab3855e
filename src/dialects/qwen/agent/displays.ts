/** Displays of a call: while it waits for approval, while it runs, and when it has ended. */
import { plainText, type Part, type PartOf } from "../../../core/content.js";
import type { Call, EventOf } from "../../../core/event.js";
import { canonicalTool, categoryOf } from "../../../core/names.js";
import { seconds, type Said } from "./lines.js";
import type { ShownCall } from "./state.js";
import type { Confirmation, ResultDisplay, ToolDisplay } from "../wire/event-records.js";

type Status = "pending" | "confirming" | "executing" | "success" | "error" | "canceled";

export function display(
  { at, session }: Said,
  tool_call_id: string,
  status: Status,
  shows: { result?: ResultDisplay; confirmation?: Confirmation } = {},
): ToolDisplay {
  return {
    type: "x-qwen-tool-display",
    tool_call_id,
    session_id: session.id,
    status,
    result_display: shows.result ?? null,
    confirmation: shows.confirmation ?? null,
    pending: status === "pending" || status === "confirming",
    timestamp: seconds(at),
  };
}

export const ENDS = { ok: "success", failed: "error", denied: "canceled", cancelled: "canceled" } as const;

// --- what waits for approval ---

export function confirmationOf(call: Call): Confirmation {
  const title = call.title ?? call.name;
  const { args = {}, preview = [] } = call;
  const plan = preview.find((part) => part.type === "plan");
  if (plan !== undefined) return { type: "plan", title, plan: plan.text };
  const diff = preview.find((part) => part.type === "diff");
  if (diff !== undefined)
    return { type: "edit", title, file_name: diff.path, diff: diff.patch, original: diff.before, modified: diff.after };
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(call.name) ?? [];
  if (server !== undefined && tool !== undefined) return { type: "mcp", title, server_name: server, tool_name: tool };
  return typeof args["command"] === "string" ? { type: "exec", title, command: args["command"] } : { type: "info", title, prompt: title };
}

const REASONS = { edit: "apply_diff", exec: "run_command", mcp: "call_mcp_tool", info: "use_tool" } as const;

/** The reason for a question, in one word. */
export function reasonOf(call: Call): string {
  return isPlan(call) ? "exit_plan" : REASONS[call.category ?? categoryOf(call.name)];
}

// --- displays of a call that runs or has ended ---

/** Undefined if there is nothing to show yet. */
export function runningDisplay(shown: ShownCall, said?: string): ResultDisplay | undefined {
  if (!isSpawn(shown.call)) return said === undefined ? undefined : { kind: "string", text: said, log_scope: "tool" };
  return taskDisplay(shown, "running", said);
}

export function endDisplay({ status, output = [], reason }: EventOf<"tool.ended">, shown: ShownCall | undefined): ResultDisplay {
  const words = plainText(output.filter((part) => part.type !== "diff" && part.type !== "plan")) || (reason ?? "");
  if (shown !== undefined && isSpawn(shown.call)) return taskDisplay(shown, TASK_ENDS[status], words);
  const plan = output.find((part) => part.type === "plan")?.text ?? (shown && isPlan(shown.call) ? shown.call.args?.["plan"] : undefined);
  if (typeof plan === "string") return { kind: "plan_summary", message: words, plan_markdown: plan };
  return partDisplay(output, shown) ?? { kind: "string", text: words || picturesIn(output) };
}

const TASK_ENDS = { ok: "completed", failed: "failed", denied: "cancelled", cancelled: "cancelled" } as const;

/** Shows content other than text. */
export function partDisplay(parts: readonly Part[], shown?: ShownCall): ResultDisplay | undefined {
  const diff = parts.find((part) => part.type === "diff");
  if (diff !== undefined) return diffDisplay(diff, shown);
  const todo = parts.find((part) => part.type === "todo");
  if (todo === undefined) return undefined;
  const todos = todo.items.map(({ id, text, status }, index) => ({ id: id ?? String(index + 1), content: text, status }));
  return { kind: "todo_list", todos };
}

function diffDisplay({ path, patch, before, after, stat }: PartOf<"diff">, shown: ShownCall | undefined): ResultDisplay {
  const user = changesByUser(shown);
  return {
    kind: "file_diff",
    file_name: path,
    diff: patch,
    original: before,
    modified: after,
    stat: {
      ai_added_lines: Math.max(0, stat.added - user.added + user.removed),
      ai_removed_lines: stat.removed,
      user_added_lines: user.added,
      user_removed_lines: user.removed,
    },
  };
}

/** Counts the lines that the host changed in the model's text. */
function changesByUser(shown: ShownCall | undefined): { added: number; removed: number } {
  const before = textArgument(shown?.call.args);
  const after = textArgument(shown?.changed);
  if (before === undefined || after === undefined) return { added: 0, removed: 0 };
  return { added: linesBeyond(after, before), removed: linesBeyond(before, after) };
}

function textArgument(args: Record<string, unknown> | undefined): string | undefined {
  const text = args?.["new_string"] ?? args?.["content"];
  return typeof text === "string" ? text : undefined;
}

/** The number of lines in `text` that `other` lacks. */
function linesBeyond(text: string, other: string): number {
  const left = new Map<string, number>();
  for (const line of linesOf(other)) left.set(line, (left.get(line) ?? 0) + 1);
  let beyond = 0;
  for (const line of linesOf(text)) {
    const count = left.get(line) ?? 0;
    if (count === 0) beyond++;
    else left.set(line, count - 1);
  }
  return beyond;
}

/** A text that ends with a newline has no line after it. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

function taskDisplay({ call, children }: ShownCall, status: string, result: string | undefined): ResultDisplay {
  const tool_calls = [...children].map(([tool_call_id, { name, status: state }]) => ({ tool_call_id, name, status: state }));
  const task_description = call.title ?? call.name;
  return { kind: "task_execution", task_description, status, tool_calls, ...(result !== undefined && { result }) };
}

function picturesIn(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === "image" ? [`[${part.mime}]`] : [])).join(" ");
}

function isSpawn({ name }: Call): boolean {
  return canonicalTool(name) === "Spawn";
}

function isPlan({ name }: Call): boolean {
  return canonicalTool(name) === "ExitPlan";
}
