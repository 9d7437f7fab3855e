/** /help: every command with its arguments, or one of them. */
import type { CommandContext } from "./builtins.js";
import { firstLine } from "./columns.js";
import { always, hintAt, message, suggestion, usageFault, type Command } from "./command.js";

export function helpCommand({ commands }: Pick<CommandContext, "commands">): Command {
  return {
    name: "help",
    aliases: ["?"],
    description: "Lists the commands, or explains one",
    argumentHint: "[command]",
    source: "builtin",
    immediate: always,
    complete: () => Promise.resolve(commands().map(({ name, description }) => suggestion(name, firstLine(description)))),
    async run(args) {
      const all = commands();
      const name = args.trim().replace(/^\//, "");
      if (name !== "") return message(about(name, all));
      return {
        type: "dialog",
        dialog: "help",
        text: "The commands; /help NAME explains one",
        choices: all.map((command) => ({ value: command.name, label: usage(command), description: firstLine(command.description) })),
      };
    },
  };
}

function about(name: string, all: readonly Command[]): string {
  const command = all.find((each) => each.name === name || each.aliases?.includes(name) === true);
  const names = all.map((each) => each.name);
  if (command === undefined) throw usageFault(`There is no command '/${name}'${hintAt(name, names)}`);
  const { aliases = [], description } = command;
  const also = aliases.length === 0 ? [] : [`Also: ${aliases.map((alias) => `/${alias}`).join(", ")}`];
  return [usage(command), description, ...also].filter((line) => line !== "").join("\n");
}

function usage({ name, argumentHint }: Command): string {
  return argumentHint === undefined ? `/${name}` : `/${name} ${argumentHint}`;
}
