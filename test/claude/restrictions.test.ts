/** What a host of Claude Code restricts: costs, permission rules of settings, and a host that answers no questions. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { scratch } from "../process/harness.js";
import type { Reply } from "../support/model-server.js";
import { ask, Conversation, heard, host } from "./sdk.js";

const USAGE = { input: 10_000, output: 7 };
const bash = (command: string): Reply => ({ calls: [{ name: "Bash", args: { command } }], usage: USAGE });
const done: Reply = { text: ["Done."], usage: USAGE };
const freely = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;

describe("maxBudgetUsd", () => {
  test("a session that has cost so much asks its model no more, in this turn and in later ones", async () => {
    const sdk = await host([bash("touch a"), bash("touch b"), done], { ...freely, maxBudgetUsd: 0.05 });
    const conversation = new Conversation();
    conversation.say("go");
    const { results } = await heard(query({ prompt: conversation.input(), options: sdk.options }), (message) => {
      if (message.type !== "result") return;
      if (message.num_turns > 1) conversation.say("again");
      else conversation.end();
    });
    expect(results[0]).toMatchObject({
      subtype: "error_max_budget_usd",
      is_error: true,
      errors: ["Reached maximum budget ($0.05)"],
      terminal_reason: "budget_exhausted",
      total_cost_usd: expect.closeTo(2 * ((10_000 * 3 + 7 * 15) / 1_000_000), 9),
    });
    expect(results.map(({ subtype }) => subtype)).toEqual(["error_max_budget_usd", "error_max_budget_usd"]);
    expect(sdk.server.requests).toHaveLength(2);
    expect(existsSync(join(sdk.cwd, "b"))).toBe(true);
  });

  test("an answer that reaches the limit counts as beyond it, and one below it does not", async () => {
    const beyond = await ask(await host([done]), "hi", { maxBudgetUsd: 0.001 });
    expect(beyond.results).toMatchObject([{ subtype: "error_max_budget_usd" }]);
    expect(beyond.failure).toContain("Reached maximum budget ($0.001)");
    const below = await ask(await host([done]), "hi", { maxBudgetUsd: 1 });
    expect(below.results).toMatchObject([{ subtype: "success", result: "Done." }]);
  });

  test("sub-agents spend of the same", async () => {
    const spawn: Reply = { calls: [{ name: "Spawn", args: { tasks: [{ name: "look", prompt: "Look" }] } }], usage: USAGE };
    const sdk = await host([spawn, bash("touch a"), done], freely);
    const { results } = await ask(sdk, "go", { maxBudgetUsd: 0.05 });
    expect(results).toMatchObject([{ subtype: "error_max_budget_usd" }]);
    expect(sdk.server.requests).toHaveLength(2);
  });

  test("a model whose price is not known is not asked under a limit that could not be held", async () => {
    const sdk = await host([done]);
    const { results } = await ask(sdk, "hi", { model: "unpriced-model", maxBudgetUsd: 1 });
    expect(results).toMatchObject([{ is_error: true, errors: [expect.stringContaining("the price of unpriced-model is not known")] }]);
    expect(sdk.server.requests).toEqual([]);
  });
});

describe("settings", () => {
  test("its deny rules hold in the mode that allows everything, and an edit rule covers every tool that edits", async () => {
    const permissions = { deny: ["Bash(touch:*)", "Edit(/kept/**)"] };
    const write: Reply = { calls: [{ name: "Write", args: { file_path: "kept/a.txt", content: "x" } }] };
    const sdk = await host([bash("touch a"), write, bash("echo fine > b"), done], { ...freely, settings: { permissions } });
    const { results } = await ask(sdk, "go");
    expect(results).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }, { tool_name: "Write" }] }]);
    expect(["a", "kept/a.txt", "b"].map((file) => existsSync(join(sdk.cwd, file)))).toEqual([false, false, true]);
  });

  test("its ask rules ask, its allow rules spare the question, and a file of settings is read", async () => {
    const settings = join(scratch(), "settings.json");
    writeFileSync(settings, JSON.stringify({ permissions: { ask: ["Bash(touch b)"], allow: ["Bash(touch:*)"] }, model: "unread" }));
    const asked: unknown[] = [];
    const sdk = await host([bash("touch a"), bash("touch b"), done], { settings });
    await ask(sdk, "go", {
      canUseTool: (_tool, input) => {
        asked.push(input);
        return Promise.resolve({ behavior: "deny", message: "no" });
      },
    });
    expect(asked).toEqual([{ command: "touch b" }]);
    expect(["a", "b"].map((file) => existsSync(join(sdk.cwd, file)))).toEqual([true, false]);
  });

  test("rules that nobody can read refuse the session instead of leaving it without them", async () => {
    const failures: string[] = [];
    for (const deny of ["Bash", ["Bash("]]) {
      const sdk = await host([done], { settings: JSON.stringify({ permissions: { deny } }) });
      const { results } = await ask(sdk, "hi");
      failures.push(...results.flatMap((result) => ("errors" in result ? result.errors : ["none"])));
      expect(sdk.server.requests).toEqual([]);
    }
    expect(failures).toEqual([
      "--settings cannot be used: permissions.deny: must be a list of texts",
      expect.stringContaining("The rule 'Bash(' lacks its closing bracket"),
    ]);
  });
});

describe("a host without canUseTool", () => {
  test("is asked nothing: what needs a question is denied at once, and the model hears why", async () => {
    const question: Reply = { calls: [{ name: "AskUserQuestion", args: { questions: [] } }] };
    const sdk = await host([bash("touch a"), question, done]);
    const { all, results } = await ask(sdk, "go");
    expect(all).toContainEqual(
      expect.objectContaining({ type: "system", subtype: "permission_denied", message: expect.stringContaining("has not been granted") }),
    );
    expect(results).toMatchObject([{ subtype: "success", permission_denials: [{ tool_name: "Bash" }] }]);
    expect(JSON.stringify(sdk.server.requests.at(-1)?.body)).toContain("the host answers no questions");
    expect(existsSync(join(sdk.cwd, "a"))).toBe(false);
  });

  test("has its hooks asked, and a hook that wants the user to decide denies", async () => {
    const sdk = await host([bash("touch a"), done], freely);
    const hookSpecificOutput = { hookEventName: "PreToolUse", permissionDecision: "ask" } as const;
    const { results } = await ask(sdk, "go", { hooks: { PreToolUse: [{ hooks: [() => Promise.resolve({ hookSpecificOutput })] }] } });
    expect(results).toMatchObject([{ permission_denials: [{ tool_name: "Bash" }] }]);
    expect(existsSync(join(sdk.cwd, "a"))).toBe(false);
  });
});
