/** What scripts and people see of trouble: the built command, its exit code and its words. */
import { expect, test } from "vitest";
import { run, scratch, script } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

test.each([
  ["cut off at its length four times", Array.from({ length: 4 }, () => ({ say: "and so on", finish: "length" })), "It stays unfinished"],
  ["empty twice", [{ say: "" }, { say: "" }], "It stays unfinished"],
  ["failed by a wrong key", [{ fail: { status: 401, message: "Invalid API key" } }], "Invalid API key"],
])("an answer that is %s ends -p with the exit code 1, and says why", async (_, responses, why) => {
  const { code, stderr } = await run(["-p", "go", "--provider", "rehearsal", "--model", script(responses)]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
});

test("an answer that was gone on with ends -p with the exit code 0", async () => {
  const model = script([
    { say: "Once", finish: "length" },
    { fail: { status: 529, times: 2 }, say: "upon" },
  ]);
  const { code, stdout } = await run(["-p", "go", "--provider", "rehearsal", "--model", model]);
  expect(code).toBe(0);
  expect(stdout).toContain("upon");
});

test("limits.retries says how often a model is asked again", async () => {
  const down = { error: { status: 529, message: "Overloaded", retryAfter: 0 } };
  const server = await modelServer("anthropic", [down, down, down, down]);
  const home = scratch({ "config.yaml": "limits: { retries: 2 }" });
  const env = { PARLEY_HOME: home, ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  const { code, stderr } = await run(["-p", "go", "--provider", "anthropic"], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining("It was asked 3 times (limits.retries sets how often)")]);
  expect(server.requests).toHaveLength(3);
});

test.each([
  [[], { type: "adaptive", display: "summarized" }],
  [["--thinking", "off"], { type: "disabled" }],
])("a model that thinks does so unless it is told not to: %j", async (flags, thinking) => {
  const server = await modelServer("anthropic", [{ text: ["Hello."] }]);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  expect(await run(["-p", "hi", "--provider", "anthropic", ...flags], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
  expect(server.requests[0]?.body).toMatchObject({ thinking });
});
