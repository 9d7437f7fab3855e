/** /theme and /quit: the agent asks the host to do them. */
import type { Command } from "./command.js";
import { always } from "./command.js";

/** The host knows its themes; a theme that was named is the only choice. */
export const themeCommand: Command = {
  name: "theme",
  description: "Chooses the colours of the host",
  argumentHint: "[name]",
  source: "builtin",
  immediate: always,
  async run(args) {
    const value = args.trim();
    const choices = value === "" ? {} : { choices: [{ value }] };
    return { type: "dialog", dialog: "theme", text: "The host's themes", ...choices };
  },
};

export const quitCommand: Command = {
  name: "quit",
  aliases: ["exit"],
  description: "Leaves",
  source: "builtin",
  immediate: always,
  run: async () => ({ type: "dialog", dialog: "quit", text: "The host leaves" }),
};
