/** The wire of `codex exec --json`: lines about one prompt, in one direction. */
import * as v from "valibot";

const text = v.string();

const Change = v.looseObject({ path: text, kind: text });
const Status = v.picklist(["in_progress", "completed", "failed"]);

function item<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ id: text, type: v.literal(type), ...entries });
}

const ExecItem = v.variant("type", [
  item("agent_message", { text }),
  item("reasoning", { text }),
  item("command_execution", { command: text, aggregated_output: text, exit_code: v.nullish(v.number()), status: Status }),
  item("file_change", { changes: v.array(Change), status: Status }),
  item("mcp_tool_call", {
    server: text,
    tool: text,
    arguments: v.unknown(),
    result: v.nullish(v.looseObject({ content: v.array(v.unknown()) })),
    error: v.nullish(v.looseObject({ message: text })),
    status: Status,
  }),
  item("web_search", { query: text }),
  item("todo_list", { items: v.array(v.looseObject({ text, completed: v.boolean() })) }),
  item("error", { message: text }),
]);
export type ExecItem = v.InferOutput<typeof ExecItem>;

const ExecUsage = v.looseObject({
  input_tokens: v.number(),
  cached_input_tokens: v.number(),
  cache_write_input_tokens: v.number(),
  output_tokens: v.number(),
  reasoning_output_tokens: v.number(),
});
export type ExecUsage = v.InferOutput<typeof ExecUsage>;

const ExecError = v.looseObject({ message: text });

export const ExecRecord = v.variant("type", [
  v.looseObject({ type: v.literal("thread.started"), thread_id: text }),
  v.looseObject({ type: v.literal("turn.started") }),
  v.looseObject({ type: v.literal("turn.completed"), usage: ExecUsage }),
  v.looseObject({ type: v.literal("turn.failed"), error: ExecError }),
  v.looseObject({ type: v.literal("item.started"), item: ExecItem }),
  v.looseObject({ type: v.literal("item.updated"), item: ExecItem }),
  v.looseObject({ type: v.literal("item.completed"), item: ExecItem }),
  v.looseObject({ type: v.literal("error"), message: text }),
]);
export type ExecRecord = v.InferOutput<typeof ExecRecord>;
