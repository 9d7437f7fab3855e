/** /clear, /compact, /todo and /copy: commands that reset, sum up and show the conversation. */
import type { Message } from "../../models/model.js";
import type { CommandContext } from "./builtins.js";
import { always, message, type Command } from "./command.js";

type Context = Pick<CommandContext, "control">;

export function clearCommand({ control }: Context): Command {
  return {
    name: "clear",
    description: "Begins a new conversation in this session; the stored log keeps the old one",
    source: "builtin",
    async run() {
      control.reset([]);
      return message("The conversation begins anew.");
    },
  };
}

export function compactCommand({ control }: Context): Command {
  return {
    name: "compact",
    aliases: ["compress"],
    description: "Replaces the conversation by a summary of it",
    source: "builtin",
    async run(_args, signal) {
      const { before, after, failure } = await control.compact(signal);
      const sizes = `about ${before} tokens before, ${after} now`;
      if (failure !== undefined) return message(`The conversation could not be summed up: ${failure} (${sizes})`, "warning");
      return message(before === after ? "There is nothing to sum up yet." : `The conversation was summed up: ${sizes}.`);
    },
  };
}

export function todoCommand({ control }: Context): Command {
  return {
    name: "todo",
    description: "Shows the model's todo list",
    source: "builtin",
    immediate: always,
    run: async () => ({ type: "tool", tool: "TodoWrite", parts: [{ type: "todo", items: [...control.session.todos()] }] }),
  };
}

export function copyCommand({ control }: Context): Command {
  return {
    name: "copy",
    description: "Copies the last answer",
    source: "builtin",
    immediate: always,
    async run() {
      const text = lastAnswer(control.messages);
      return text === undefined ? message("There is no answer to copy yet.", "warning") : message(text);
    },
  };
}

function lastAnswer(messages: readonly Message[]): string | undefined {
  const answers = messages.flatMap((said) => {
    if (said.role !== "assistant") return [];
    const text = said.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
    return text === "" ? [] : [text];
  });
  return answers.at(-1);
}
