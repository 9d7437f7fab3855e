/** What is particular to xAI. */
import { expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { talk, VENDORS } from "./harness.js";

const { xai } = VENDORS;

test("reasoning goes back encrypted, in this turn and the next", async () => {
  const read = { name: "Read", args: { file_path: "note.txt" } };
  const script = [
    { thinking: ["Let me see."], signature: "enc-1", calls: [read] },
    { signature: "enc-2", text: ["The sea."] },
    { text: ["Yes."] },
  ];
  const host = await talk(xai, script, { files: { "note.txt": "the sea\n" }, config: { thinking: "high" } });
  expect(await host.turn("what is in it?")).toMatchObject({ outcome: "completed" });
  expect(await host.turn("sure?")).toMatchObject({ outcome: "completed" });
  expect(host.texts("thinking.done")).toEqual(["Let me see."]);
  const first = { type: "reasoning", encrypted_content: "enc-1", summary: [{ type: "summary_text", text: "Let me see." }] };
  expect(host.body(3)).toMatchObject({
    reasoning: { effort: "high" },
    input: [{}, {}, first, { type: "function_call" }, {}, { type: "reasoning", encrypted_content: "enc-2" }, { content: "The sea." }, {}],
  });
});

const settings: [config: SessionConfig, reasoning: unknown, note?: string][] = [
  [{ model: "grok-4.5", thinking: "low" }, { effort: "low" }],
  [{ model: "grok-4.5", thinking: "max" }, { effort: "high" }],
  [{ model: "grok-4.6", thinking: "max" }, { effort: "xhigh" }],
  [{ model: "grok-4.3", thinking: "disabled" }, { effort: "none" }],
  [{ model: "grok-4.5", thinking: "enabled" }, undefined],
  [{ model: "grok-4.5", thinking: "disabled" }, undefined, "grok-4.5 cannot stop reasoning"],
  [{ model: "grok-4", thinking: "high" }, undefined, "How much grok-4 reasons cannot be set; it decides for itself"],
];

test.each(settings)("with %j", async (config, reasoning, note) => {
  const host = await talk(xai, [{ text: ["ok"] }], { config });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toHaveProperty("model", config.model);
  expect(host.server.requests[0]?.body).toEqual(
    reasoning === undefined ? expect.not.objectContaining({ reasoning: expect.anything() }) : expect.objectContaining({ reasoning }),
  );
  expect(host.of("notice").map(({ text }) => text)).toEqual(note === undefined ? [] : [note]);
});

test("stop sequences are not on this wire, and that is said", async () => {
  const host = await talk(xai, [{ text: ["ok"] }], { config: { stop: ["END"] } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.of("notice")).toMatchObject([{ text: "xai, grok-4.5: stopSequences is not supported and was left out" }]);
});

test("an answer that the vendor gives up is no answer", async () => {
  const host = await talk(xai, [{ text: ["Well"], failed: true }, { text: ["Here."] }]);
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  const text = expect.stringContaining("xai did not finish its answer: it gave no reason. What came of the answer is dropped.");
  expect(host.of("notice")).toMatchObject([{ kind: "retry", text }]);
});
