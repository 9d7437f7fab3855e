/** Skills: folders with a SKILL.md, whose text tells the model how to go about a task. */
import { dirname } from "node:path";
import * as v from "valibot";
import { messageOf } from "../../core/errors.js";
import { canonicalTool } from "../../core/names.js";
import { headOf, wellFormed } from "../workspace/output.js";
import { parseRule } from "../../core/text/rule-text.js";
import { descriptionIn, nameIn, text, tools, valuesOf, yesOrNo, type Definition, type DefinitionFile, type Kind } from "./definitions.js";
import { fillIn } from "./placeholders.js";

export interface Skill extends Definition {
  argumentHint?: string;
  /** Rules for calls that may run unasked once the skill is in use; the workspace's trust decides whether they count. */
  allowedTools: readonly string[];
  userInvocable: boolean;
  modelInvocable: boolean;
  folder: string;
  body: string;
}

const Keys = v.looseObject({
  name: text,
  description: text,
  // Unquoted, `[file]` is a list to YAML.
  "argument-hint": v.nullish(
    v.union(
      [
        v.string(),
        v.pipe(
          v.array(v.string()),
          v.transform((hints) => `[${hints.join("] [")}]`),
        ),
      ],
      "must be a text",
    ),
  ),
  "allowed-tools": tools,
  "user-invocable": yesOrNo,
  "model-invocable": yesOrNo,
  "disable-model-invocation": yesOrNo,
});

export const SKILLS: Kind<Skill> = {
  word: "skill",
  fileOf: (entry) => ({ file: `${entry}/SKILL.md`, name: entry }),
  parse: parseSkill,
};

function parseSkill(file: DefinitionFile): Skill {
  const keys = valuesOf(Keys, file);
  const hint = keys["argument-hint"];
  return {
    name: nameIn(keys.name, file),
    description: descriptionIn(keys.description, file.body),
    scope: file.scope,
    ...(typeof hint === "string" && { argumentHint: wellFormed(hint) }),
    allowedTools: (keys["allowed-tools"] ?? []).map((entry) => ruleIn(entry, file)),
    userInvocable: keys["user-invocable"] ?? true,
    modelInvocable: (keys["model-invocable"] ?? true) && keys["disable-model-invocation"] !== true,
    folder: dirname(file.path),
    body: file.body,
  };
}

/** The rules with our names for tools. */
function ruleIn(entry: string, { locate }: DefinitionFile): string {
  try {
    const { tool, pattern } = parseRule(entry);
    return pattern === undefined ? canonicalTool(tool) : `${canonicalTool(tool)}(${pattern})`;
  } catch (error) {
    throw new Error(`${locate("allowed-tools")}: ${messageOf(error)}`, { cause: error });
  }
}

/** The skill as the model gets it: the folder of its files, and its text with the arguments. */
export function skillText({ name, folder, body }: Skill, args: string): string {
  return `Skill '${name}'. Files that it mentions are in ${folder}\n\n${fillIn(body, args)}`;
}

const LINE_CHARS = 300;
const LIST_CHARS = 16_000;

/** Lists the skills for the system prompt. Skills that do not fit are counted. */
export function skillList(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let room = LIST_CHARS;
  for (const { name, description } of skills) {
    const line = headOf(`- ${name}: ${description}`, LINE_CHARS);
    room -= line.length;
    if (room < 0) break;
    lines.push(line);
  }
  const rest = skills.length - lines.length;
  if (rest > 0) lines.push(`- and ${rest} more that are not listed here`);
  return `Skills are instructions for particular tasks. When one of these fits, call the Skill tool with its name before you begin:\n${lines.join("\n")}`;
}
