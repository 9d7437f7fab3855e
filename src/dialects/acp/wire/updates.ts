/** `session/update`: the agent's notifications about a session. */
import * as v from "valibot";
import { ContentBlock } from "./content.js";
import { ConfigOption } from "./sessions.js";

const text = v.string();

/** A list of words that keeps unknown words: a later revision may add some. */
function known<const T extends readonly string[]>(words: T) {
  return v.union([v.picklist(words), text]);
}

// --- tool calls ---

const ToolKind = known(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]);
const ToolStatus = known(["pending", "in_progress", "completed", "failed"]);

const KnownToolContent = v.variant("type", [
  v.looseObject({ type: v.literal("content"), content: ContentBlock }),
  v.looseObject({ type: v.literal("diff"), path: text, oldText: v.nullish(text), newText: text }),
  v.looseObject({ type: v.literal("terminal"), terminalId: text }),
]);
export { KnownToolContent };
export const ToolContent = v.union([KnownToolContent, v.looseObject({ type: text })]);
export type ToolContent = v.InferOutput<typeof ToolContent>;

const Location = v.looseObject({ path: text, line: v.nullish(v.number()) });

/** `terminal_*` tell a client that shows terminals about one of the agent. `parley` is ours: it tells denied and cancelled from `failed`. */
const ToolMeta = v.looseObject({
  terminal_info: v.nullish(v.looseObject({ terminal_id: text, cwd: v.nullish(text) })),
  terminal_output: v.nullish(v.looseObject({ terminal_id: text, data: text })),
  terminal_exit: v.nullish(v.looseObject({ terminal_id: text, exit_code: v.nullish(v.number()), signal: v.nullish(text) })),
  parley: v.nullish(v.looseObject({ status: v.optional(v.picklist(["denied", "cancelled"])) })),
});

const callEntries = {
  toolCallId: text,
  kind: v.nullish(ToolKind),
  status: v.nullish(ToolStatus),
  name: v.nullish(text),
  title: v.nullish(text),
  content: v.nullish(v.array(ToolContent)),
  locations: v.nullish(v.array(Location)),
  rawInput: v.optional(v.unknown()),
  rawOutput: v.optional(v.unknown()),
  _meta: v.nullish(ToolMeta),
};
export const WireCall = v.looseObject(callEntries);
export type WireCall = v.InferOutput<typeof WireCall>;

export function metaOf({ _meta: meta }: WireCall): NonNullable<WireCall["_meta"]> {
  return meta ?? {};
}

// --- updates ---

function update<const K extends string, E extends v.ObjectEntries>(kind: K, entries: E) {
  return v.looseObject({ sessionUpdate: v.literal(kind), ...entries });
}

const chunk = { content: ContentBlock, messageId: v.nullish(text) };

const PlanEntry = v.looseObject({
  content: text,
  priority: v.optional(known(["high", "medium", "low"])),
  status: known(["pending", "in_progress", "completed"]),
});

const AvailableCommand = v.looseObject({
  name: text,
  description: v.nullish(text),
  input: v.nullish(v.looseObject({ hint: v.nullish(text) })),
});

export const KnownUpdate = v.variant("sessionUpdate", [
  update("user_message_chunk", chunk),
  update("agent_message_chunk", chunk),
  update("agent_thought_chunk", chunk),
  update("tool_call", callEntries),
  update("tool_call_update", callEntries),
  update("plan", { entries: v.array(PlanEntry) }),
  update("available_commands_update", { availableCommands: v.array(AvailableCommand) }),
  update("current_mode_update", { currentModeId: text }),
  update("config_option_update", { configOptions: v.array(v.union([ConfigOption, v.looseObject({ id: text })])) }),
  update("session_info_update", { title: v.nullish(text), updatedAt: v.nullish(text) }),
  update("usage_update", {
    used: v.number(),
    size: v.number(),
    cost: v.nullish(v.looseObject({ amount: v.number(), currency: text })),
  }),
  update("notice", { severity: known(["info", "warning", "error"]), title: text, description: v.nullish(text) }),
  update("compaction_update", {
    compactionId: text,
    status: known(["in_progress", "completed", "failed", "cancelled"]),
    summary: v.nullish(v.array(ContentBlock)),
    error: v.nullish(text),
  }),
  update("compaction_summary_chunk", { compactionId: text, content: ContentBlock }),
]);
export type KnownUpdate = v.InferOutput<typeof KnownUpdate>;
export type UpdateOf<K extends KnownUpdate["sessionUpdate"]> = Extract<KnownUpdate, { sessionUpdate: K }>;

export const UpdateParams = v.looseObject({
  sessionId: text,
  update: v.union([KnownUpdate, v.looseObject({ sessionUpdate: text })]),
});
