/** /cost: the tokens that the session used, and what they cost where the prices are known. */
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { always, message, type Command } from "./command.js";

export function costCommand({ control }: Pick<CommandContext, "control">): Command {
  return {
    name: "cost",
    description: "Shows the tokens that the session used since it was opened, and their cost",
    source: "builtin",
    immediate: always,
    async run() {
      const { usage, cost, calls, priced } = control.session.events.spending;
      if (usage === undefined) return message("No tokens were counted yet.");
      const { input, output, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
      const rows = [
        ["Model calls", number(calls)],
        ["Tokens in", number(input + cacheRead + cacheWrite)],
        ...(cacheRead > 0 ? [["  from the cache", number(cacheRead)]] : []),
        ["Tokens out", number(output + reasoning)],
        ...(reasoning > 0 ? [["  of them thinking", number(reasoning)]] : []),
        ["Cost", costText()],
      ];
      // Programs get the same as numbers.
      return { ...message(columns(rows)), data: { usage, calls, ...(priced > 0 && { cost }), priced } };

      function costText(): string {
        const model = control.model().id;
        if (priced === 0) return `not known: no prices of ${model} are known; config.yaml can name them (providers: … models: … prices)`;
        return `${priced < calls ? "at least " : ""}$${cost.toFixed(cost < 1 ? 4 : 2)} by list prices`;
      }
    },
  };
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
