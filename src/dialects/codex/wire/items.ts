/** The items of a thread (messages, reasoning, commands, changes) in `item/started` and `item/completed`. */
import * as v from "valibot";

const text = v.string();

export const UserInput = v.looseObject({
  type: text,
  text: v.nullish(text),
  url: v.nullish(text),
  path: v.nullish(text),
  name: v.nullish(text),
});
export type UserInput = v.InferOutput<typeof UserInput>;

const ExecutionStatus = v.picklist(["inProgress", "completed", "failed", "declined"]);
const CallStatus = v.picklist(["inProgress", "completed", "failed"]);

/** Our status for a call if the wire's status lacks it. Only Parley writes and reads this field. */
const Outcome = v.nullish(v.picklist(["denied", "cancelled"]));

export const FileChange = v.looseObject({
  path: text,
  kind: v.looseObject({ type: v.picklist(["add", "delete", "update"]), move_path: v.nullish(text) }),
  diff: text,
});
export type FileChange = v.InferOutput<typeof FileChange>;

export const OutputItem = v.looseObject({ type: text, text: v.nullish(text), imageUrl: v.nullish(text) });
export type OutputItem = v.InferOutput<typeof OutputItem>;

const McpResult = v.looseObject({ content: v.array(v.unknown()), structuredContent: v.optional(v.unknown()) });
const McpError = v.looseObject({ message: text });

function item<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
  return v.looseObject({ type: v.literal(type), id: text, ...entries });
}

export const items = {
  userMessage: item("userMessage", { content: v.array(UserInput) }),
  agentMessage: item("agentMessage", { text }),
  plan: item("plan", { text }),
  reasoning: item("reasoning", { summary: v.nullish(v.array(text)), content: v.nullish(v.array(text)) }),
  commandExecution: item("commandExecution", {
    command: text,
    cwd: v.nullish(text),
    status: ExecutionStatus,
    aggregatedOutput: v.nullish(text),
    exitCode: v.nullish(v.number()),
    outcome: Outcome,
  }),
  fileChange: item("fileChange", { changes: v.array(FileChange), status: ExecutionStatus, outcome: Outcome }),
  mcpToolCall: item("mcpToolCall", {
    server: text,
    tool: text,
    status: CallStatus,
    arguments: v.unknown(),
    result: v.nullish(McpResult),
    error: v.nullish(McpError),
    outcome: Outcome,
  }),
  dynamicToolCall: item("dynamicToolCall", {
    namespace: v.nullish(text),
    tool: text,
    arguments: v.unknown(),
    status: CallStatus,
    contentItems: v.nullish(v.array(OutputItem)),
    success: v.nullish(v.boolean()),
    outcome: Outcome,
  }),
  collabAgentToolCall: item("collabAgentToolCall", {
    tool: text,
    status: v.picklist(["inProgress", "completed", "failed", "interrupted"]),
    prompt: v.nullish(text),
    receiverThreadIds: v.nullish(v.array(text)),
    outcome: Outcome,
  }),
  webSearch: item("webSearch", { query: text, action: v.optional(v.unknown()) }),
  imageView: item("imageView", { path: text }),
  contextCompaction: item("contextCompaction", {}),
} as const;
type ItemType = keyof typeof items;
export type ItemOf<T extends ItemType> = v.InferOutput<(typeof items)[T]>;

export const KnownItem = v.variant("type", [
  items.userMessage,
  items.agentMessage,
  items.plan,
  items.reasoning,
  items.commandExecution,
  items.fileChange,
  items.mcpToolCall,
  items.dynamicToolCall,
  items.collabAgentToolCall,
  items.webSearch,
  items.imageView,
  items.contextCompaction,
]);
export type KnownItem = v.InferOutput<typeof KnownItem>;

/** An item of any kind: later revisions have more. */
export const AnyItem = v.looseObject({ type: text, id: text });
export type AnyItem = v.InferOutput<typeof AnyItem>;
export const Item = v.union([KnownItem, AnyItem]);
