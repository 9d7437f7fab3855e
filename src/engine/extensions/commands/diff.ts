/** /diff: the changes that the tools of this session made to files, and that are still there. */
import type { CommandContext } from "./builtins.js";
import { always, message, type Command } from "./command.js";

export function diffCommand({ control, redactor }: Pick<CommandContext, "control" | "redactor">): Command {
  return {
    name: "diff",
    description: "Shows the changes that this session's tools made to files; those that a command made are not in it",
    source: "builtin",
    immediate: always,
    async run() {
      const parts = await control.changes();
      return parts.length === 0
        ? message("No file is other than before this session, as far as its tools know.")
        : { type: "tool", tool: "Diff", parts: redactor.value(parts) };
    },
  };
}
