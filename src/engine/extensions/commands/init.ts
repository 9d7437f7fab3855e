/** /init: a prompt that lets the agent look around and write AGENTS.md. */
import { textPart } from "../../../core/content.js";
import type { Command } from "./command.js";
import text from "./init.txt";

export const initCommand: Command = {
  name: "init",
  description: "Lets the agent look around in the workspace and write AGENTS.md",
  argumentHint: "[what to keep in mind]",
  source: "builtin",
  async run(args) {
    const more = args.trim() === "" ? "" : `\nThe user adds: ${args.trim()}\n`;
    return { type: "submit_prompt", prompt: [textPart(text + more)] };
  },
};
