/** Sub-agents of the user and the project: Markdown files whose text is the sub-agent's system prompt. */
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import type { SubAgent } from "../turn/sub-agents/built-in-agents.js";
import { parseRule } from "../../core/text/rule-text.js";
import { descriptionIn, nameIn, text, tools, valuesOf, type Definition, type DefinitionFile, type Kind } from "./definitions.js";

export interface DefinedAgent extends SubAgent, Definition {}

const Keys = v.looseObject({ name: text, description: text, tools, model: text });

/** The word of other agents' files for the parent's model. */
const SAME_MODEL = "inherit";

export const AGENTS: Kind<DefinedAgent> = {
  word: "sub-agent",
  fileOf: (entry) => (entry.endsWith(".md") ? { file: entry, name: entry.slice(0, -".md".length) } : undefined),
  parse: parseAgent,
};

function parseAgent(file: DefinitionFile): DefinedAgent {
  const keys = valuesOf(Keys, file);
  if (Object.keys(file.data).length === 0) throw new Error(`${file.path}:1: a sub-agent needs front matter that describes it`);
  const model = keys.model?.trim();
  for (const entry of keys.tools ?? []) checkTool(entry, file);
  return {
    name: nameIn(keys.name, file),
    description: descriptionIn(keys.description, file.body),
    scope: file.scope,
    ...(keys.tools !== null && keys.tools !== undefined && { tools: keys.tools }),
    ...(model !== undefined && model !== "" && model !== SAME_MODEL && { model }),
    ...(file.body !== "" && { system: file.body }),
  };
}

function checkTool(entry: string, { locate }: DefinitionFile): void {
  try {
    parseRule(entry);
  } catch (error) {
    throw new Error(`${locate("tools")}: ${messageOf(error)}`, { cause: error });
  }
}
