/** Thinking: shown as it comes, given back with its proof to whoever thought it, and to nobody else. */
import { expect, test } from "vitest";
import { modelServer } from "../support/model-server.js";
import { talk, VENDORS } from "./harness.js";

const NOTE = { "note.txt": "the sea\n" };
const read = { name: "Read", args: { file_path: "note.txt" } };
const { anthropic, openaiChat, openaiResponses, local } = VENDORS;

test("anthropic: signed and redacted thinking go back unchanged, in this turn and the next", async () => {
  const script = [
    { thinking: ["Let me ", "see."], signature: "sig-1", redacted: "sealed-1", calls: [read] },
    { thinking: ["Now I ", "know."], signature: "sig-2", text: ["The sea."] },
    { text: ["Still the sea."] },
  ];
  const host = await talk(anthropic, script, { files: NOTE, config: { thinking: "high" } });
  await host.turn("what is in it?");
  await host.turn("sure?");
  expect(host.texts("thinking.delta")).toEqual(["Let me ", "see.", "Now I ", "know."]);
  expect(host.texts("thinking.done")).toEqual(["Let me see.", "Now I know."]);
  const first = [
    { type: "thinking", thinking: "Let me see.", signature: "sig-1" },
    { type: "redacted_thinking", data: "sealed-1" },
    { type: "tool_use", name: "Read" },
  ];
  expect(host.body(2)).toMatchObject({ messages: [{}, { role: "assistant", content: first }, {}] });
  const second = [
    { type: "thinking", thinking: "Now I know.", signature: "sig-2" },
    { type: "text", text: "The sea." },
  ];
  expect(host.body(3)).toMatchObject({ messages: [{}, { content: first }, {}, { content: second }, {}] });
});

test("openai, responses: reasoning goes back encrypted, whole and final", async () => {
  const script = [
    { thinking: ["**First**", "**Then**"], signature: "gAAAA-1", calls: [read] },
    { signature: "gAAAA-2", text: ["The sea."] },
    { text: ["Still the sea."] },
  ];
  const host = await talk(openaiResponses, script, { files: NOTE, config: { thinking: "high" } });
  await host.turn("what is in it?");
  await host.turn("sure?");
  expect(host.texts("thinking.done")).toEqual(["**First**", "**Then**"]);
  expect(host.body(1)).toMatchObject({
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { effort: "high", summary: "auto" },
  });
  expect(items(host.body(3), "reasoning")).toEqual([
    {
      type: "reasoning",
      id: "rs_1",
      encrypted_content: "gAAAA-1",
      summary: [
        { type: "summary_text", text: "**First**" },
        { type: "summary_text", text: "**Then**" },
      ],
    },
    { type: "reasoning", id: "rs_2", encrypted_content: "gAAAA-2", summary: [] },
  ]);
});

test("local: reasoning_content goes back within its turn, not after it", async () => {
  const host = await talk(local, [{ thinking: ["Hm", "m."], calls: [read] }, { text: ["The sea."] }, { text: ["Yes."] }], { files: NOTE });
  await host.turn("what is in it?");
  await host.turn("sure?");
  expect(host.texts("thinking.done")).toEqual(["Hmm."]);
  expect(JSON.stringify(host.body(2))).toContain('"reasoning_content":"Hmm."');
  expect(JSON.stringify(host.body(3))).not.toContain("reasoning_content");
});

test("thinking that was cut off has no proof and does not go back", async () => {
  const script = [{ thinking: ["Let me see"], cut: "after" as const }, { text: ["Here."] }];
  const host = await talk(anthropic, script, { config: { thinking: "low" } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(2))).not.toContain("Let me see");
});

test("hidden thinking before a cut is forgotten with the answer that it belonged to", async () => {
  const script = [{ redacted: "sealed-lost", cut: "after" as const }, { redacted: "sealed-kept", text: ["Here."] }, { text: ["Yes."] }];
  const host = await talk(anthropic, script);
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  await host.turn("sure?");
  expect(JSON.stringify(host.body(3))).toContain("sealed-kept");
  expect(JSON.stringify(host.body(3))).not.toContain("sealed-lost");
});

test("another model, or another vendor, gets the conversation without the first one's proofs", async () => {
  const elsewhere = await modelServer("openai-responses", [{ text: ["I agree."], signature: "gAAAA-1" }]);
  const host = await talk(
    anthropic,
    [
      { thinking: ["Hm."], signature: "sig-1", redacted: "sealed-1", calls: [{ ...read, id: "toolu_1" }] },
      { text: ["The sea."] },
      { text: ["So it is."] },
      { text: ["As before."] },
    ],
    {
      files: NOTE,
      env: { OPENAI_API_KEY: elsewhere.key },
      source: { providers: { openai: { api: "responses", baseUrl: elsewhere.url } } },
      config: { thinking: "medium" },
    },
  );
  await host.turn("what is in it?");
  await host.configure({ model: "claude-opus-4-8" });
  expect(await host.turn("and you?")).toMatchObject({ outcome: "completed" });
  expect(host.body(3)).toMatchObject({ model: "claude-opus-4-8" });
  expect(JSON.stringify(host.body(3))).not.toMatch(/sig-1|sealed-1|Hm\./);

  await host.configure({ provider: "openai", model: "gpt-5.4" });
  expect(await host.turn("and you?")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(elsewhere.requests[0]?.body)).not.toMatch(/sig-1|sealed-1|Hm\./);
  expect(items(elsewhere.requests[0]?.body, "function_call")).toMatchObject([{ call_id: "toolu_1", name: "Read" }]);

  await host.configure({ provider: "anthropic", model: "claude-sonnet-4-6" });
  expect(await host.turn("back again")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(4))).toContain("sig-1");
  expect(JSON.stringify(host.body(4))).not.toContain("gAAAA");
});

test("openai, chat completions: the effort goes out, and what does not go with it is told", async () => {
  const host = await talk(openaiChat, [{ text: ["Hi"] }], { config: { thinking: "low", maxTokens: 900, temperature: 0.5 } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject({ reasoning_effort: "low", max_completion_tokens: 900 });
  expect(host.body(1)).not.toHaveProperty("temperature");
  expect(host.of("notice").map(({ text }) => text)).toContainEqual(expect.stringContaining("takes no temperature"));
});

test.each(["reasoning_content", "reasoning"] as const)(
  "openai with a base URL: %s is thinking, and goes back within its turn",
  async (name) => {
    const script = [{ thinking: ["Hm", "m."], thinkingName: name, calls: [read] }, { text: ["The sea."] }, { text: ["Yes."] }];
    const host = await talk(openaiChat, script, { files: NOTE, config: { model: "deepseek-chat" } });
    expect(await host.turn("what is in it?")).toMatchObject({ outcome: "completed" });
    await host.turn("sure?");
    expect(host.texts("thinking.delta")).toEqual(["Hm", "m."]);
    expect(host.texts("thinking.done")).toEqual(["Hmm."]);
    expect(host.texts("text.done")).toEqual(["The sea.", "Yes."]);
    expect(JSON.stringify(host.body(2))).toContain('"reasoning_content":"Hmm."');
    expect(JSON.stringify(host.body(3))).not.toContain("reasoning_content");
  },
);

test("openai with a base URL: thinking is told while it comes, before there is any answer", async () => {
  const host = await talk(openaiChat, [{ thinking: ["Hm", "m."], hold: "end" }]);
  host.prompt("hi");
  await host.next("thinking.delta");
  void host.agent.send({ type: "turn.interrupt", session: "s" });
  expect(await host.ended()).toMatchObject({ outcome: "interrupted" });
});

function items(body: unknown, type: string): unknown[] {
  if (typeof body !== "object" || body === null || !("input" in body) || !Array.isArray(body.input)) return [];
  return body.input.filter((item: unknown) => typeof item === "object" && item !== null && "type" in item && item.type === type);
}
