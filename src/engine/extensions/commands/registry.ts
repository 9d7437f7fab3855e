/** Every command that there is: our own, then skills, then prompts of MCP servers; of equal names the first counts. */
import type { EventOf } from "../../../core/event.js";
import { ParleyError } from "../../../core/errors.js";
import { oneLine } from "../../tools/title.js";
import { hintAt, type Command, type NamedCommand } from "./command.js";
import type { PromptSource, Surroundings } from "./sources.js";

type ListedCommands = NonNullable<EventOf<"catalog.updated">["commands"]>;

export class Commands {
  readonly #builtins: readonly Command[];
  readonly #prompts: Pick<Surroundings, "skills" | "mcpPrompts">;

  /** Built-in commands are made here, since some of them list all commands. */
  constructor(prompts: Pick<Surroundings, "skills" | "mcpPrompts">, builtins: (all: () => readonly Command[]) => readonly Command[]) {
    this.#prompts = prompts;
    this.#builtins = builtins(() => this.all());
  }

  all(): Command[] {
    const found = new Map<string, Command>();
    const { skills, mcpPrompts } = this.#prompts;
    for (const command of [...this.#builtins, ...promptCommands(skills, "skill"), ...promptCommands(mcpPrompts, "mcp")]) {
      if (!found.has(command.name)) found.set(command.name, command);
    }
    const taken = new Set(this.#builtins.flatMap(({ aliases = [] }) => aliases));
    return [...found.values()].filter(({ name }) => !taken.has(name));
  }

  /** Finds a command by its name, with its slash or without. Throws when there is none. */
  find({ name: written, of }: NamedCommand): Command {
    const name = written.replace(/^\//, "").normalize("NFC");
    const all = this.all();
    const skills = of === "skill" ? promptCommands(this.#prompts.skills, "skill") : [];
    const command = [...skills, ...all].find((each) => each.name === name || each.aliases?.includes(name) === true);
    if (command !== undefined) return command;
    const names = all.flatMap((each) => [each.name, ...(each.aliases ?? [])]);
    const text = `There is no command '/${oneLine(name)}'${hintAt(name, names) || ";"} /help lists them`;
    throw new ParleyError({ code: "unsupported", message: text, retryable: false, param: "command" });
  }

  /** For the catalogue. */
  list(): ListedCommands {
    return this.all().map(({ name, aliases, description, argumentHint, source }) => ({
      name,
      description,
      source,
      ...(aliases !== undefined && { aliases: [...aliases] }),
      ...(argumentHint !== undefined && { argumentHint }),
    }));
  }
}

function promptCommands(prompts: PromptSource, source: "skill" | "mcp"): Command[] {
  return prompts.list().map(({ name, description = "", argumentHint }) => ({
    name,
    description,
    source,
    ...(argumentHint !== undefined && { argumentHint }),
    run: async (args, signal) => ({ type: "submit_prompt", prompt: await prompts.prompt(name, args, signal) }),
  }));
}
