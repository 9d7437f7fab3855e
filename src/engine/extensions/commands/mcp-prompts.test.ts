import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textPart } from "../../../core/content.js";
import { argumentsOf, mcpPromptSource } from "./mcp-prompts.js";

const review = {
  server: "git",
  name: "review",
  description: "Reviews a branch",
  arguments: [
    { name: "branch", required: true },
    { name: "focus", required: false },
  ],
};

describe("the arguments of a server's prompt", () => {
  test("are taken in order, the last with what is left, or by name", () => {
    expect(argumentsOf(review, "main")).toEqual({ branch: "main" });
    expect(argumentsOf(review, "main error handling please")).toEqual({ branch: "main", focus: "error handling please" });
    expect(argumentsOf(review, "focus='the tests' \"my branch\"")).toEqual({ branch: "my branch", focus: "the tests" });
    expect(argumentsOf(review, 'branch="" ')).toEqual({ branch: "" });
  });

  test("that are missing or too many are refused with what is wanted", () => {
    expect(() => argumentsOf(review, "")).toThrow("/git:review needs 'branch': /git:review <branch> [focus]");
    expect(() => argumentsOf(review, "focus=x")).toThrow("needs 'branch'");
    expect(() => argumentsOf(review, "branch=a focus=b c")).toThrow("does not take 'c'");
    expect(() => argumentsOf({ ...review, arguments: [] }, "x")).toThrow("/git:review does not take 'x'");
  });

  test("are refused in words or taken, whatever the line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (line) => {
        try {
          expect(argumentsOf(review, line)).toHaveProperty("branch");
        } catch (error) {
          expect(String(error)).toMatch(/needs 'branch'|does not take/);
        }
      }),
    );
  });
});

test("a prompt is listed with a hint, and fetched from its server", async () => {
  const source = mcpPromptSource({
    prompts: () => [review],
    prompt: async (server, name, args) => [textPart(`${server} ${name} ${JSON.stringify(args)}`)],
  });
  expect(source.list()).toEqual([{ name: "git:review", description: "Reviews a branch", argumentHint: "<branch> [focus]" }]);
  const { signal } = new AbortController();
  expect(await source.prompt("git:review", "main", signal)).toEqual([textPart('git review {"branch":"main"}')]);
  await expect(source.prompt("git:other", "", signal)).rejects.toThrow("is gone");
});
