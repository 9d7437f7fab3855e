/** What is particular to OpenAI and to servers that speak as it does. */
import { expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { modelServer } from "../support/model-server.js";
import { talk, VENDORS } from "./harness.js";

const { openaiChat, openaiResponses, local } = VENDORS;
const FILES = { "note.txt": "the sea\n" };
const read = { name: "Read", args: { file_path: "note.txt" } };

const settings: [vendor: keyof typeof VENDORS, config: SessionConfig, expected: Record<string, unknown>][] = [
  [
    "openaiChat",
    { model: "gpt-4o", thinking: "high", temperature: 0.3, topP: 0.9, maxTokens: 700, stop: ["END"] },
    { temperature: 0.3, top_p: 0.9, max_tokens: 700, stop: ["END"] },
  ],
  ["openaiChat", { model: "gpt-5.4", thinking: "max" }, { reasoning_effort: "xhigh" }],
  ["openaiChat", { model: "gpt-5", thinking: "disabled" }, { reasoning_effort: "minimal" }],
  ["openaiChat", { model: "o3", thinking: "deep" }, { reasoning_effort: "high" }],
  ["openaiChat", { model: "gpt-5.4", effort: "medium" }, { reasoning_effort: "medium" }],
  ["openaiResponses", { model: "gpt-4o", thinking: "high", temperature: 0.3 }, { temperature: 0.3, store: false }],
  ["openaiResponses", { model: "gpt-5.4", maxTokens: 700 }, { max_output_tokens: 700, include: ["reasoning.encrypted_content"] }],
  ["openaiResponses", { model: "gpt-5.4", thinking: "disabled" }, { reasoning: { effort: "none" } }],
  ["openaiResponses", { model: "gpt-5.4", thinkingBudget: 9_000 }, { reasoning: { effort: "medium", summary: "auto" } }],
  ["local", { thinking: "disabled" }, { chat_template_kwargs: { enable_thinking: false } }],
  ["local", { thinking: "deep", temperature: 0.1, maxTokens: 99 }, { reasoning_effort: "high", temperature: 0.1, max_tokens: 99 }],
];

test.each(settings)("%s with %j", async (name, config, expected) => {
  const host = await talk(VENDORS[name], [{ text: ["ok"] }], { config });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject(expected);
});

test("a server that numbers its calls anew in each answer: the ids of a session stay different", async () => {
  const call = { ...read, id: "call_0" };
  const host = await talk(local, [{ calls: [call] }, { calls: [call] }, { text: ["Done."] }], { files: FILES });
  expect(await host.turn("go")).toMatchObject({ outcome: "completed" });
  const ids = host.of("tool.requested").map(({ call: { id } }) => id);
  expect(new Set(ids).size).toBe(2);
  expect(host.of("tool.ended").map(({ call: id }) => id)).toEqual(ids);
});

test("ids that another vendor would refuse are given in a form that it takes", async () => {
  const elsewhere = await modelServer("anthropic", [{ text: ["I see."] }]);
  const host = await talk(local, [{ calls: [{ ...read, id: "functions.Read:0" }] }, { text: ["Done."] }], {
    files: FILES,
    env: { ANTHROPIC_API_KEY: elsewhere.key, ANTHROPIC_BASE_URL: elsewhere.url },
  });
  await host.turn("go");
  await host.configure({ provider: "anthropic", model: "claude-sonnet-4-6" });
  expect(await host.turn("and you?")).toMatchObject({ outcome: "completed" });
});

test("a server that counts no tokens: the turn has no usage, and none is made up", async () => {
  const host = await talk(local, [{ text: ["ok"], uncounted: true }]);
  const end = await host.turn("hi");
  expect(end.outcome).toBe("completed");
  expect(end).not.toHaveProperty("usage");
});

test("two prompts after a failed turn reach a strict template as one message", async () => {
  const host = await talk(local, [{ error: { status: 400, message: "no" } }, { text: ["Here."] }]);
  expect(await host.turn("first")).toMatchObject({ outcome: "failed", fault: { status: 400, retryable: false } });
  expect(await host.turn("second")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(2))).toMatch(/first.*second/);
});

test("errors within the stream before any output are tried again", async () => {
  const broken = { type: "server_error", message: "oops" };
  for (const vendor of [openaiChat, openaiResponses]) {
    const host = await talk(vendor, [{ broken }, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.of("notice")).toMatchObject([{ text: "openai answered 500: oops. Retrying (1/3)" }]);
  }
});
