/** What is particular to OpenRouter. */
import { expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { talk, VENDORS } from "./harness.js";

const { openrouter } = VENDORS;
const FILES = { "note.txt": "the sea\n" };
const read = { name: "Read", args: { file_path: "note.txt" } };

test("reasoning details go back whole, in this turn and the next, and the text of the thinking only within them", async () => {
  const script = [
    { thinking: ["Let me ", "see."], signature: "sig-1", text: ["I look."], calls: [read] },
    { redacted: "sealed-1", calls: [read] },
    { text: ["The sea."] },
    { text: ["Yes."] },
  ];
  const host = await talk(openrouter, script, { files: FILES, config: { thinking: "high" } });
  expect(await host.turn("what is in it?")).toMatchObject({ outcome: "completed" });
  expect(await host.turn("sure?")).toMatchObject({ outcome: "completed" });
  expect(host.texts("thinking.delta")).toEqual(["Let me ", "see."]);
  expect(host.texts("thinking.done")).toEqual(["Let me see."]);
  const signed = { type: "reasoning.text", text: "Let me see.", signature: "sig-1", format: "anthropic-claude-v1", index: 0 };
  const sealed = { type: "reasoning.encrypted", data: "sealed-1", format: "openai-responses-v1", index: 1 };
  const assistants = [{ role: "assistant", reasoning_details: [signed] }, {}, { role: "assistant", reasoning_details: [sealed] }];
  expect(host.body(3)).toMatchObject({ messages: [{}, {}, ...assistants, {}] });
  expect(host.body(4)).toMatchObject({ messages: [{}, {}, ...assistants, {}, {}, {}] });
  expect(JSON.stringify(host.body(4))).not.toContain("reasoning_content");
});

test("another model behind the same router does not get the first one's details", async () => {
  const host = await talk(openrouter, [{ thinking: ["Hm."], signature: "sig-1", text: ["Hi."] }, { text: ["Me too."] }]);
  await host.turn("hi");
  await host.configure({ provider: "openrouter", model: "openai/gpt-5.4" });
  expect(await host.turn("and you?")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(2))).not.toMatch(/sig-1|Hm\.|cache_control/);
});

test("models of Anthropic get marks for the cache: the system prompt and the last two messages", async () => {
  const host = await talk(openrouter, [{ calls: [read] }, { text: ["The sea."] }], { files: FILES });
  await host.turn("read it");
  const marked = [{ type: "text", cache_control: { type: "ephemeral" } }];
  expect(host.body(2)).toMatchObject({
    messages: [
      { role: "system", content: marked },
      { role: "user", content: marked },
      { role: "assistant", content: null },
      { role: "tool", content: marked },
    ],
  });
});

const settings: [config: SessionConfig, expected: Record<string, unknown>][] = [
  [{ thinking: "disabled" }, { reasoning: { effort: "none" } }],
  [{ thinking: "enabled" }, { reasoning: { enabled: true } }],
  [{ thinking: "medium" }, { reasoning: { effort: "medium" } }],
  [{ thinking: "max" }, { reasoning: { effort: "xhigh" } }],
  [{ thinkingBudget: 5000 }, { reasoning: { max_tokens: 5000 } }],
  [{ effort: "minimal" }, { reasoning: { effort: "minimal" } }],
];

test.each(settings)("with %j", async (config, expected) => {
  const host = await talk(openrouter, [{ text: ["ok"] }], { config });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject(expected);
});

test("an error of the model's vendor within the stream, before any output, is tried again", async () => {
  const host = await talk(openrouter, [{ broken: { type: "502", message: "Provider disconnected" } }, { text: ["Here."] }]);
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.of("notice")).toMatchObject([{ text: "openrouter answered 502: Provider disconnected. Retrying (1/3)" }]);
});
