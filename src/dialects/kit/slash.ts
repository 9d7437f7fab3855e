/** Describes the result of a slash command, on wires that have only text for it. */
import type { CommandResult } from "../../core/command.js";
import { plainText } from "../../core/content.js";

export function resultText(result: Exclude<CommandResult, { type: "submit_prompt" }>): string {
  if (result.type === "message") return result.text;
  if (result.type === "tool") return plainText(result.parts);
  const choices = (result.choices ?? []).map(({ value, label, current }) => `${current === true ? "* " : "  "}${label ?? value}`);
  return [result.text, ...choices].join("\n");
}
