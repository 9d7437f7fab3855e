/** What a prompt changes for itself alone: its tools. */
import type { SessionConfig } from "../core/config.js";
import type { OpOf } from "../core/op.js";
import type { Emit } from "./run.js";
import { namesTool } from "./tool-lists.js";
import type { Tool } from "./tools/tool.js";

export function withOverrides(config: SessionConfig, op: OpOf<"turn.prompt">): SessionConfig {
  const { tools, hostTools } = op.overrides ?? {};
  return {
    ...config,
    ...(tools !== undefined && { allowedTools: tools }),
    ...(hostTools !== undefined && { hostTools: [...(config.hostTools ?? []), ...hostTools] }),
  };
}

/** A list of tools may name some that there are not: it is the others that count. */
export async function tellUnknown({ overrides }: OpOf<"turn.prompt">, tools: ReadonlyMap<string, Tool>, emit: Emit): Promise<void> {
  const unknown = overrides?.tools?.filter((entry) => ![...tools.keys()].some((name) => namesTool(entry, name))) ?? [];
  if (unknown.length === 0) return;
  const text = `There is no tool ${unknown.map((entry) => `'${entry}'`).join(", ")} for this prompt`;
  await emit({ type: "notice", level: "warning", kind: "unknown_tool", text });
}
