/** The system prompt: our words or the host's, the environment, the instructions, and what the host appends. */
import type { SessionConfig } from "../../core/config.js";
import type { Model } from "../models/model.js";
import type { Instruction } from "../session/briefing.js";
import type { SessionServices } from "../session/services.js";
import type { Tool } from "../tools/tool.js";
import { windowOf } from "./compaction/compaction.js";
import { usesPatches } from "./told-tools.js";
import edit from "./prompts/edit.txt";
import main from "./prompts/main.txt";
import patch from "./prompts/patch.txt";
import short from "./prompts/short.txt";

/** A window of so many tokens or fewer has no room for the long prompt. */
const SMALL_WINDOW = 32_768;

export async function systemPrompt(
  { extensions }: Pick<SessionServices, "extensions">,
  config: SessionConfig,
  { model, tools, instructions }: { model: Model; tools: ReadonlyMap<string, Tool>; instructions: readonly Instruction[] },
): Promise<string> {
  const own = (windowOf(config, model) ?? Infinity) <= SMALL_WINDOW ? short : main;
  const base = config.system ?? own.replace("{editing}\n", usesPatches(model, tools) ? patch : edit).trim();
  // The model's line is not part of the block, which outlives a change of the model.
  const facts = `${await extensions.environment()}\nModel: ${model.id}`;
  return [base, facts, ...instructions.map(({ text }) => text), config.appendSystem]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
}
