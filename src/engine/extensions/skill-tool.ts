/** Skill: the model reads one of the skills in its system prompt. */
import * as v from "valibot";
import { defineTool, textResult, type Tool } from "../tools/tool.js";
import { skillText, type Skill } from "./skills.js";

export interface SkillUse {
  /** Rules for the calls that the skill lets run unasked; empty if it may let none. */
  grantsOf(skill: Skill): readonly string[];
  /** Activates the skill's rules. */
  use(skill: Skill): Promise<void>;
}

/** `skills` are those for the model; at least one. */
export function skillTool(skills: readonly Skill[], { grantsOf, use }: SkillUse): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  const names = [...byName.keys()];
  const Args = v.object({
    name: v.pipe(v.picklist(names, `must be one of ${names.join(", ")}`), v.description("The name of the skill")),
    args: v.optional(v.pipe(v.string(), v.description("Its arguments, as one text"))),
  });
  const tool = defineTool({
    name: "Skill",
    category: "info",
    access: "none",
    description: "Returns the instructions of a skill, to be followed for the task at hand. The system prompt lists the skills.",
    args: Args,
    title: ({ name }) => `Skill: ${name}`,
    async run({ name, args = "" }) {
      const skill = byName.get(name);
      if (skill === undefined) return textResult(`There is no skill '${name}'`, true);
      await use(skill);
      return textResult(skillText(skill, args));
    },
  });
  return {
    ...tool,
    grants(args) {
      const parsed = v.safeParse(Args, args);
      const skill = parsed.success ? byName.get(parsed.output.name) : undefined;
      return skill === undefined ? [] : grantsOf(skill);
    },
  };
}
