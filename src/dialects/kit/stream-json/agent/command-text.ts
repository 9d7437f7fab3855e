/** The result of a command as the text of an answer. */
import * as v from "valibot";
import { CommandReply } from "../../../../core/command.js";
import { resultText } from "../../slash.js";

/** Undefined for a command that became a prompt: its turn follows. */
export function commandText(data: unknown): string | undefined {
  if (!v.is(CommandReply, data)) return "";
  return data.result.type === "submit_prompt" ? undefined : resultText(data.result);
}
