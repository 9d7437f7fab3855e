/** What a model cannot do is left out of the request, and said; the config may know better than the table. */
import { expect, test } from "vitest";
import { PNG, talk, VENDORS } from "./harness.js";

const { openaiChat, local } = VENDORS;
const image = { type: "image" as const, mime: "image/png", data: PNG };

test("an image for a model without images: left out of prompts and tool results, said once", async () => {
  const read = { name: "Read", args: { file_path: "dot.png" } };
  const host = await talk(openaiChat, [{ calls: [read] }, { text: ["I see nothing."] }, { text: ["Still nothing."] }], {
    files: { "dot.png": Buffer.from(PNG, "base64") },
    config: { model: "o3-mini" },
  });
  expect(await host.turn([{ type: "text", text: "look" }, image])).toMatchObject({ outcome: "completed" });
  expect(await host.turn("again")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.server.requests)).not.toContain(PNG);
  expect(JSON.stringify(host.body(2)).split("An image was left out").length - 1).toBe(2);
  expect(host.of("notice").map(({ text }) => text)).toEqual(["o3-mini takes no images; they were left out"]);
});

test("a wish for thinking that the model cannot fulfil is said", async () => {
  const host = await talk(openaiChat, [{ text: ["Hi"] }], { config: { model: "gpt-4o", thinking: "high" } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).not.toHaveProperty("reasoning_effort");
  expect(host.of("notice")).toMatchObject([{ text: "gpt-4o does not think; the wish for it was left out" }]);
  expect(host.of("session.ready")).toMatchObject([{ capabilities: { thinking: false, images: true, contextLimit: 128_000 } }]);
});

test("more tokens than an answer can have are cut to what it can", async () => {
  const host = await talk(openaiChat, [{ text: ["Hi"] }], { config: { model: "gpt-4o", maxTokens: 50_000 } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject({ max_tokens: 16_384 });
  expect(host.of("notice")).toMatchObject([{ text: "gpt-4o answers with at most 16384 tokens; maxTokens 50000 was cut to that" }]);
});

test("the config's word on a model counts: window, output, thinking and images", async () => {
  const models = { qwen3: { context: 4096, output: 512, thinking: false, images: false } };
  const host = await talk(local, [{ text: ["Hi"] }], {
    config: { thinking: "low", maxTokens: 9999 },
    source: { providers: { local: { models } } },
  });
  expect(await host.turn([{ type: "text", text: "look" }, image])).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject({ max_tokens: 512 });
  expect(host.of("notice")).toHaveLength(3);
  expect(host.of("usage")).toMatchObject([{ context: { limit: 4096 } }]);
});
