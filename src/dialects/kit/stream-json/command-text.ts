/** The outcome of a command as the words of an answer. */
import * as v from "valibot";
import { CommandReply, type CommandResult } from "../../../core/command.js";
import { plainText } from "../../../core/content.js";

/** Undefined for a command that became a prompt: its turn follows. */
export function commandText(data: unknown): string | undefined {
  if (!v.is(CommandReply, data)) return "";
  return data.result.type === "submit_prompt" ? undefined : textOf(data.result);
}

function textOf(result: Exclude<CommandResult, { type: "submit_prompt" }>): string {
  if (result.type === "message") return result.text;
  if (result.type === "tool") return plainText(result.parts);
  const choices = (result.choices ?? []).map(({ value, label, current }) => `${current === true ? "* " : "  "}${label ?? value}`);
  return [result.text, ...choices].join("\n");
}
