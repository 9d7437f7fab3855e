/** /stats: counts of the conversation so far. */
import { isOfUser } from "../../session/history.js";
import type { Message } from "../../models/model.js";
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { always, message, type Command } from "./command.js";

export function statsCommand({ control }: Pick<CommandContext, "control">): Command {
  return {
    name: "stats",
    description: "Counts what there was of this conversation",
    source: "builtin",
    immediate: always,
    run: async () => message(columns(rows(control.messages, control.model(), control.used()))),
  };
}

function rows(messages: readonly Message[], model: { id: string; provider: string }, used: number | undefined): string[][] {
  const results = messages.flatMap((said) => (said.role === "tool" ? said.results : []));
  const failed = results.filter((result) => result.failed).length;
  return [
    ["Model", `${model.id} (${model.provider})`],
    ["Messages of the user", String(messages.filter(isOfUser).length)],
    ["Answers of the model", String(messages.filter(({ role }) => role === "assistant").length)],
    ["Tool calls", failed === 0 ? String(results.length) : `${results.length}, of which ${failed} failed`],
    ["Tokens of the last answer", used === undefined ? "not known" : used.toLocaleString("en-US")],
  ];
}
