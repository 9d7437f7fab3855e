/** What only Google has: signatures on every kind of part, prompts that are not answered at all, its own kind of schema. */
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { modelServer } from "../support/model-server.js";
import { PNG, talk, VENDORS } from "./harness.js";

const { gemini, vertexGemini, anthropic } = VENDORS;
const NOTE = { "note.txt": "the sea\n", "dot.gif": Buffer.from(PNG, "base64") };
const read = { name: "Read", args: { file_path: "note.txt" } };

describe.each([gemini, vertexGemini])("$name: thought signatures", (vendor) => {
  test("stand where they stood, on thinking, calls and text, in this turn and the next", async () => {
    const script = [
      { thinking: ["Let me ", "see."], signature: "sig-1", text: ["I look."], calls: [read, read] },
      { thinking: ["Now I know."], signature: "sig-2", text: ["The ", "sea."] },
      { text: ["Still the sea."] },
    ];
    const host = await talk(vendor, script, { files: NOTE, config: { thinking: "high", model: "gemini-3-flash-preview" } });
    await host.turn("what is in it?");
    await host.turn("sure?");
    expect(host.texts("thinking.delta")).toEqual(["Let me ", "see.", "Now I know."]);
    expect(host.texts("thinking.done")).toEqual(["Let me see.", "Now I know."]);
    const first = [
      { text: "Let me see.", thought: true, thoughtSignature: "sig-1-thought" },
      { text: "I look." },
      { functionCall: { name: "Read" }, thoughtSignature: "sig-1-call" },
      { functionCall: { name: "Read" } },
    ];
    expect(host.body(2)).toMatchObject({ contents: [{}, { role: "model", parts: first }, { role: "user" }] });
    const second = [
      { text: "Now I know.", thought: true, thoughtSignature: "sig-2-thought" },
      { text: "The sea.", thoughtSignature: "sig-2-text" },
    ];
    expect(host.body(3)).toMatchObject({ contents: [{}, { parts: first }, {}, { role: "model", parts: second }, {}] });
    expect(host.of("notice")).toEqual([]);
  });

  test("thinking that ends in a call belongs before it", async () => {
    const script = [{ thinking: ["Let me see."], signature: "sig-1", calls: [read] }, { text: ["The sea."] }];
    const host = await talk(vendor, script, { files: NOTE, config: { thinking: "low" } });
    await host.turn("what is in it?");
    const parts = [
      { text: "Let me see.", thought: true, thoughtSignature: "sig-1-thought" },
      { functionCall: { name: "Read" }, thoughtSignature: "sig-1-call" },
    ];
    expect(host.body(2)).toMatchObject({ contents: [{}, { role: "model", parts }, {}] });
  });

  test("summaries without one are not sent back", async () => {
    const host = await talk(vendor, [{ thinking: ["Hm."], text: ["The sea."] }, { text: ["Yes."] }], { config: { thinking: "low" } });
    await host.turn("what?");
    await host.turn("sure?");
    expect(JSON.stringify(host.body(2))).not.toContain("Hm.");
  });
});

test("calls of another model go to Gemini 3 with the sign that nothing is to be checked, and nobody is warned of it", async () => {
  const elsewhere = await modelServer("gemini", [{ text: ["I agree."] }]);
  const host = await talk(anthropic, [{ calls: [read] }, { text: ["The sea."] }], {
    files: NOTE,
    env: { GEMINI_API_KEY: elsewhere.key },
    source: { providers: { gemini: { baseUrl: elsewhere.url } } },
  });
  await host.turn("what is in it?");
  await host.configure({ provider: "gemini", model: "gemini-3-pro-preview" });
  expect(await host.turn("and you?")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(elsewhere.requests[0]?.body)).toContain('"thoughtSignature":"skip_thought_signature_validator"');
  expect(host.of("notice")).toEqual([]);
});

describe("answers that are none", () => {
  test("a prompt that is blocked ends the turn and says why", async () => {
    const host = await talk(gemini, [{ blocked: "PROHIBITED_CONTENT" }, { text: ["Yes."] }]);
    expect(await host.turn("no")).toMatchObject({ outcome: "completed", finish: "content_filter" });
    expect(host.of("notice")).toMatchObject([{ text: "gemini held its answer back (PROHIBITED_CONTENT)" }]);
    expect(await host.turn("yes")).toMatchObject({ outcome: "completed", finish: "stop" });
  });

  test.each(["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])("%s is a filter's finish", async (stop) => {
    const host = await talk(gemini, [{ text: ["Well"], stop }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "content_filter" });
  });

  test("a call that the model could not write is asked for again", async () => {
    const host = await talk(gemini, [{ stop: "MALFORMED_FUNCTION_CALL" }, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.of("notice")).toMatchObject([
      {
        text: "gemini did not finish its answer: The model wrote a call that cannot be used (MALFORMED_FUNCTION_CALL). Retrying (1/3)",
      },
    ]);
  });

  test("a reason that is new is a finish like others", async () => {
    const host = await talk(gemini, [{ text: ["Well"], stop: "LANGUAGE" }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "other" });
  });
});

describe("refusals", () => {
  test("an unknown key is a 400 that names its variable", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" }];
    const body = JSON.stringify({ error: { code: 400, message: "API key not valid.", status: "INVALID_ARGUMENT", details } });
    const host = await talk(gemini, [{ error: { status: 400, body } }]);
    const { reason } = await host.turn("hi");
    expect(reason).toBe("gemini answered 400: API key not valid. (check GEMINI_API_KEY)");
  });

  test("the wait that the vendor asks for in the body is kept", async () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "900.5s" }];
    const body = JSON.stringify({ error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED", details } });
    const host = await talk(gemini, [{ error: { status: 429, body } }]);
    // Longer than anything is waited for.
    expect(await host.turn("hi")).toMatchObject({ outcome: "failed", fault: { status: 429, retryable: true, retryAfter: 900.5 } });
  });
});

const thinkings: [model: string, config: SessionConfig, thinkingConfig: unknown, note?: string][] = [
  ["gemini-2.5-flash", {}, { thinkingBudget: 10_000, includeThoughts: true }],
  ["gemini-3-flash-preview", {}, { includeThoughts: true }],
  ["gemini-2.0-flash", {}, undefined],
  ["gemini-2.5-flash", { thinking: "low" }, { thinkingBudget: 4_000, includeThoughts: true }],
  ["gemini-2.5-flash", { thinking: "enabled" }, { thinkingBudget: 10_000, includeThoughts: true }],
  ["gemini-2.5-flash", { thinking: "max" }, { thinkingBudget: 24_576, includeThoughts: true }],
  ["gemini-2.5-flash", { thinking: "disabled" }, { thinkingBudget: 0 }],
  ["gemini-2.5-flash", { thinking: "high", maxTokens: 8_000 }, { thinkingBudget: 6_000, includeThoughts: true }],
  ["gemini-2.5-flash", { thinkingBudget: 0 }, { thinkingBudget: 0 }],
  ["gemini-2.5-pro", { thinking: "max" }, { thinkingBudget: 32_768, includeThoughts: true }],
  ["gemini-2.5-pro", { thinking: "disabled" }, { thinkingBudget: 128 }, "gemini-2.5-pro cannot stop thinking"],
  ["gemini-2.5-pro", { thinkingBudget: 50 }, { thinkingBudget: 128, includeThoughts: true }, "128 tokens, not 50"],
  ["gemini-2.5-pro", { thinkingBudget: 5_000 }, { thinkingBudget: 5_000, includeThoughts: true }],
  ["gemini-2.5-pro", { effort: "high" }, { thinkingBudget: 10_000 }, "gemini-2.5-pro takes no effort"],
  ["gemini-2.5-flash-lite", { thinkingBudget: 100 }, { thinkingBudget: 512, includeThoughts: true }, "512 tokens, not 100"],
  ["gemini-3-pro-preview", { thinking: "low" }, { thinkingLevel: "low", includeThoughts: true }],
  ["gemini-3-pro-preview", { thinking: "medium" }, { thinkingLevel: "high", includeThoughts: true }, "no thinking level medium"],
  ["gemini-3-pro-preview", { thinking: "disabled" }, { thinkingLevel: "low" }, "gemini-3-pro-preview cannot stop thinking"],
  ["gemini-3.1-pro-preview", { thinking: "medium" }, { thinkingLevel: "medium", includeThoughts: true }],
  ["gemini-3-flash-preview", { thinking: "disabled" }, { thinkingLevel: "minimal" }, "lowest level, minimal"],
  ["gemini-3-flash-preview", { thinking: "deep" }, { thinkingLevel: "high", includeThoughts: true }],
  ["gemini-3-flash-preview", { thinking: "enabled" }, { includeThoughts: true }],
  ["gemini-3-flash-preview", { thinkingBudget: 9_000 }, { thinkingLevel: "medium", includeThoughts: true }],
  ["gemini-3.5-flash", { effort: "minimal" }, { thinkingLevel: "minimal" }],
  ["gemini-flash-latest", { thinking: "high" }, { thinkingLevel: "high", includeThoughts: true }],
  ["gemini-2.0-flash", { thinking: "high" }, undefined, "gemini-2.0-flash does not think"],
  ["gemini-2.0-flash", { thinking: "disabled" }, undefined],
];

test.each(thinkings)("thinking of %s with %j", async (model, config, thinkingConfig, note) => {
  const host = await talk(gemini, [{ text: ["ok"] }], { config: { ...config, model } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(host.body(1)).toMatchObject({ generationConfig: thinkingConfig === undefined ? {} : { thinkingConfig } });
  if (thinkingConfig === undefined) expect(JSON.stringify(host.body(1))).not.toContain("thinkingConfig");
  expect(host.of("notice").map(({ text }) => text)).toEqual(note === undefined ? [] : [expect.stringContaining(note)]);
});

test("an effort that the model does not have is named, and nothing is sent", async () => {
  const host = await talk(gemini, [], { config: { effort: "medium", model: "gemini-3-pro-preview" } });
  const end = await host.turn("hi");
  expect(end).toMatchObject({ outcome: "failed", fault: { code: "config", param: "effort" } });
  expect(end.reason).toContain("there are low, high");
});

test("temperature, top_p, top_k, stop sequences, the limit and the system prompt", async () => {
  const config = { temperature: 0.3, topP: 0.9, topK: 40, stop: ["END"], maxTokens: 700 };
  const host = await talk(gemini, [{ text: ["ok"] }], { config });
  await host.turn("hi");
  expect(host.body(1)).toMatchObject({
    generationConfig: { temperature: 0.3, topP: 0.9, topK: 40, stopSequences: ["END"], maxOutputTokens: 700 },
    systemInstruction: { parts: [{ text: expect.any(String) }] },
  });
});

test("an image of a kind that only the others take is left out and said so", async () => {
  const host = await talk(gemini, [{ text: ["Fine."] }]);
  expect(await host.turn([{ type: "image", mime: "image/gif", data: PNG }])).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(1))).toContain("image/gif was left out: the model takes png, jpeg, webp");
});

test("a tool of the host with a schema that Google would refuse", async () => {
  const parameters = {
    type: "object",
    additionalProperties: false,
    properties: {
      link: { type: "string", format: "uri" },
      count: { type: "integer", exclusiveMinimum: 0, default: 3 },
      mode: { oneOf: [{ const: "a" }, { const: "b" }, { type: "null" }] },
      rows: { type: "array" },
      tree: { $ref: "#/$defs/node" },
    },
    required: ["link", "gone"],
    $defs: { node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/$defs/node" } } } } },
  };
  const hostTools = [{ name: "Fetch", description: "Fetches", parameters }];
  const host = await talk(gemini, [{ text: ["ok"] }], { config: { hostTools } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.body(1))).toContain("(default: 3; exclusiveMinimum: 0)");
});
