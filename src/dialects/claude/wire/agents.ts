/** Sub-agents as Claude Code describes them: in `initialize` and in `--agents`. */
import * as v from "valibot";
import type { SessionConfig } from "../../../core/config.js";
import { readJson } from "../../kit/json-text.js";
import { modelNamed } from "./names.js";

const text = v.string();

const AgentDefinition = v.looseObject({
  description: text,
  prompt: v.optional(text),
  tools: v.optional(v.array(text)),
  model: v.optional(text),
});

export const Agents = v.record(text, AgentDefinition);

type SubAgents = NonNullable<SessionConfig["subagents"]>;

export function agentsOf(agents: v.InferOutput<typeof Agents>): SubAgents {
  return Object.entries(agents).map(([name, { description, prompt, tools, model }]) => {
    const named = model === undefined ? undefined : modelNamed(model);
    return {
      name,
      description,
      ...(prompt !== undefined && { system: prompt }),
      ...(tools !== undefined && tools.length > 0 && { tools }),
      ...(named !== undefined && { model: named }),
    };
  });
}

/** Reads the JSON of `--agents`. Throws the problem with it. */
export function readAgents(json: string): SubAgents {
  return agentsOf(readJson(Agents, json));
}
