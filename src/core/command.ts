/** Commands: the result of one, and completions of a half-written one, as the `data` of a reply. The schema is the type. */
import * as v from "valibot";
import { Part } from "./content.js";
import type { Known } from "./values/without-index-signature.js";

const Choice = v.looseObject({
  value: v.string(),
  label: v.optional(v.string()),
  description: v.optional(v.string()),
  current: v.optional(v.boolean()),
});

/** `dialog`: the host should let its user choose. `tool`: a tool shows something. `submit_prompt`: the command became a prompt, whose turn follows. */
export const CommandResult = v.variant("type", [
  v.looseObject({
    type: v.literal("message"),
    level: v.picklist(["info", "warning", "error"]),
    text: v.string(),
    /** Arguments of the same command that tell or do more. */
    choices: v.optional(v.array(Choice)),
  }),
  v.looseObject({ type: v.literal("dialog"), dialog: v.string(), text: v.string(), choices: v.optional(v.array(Choice)) }),
  v.looseObject({ type: v.literal("tool"), tool: v.string(), parts: v.array(Part) }),
  v.looseObject({ type: v.literal("submit_prompt") }),
]);
export type CommandResult = Known<v.InferOutput<typeof CommandResult>>;

/** The data of the reply to a `turn.prompt` that carried a command. */
export const CommandReply = v.looseObject({
  command: v.looseObject({ name: v.string(), args: v.optional(v.string()) }),
  result: CommandResult,
});
export type CommandReply = Known<v.InferOutput<typeof CommandReply>>;

/** Whether the data of a reply says that the command became a prompt: its turn follows, so the reply is not the end. */
export function becamePrompt(data: unknown): boolean {
  return v.is(CommandReply, data) && data.result.type === "submit_prompt";
}

/** `value` replaces the text behind the trigger. */
export const Suggestion = v.looseObject({ label: v.string(), value: v.string(), description: v.optional(v.string()) });
export type Suggestion = Known<v.InferOutput<typeof Suggestion>>;

/** The data of the reply to a `command.suggest`. `perfect`: the text is complete already. */
export const SuggestReply = v.looseObject({ suggestions: v.array(Suggestion), perfect: v.optional(v.boolean()) });
export type SuggestReply = Known<v.InferOutput<typeof SuggestReply>>;
