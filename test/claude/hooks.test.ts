/** Hooks of hosts of the Claude Agent SDK: what they keep from the model, when they end a turn, and when they let it go on. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HookCallback, HookEvent, Options, SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import type { Reply } from "../support/model-server.js";
import { ask, host, MODEL, textOf } from "./sdk.js";

const bash = (command: string): Reply => ({ text: ["I will."], calls: [{ name: "Bash", args: { command } }] });
const done: Reply = { text: ["Done."] };

function hook(event: HookEvent, callback: HookCallback, more: Options = {}): Options {
  return { hooks: { [event]: [{ hooks: [callback] }] }, ...more };
}

const informed = (all: readonly SDKMessage[]): string[] =>
  all.flatMap((message) => (message.type === "system" && message.subtype === "informational" ? [message.content] : []));

test("a prompt that a hook blocks never reaches the model, and its result says so without failing", async () => {
  const sdk = await host([]);
  const { all, results, failure } = await ask(
    sdk,
    "the secret plan",
    hook("UserPromptSubmit", () => Promise.resolve({ decision: "block", reason: "no secrets" })),
  );
  const words = "UserPromptSubmit operation blocked by hook:\nno secrets\n\nOriginal prompt: the secret plan";
  expect(results).toMatchObject([{ subtype: "success", is_error: false, result: words, num_turns: 0 }]);
  expect(informed(all)).toEqual([words]);
  expect([failure, sdk.server.requests]).toEqual([undefined, []]);
});

test("a hook that wants no more ends the turn before the call, and nothing fails", async () => {
  const sdk = await host([bash("touch a")]);
  const { results, failure } = await ask(
    sdk,
    "go",
    hook("PreToolUse", () => Promise.resolve({ continue: false, stopReason: "enough" }), { permissionMode: "bypassPermissions" }),
  );
  expect(results).toMatchObject([{ subtype: "success", is_error: false, result: "", terminal_reason: "hook_stopped" }]);
  expect([failure, sdk.server.requests.length, existsSync(join(sdk.cwd, "a"))]).toEqual([undefined, 1, false]);
});

test("a hook at the end lets the turn go on, and is told so when it is asked again", async () => {
  const sdk = await host([{ text: ["Ready?"] }, done]);
  const again: boolean[] = [];
  const { all, results } = await ask(
    sdk,
    "go",
    hook("Stop", (input) => {
      if (input.hook_event_name !== "Stop") return Promise.resolve({});
      again.push(input.stop_hook_active);
      return Promise.resolve(input.stop_hook_active ? {} : { decision: "block", reason: "run the tests" });
    }),
  );
  expect(again).toEqual([false, true]);
  expect(all.map(textOf).filter((text) => text !== "")).toEqual(["Ready?", "Done."]);
  expect(JSON.stringify(sdk.server.requests[1]?.body)).toContain("run the tests");
  expect(results).toMatchObject([{ subtype: "success", result: "Done.", num_turns: 2, terminal_reason: "completed" }]);
});

test("a hook at the end may forbid that the turn goes on, whatever the others say", async () => {
  const sdk = await host([done]);
  const { results } = await ask(
    sdk,
    "go",
    hook("Stop", () => Promise.resolve({ continue: false, decision: "block", reason: "more" })),
  );
  expect(results).toMatchObject([{ subtype: "success", result: "Done.", terminal_reason: "stop_hook_prevented" }]);
});

test("a hook that has its user asked says why, and the call runs with the arguments of the answer", async () => {
  const sdk = await host([bash("touch model"), done]);
  const asked: unknown[] = [];
  await ask(
    sdk,
    "go",
    hook(
      "PreToolUse",
      () =>
        Promise.resolve({
          hookSpecificOutput: {
            hookEventName: "PreToolUse",
            permissionDecision: "ask",
            permissionDecisionReason: "look at it",
            updatedInput: { command: "touch hook" },
          },
        }),
      {
        canUseTool(_tool, input, { decisionReason }) {
          asked.push([input["command"], decisionReason]);
          return Promise.resolve({ behavior: "allow", updatedInput: { command: "touch user" } });
        },
      },
    ),
  );
  expect(asked).toEqual([["touch hook", "look at it"]]);
  expect(["model", "hook", "user"].map((file) => existsSync(join(sdk.cwd, file)))).toEqual([false, false, true]);
});

test("a hook at the beginning of a session adds words for the model, and hears how the session began", async () => {
  const sdk = await host([done, done]);
  const heard: object[] = [];
  const listens = hook("SessionStart", (input) => {
    heard.push(input);
    return Promise.resolve({ hookSpecificOutput: { hookEventName: "SessionStart", additionalContext: "House rule: be brief." } });
  });
  const ends: HookCallback = (input) => {
    heard.push({ ended: input.hook_event_name });
    return Promise.resolve({ continue: false });
  };
  listens.hooks?.SessionStart?.push({ matcher: "resume|fork", hooks: [ends] });
  const { all } = await ask(sdk, "hi", listens);
  const session_id = all[0]?.session_id ?? "";
  const { results } = await ask(sdk, "again", { ...listens, resume: session_id });
  expect(results).toMatchObject([{ subtype: "success", terminal_reason: "completed" }]);
  expect(heard).toMatchObject([
    { hook_event_name: "SessionStart", source: "startup", model: MODEL, session_id },
    { hook_event_name: "SessionStart", source: "resume", session_id },
    { ended: "SessionStart" },
  ]);
  for (const { body } of sdk.server.requests) expect(JSON.stringify(body)).toContain("House rule: be brief.");
});

test("hooks that nobody here asks are told by name", async () => {
  const sdk = await host([done]);
  const never = { hooks: [() => Promise.resolve({})] };
  const { all } = await ask(sdk, "hi", { hooks: { SessionEnd: [never], Notification: [never], Stop: [never] } });
  expect(informed(all)).toEqual(["The hook SessionEnd is never asked here", "The hook Notification is never asked here"]);
});
