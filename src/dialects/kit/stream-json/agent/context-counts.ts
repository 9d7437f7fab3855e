/** The counts of the command `/context`. */
import * as v from "valibot";
import { CommandReply } from "../../../../core/command.js";

const Counts = v.looseObject({
  used: v.nullish(v.number()),
  window: v.nullish(v.number()),
  system: v.number(),
  memory: v.number(),
  tools: v.number(),
  mcpTools: v.number(),
  messages: v.number(),
});

type Counts = v.InferOutput<typeof Counts>;

const NONE = { used: undefined, window: undefined, system: 0, memory: 0, tools: 0, mcpTools: 0, messages: 0 };

/** Reads the command's answer. `estimated` is the sum of the parts; the window of the model stands in for an untold one. */
export function contextCounts(
  data: unknown,
  { contextLimit }: { readonly contextLimit?: unknown },
): { counts: Counts; estimated: number; window: number } {
  const shown = v.is(CommandReply, data) && data.result.type === "message" ? Reflect.get(data.result, "data") : undefined;
  const counts = v.is(Counts, shown) ? shown : NONE;
  const { system, memory, tools, mcpTools, messages } = counts;
  const window = counts.window ?? (typeof contextLimit === "number" ? contextLimit : 0);
  return { counts, estimated: system + memory + tools + mcpTools + messages, window };
}
