/** Commands: what comes of one, and what completes a half-written one. They travel as the `data` of a reply; the schema is the type. */
import * as v from "valibot";
import { Part } from "./content.js";
import type { Known } from "./values/without-index-signature.js";

const Choice = v.looseObject({
  value: v.string(),
  label: v.optional(v.string()),
  description: v.optional(v.string()),
  current: v.optional(v.boolean()),
});

/** `dialog`: the host should let its user choose. `tool`: what a tool shows. `submit_prompt`: the command became a prompt, whose turn follows. */
export const CommandResult = v.variant("type", [
  v.looseObject({ type: v.literal("message"), level: v.picklist(["info", "warning", "error"]), text: v.string() }),
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

/** Whether the data of a reply says that the command became a prompt: then it is not the end, a turn follows. */
export function becamePrompt(data: unknown): boolean {
  return v.is(CommandReply, data) && data.result.type === "submit_prompt";
}

/** `value` replaces what was written behind the trigger. */
export const Suggestion = v.looseObject({ label: v.string(), value: v.string(), description: v.optional(v.string()) });
export type Suggestion = Known<v.InferOutput<typeof Suggestion>>;

/** The data of the reply to a `command.suggest`. `perfect`: what was written is whole already. */
export const SuggestReply = v.looseObject({ suggestions: v.array(Suggestion), perfect: v.optional(v.boolean()) });
export type SuggestReply = Known<v.InferOutput<typeof SuggestReply>>;
