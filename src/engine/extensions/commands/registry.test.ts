import { describe, expect, test } from "vitest";
import { textPart, type Part } from "../../../core/content.js";
import { helpCommand } from "./help.js";
import { quitCommand } from "./host.js";
import { Commands } from "./registry.js";
import type { Listed, PromptSource } from "./sources.js";

function source(mark: string, ...list: Listed[]): PromptSource {
  return { list: () => list, prompt: async (name, args): Promise<Part[]> => [textPart(`${mark} ${name} ${args}`)] };
}

function commands(skills: PromptSource, mcpPrompts: PromptSource): Commands {
  return new Commands({ skills, mcpPrompts }, (all) => [helpCommand({ commands: all }), quitCommand]);
}

const run = (all: Commands, name: string): Promise<unknown> => all.find({ name }).run("a b", new AbortController().signal);

describe("names", () => {
  const all = commands(
    source("skill", { name: "help" }, { name: "exit" }, { name: "greet", description: "Says hello", argumentHint: "<who>" }),
    source("server", { name: "greet" }, { name: "srv:greet" }),
  );

  test("of ours count before skills, also as an alias, and skills before prompts of servers", async () => {
    expect(all.all().map(({ name, source: from }) => [name, from])).toEqual([
      ["help", "builtin"],
      ["quit", "builtin"],
      ["greet", "skill"],
      ["srv:greet", "mcp"],
    ]);
    expect(await run(all, "exit")).toMatchObject({ dialog: "quit" });
  });

  test("of skills count before ours where a skill is meant; then ours are what they were", async () => {
    const meant = (name: string) => all.find({ name, of: "skill" }).run("a b", new AbortController().signal);
    for (const name of ["help", "exit"])
      expect(await meant(name)).toEqual({ type: "submit_prompt", prompt: [textPart(`skill ${name} a b`)] });
    expect(await meant("quit")).toMatchObject({ dialog: "quit" });
  });

  test("of skills and prompts become prompts, with their arguments", async () => {
    expect(await run(all, "/greet")).toEqual({ type: "submit_prompt", prompt: [textPart("skill greet a b")] });
    expect(await run(all, "srv:greet")).toEqual({ type: "submit_prompt", prompt: [textPart("server srv:greet a b")] });
    expect(all.find({ name: "greet" }).immediate).toBeUndefined();
  });

  test("are listed for the catalogue with what helps to use them", () => {
    expect(all.list()).toEqual([
      { name: "help", aliases: ["?"], argumentHint: "[command]", description: "Lists the commands, or explains one", source: "builtin" },
      { name: "quit", aliases: ["exit"], description: "Leaves", source: "builtin" },
      { name: "greet", argumentHint: "<who>", description: "Says hello", source: "skill" },
      { name: "srv:greet", description: "", source: "mcp" },
    ]);
  });

  test("that nobody has are refused with the nearest, whatever they are", () => {
    expect(() => all.find({ name: "gret" })).toThrow("There is no command '/gret'; did you mean 'greet'? /help lists them");
    for (const name of ["", "/", "__proto__", "constructor", "x".repeat(10_000)])
      expect(() => all.find({ name })).toThrow("There is no command");
  });
});
