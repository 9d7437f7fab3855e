/** What only Bedrock has: two wires by the model's name, AWS's exceptions, cache points, and what each maker's models take. */
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { TIME_LIMITS } from "../../src/core/limits.js";
import { PNG, talk, VENDORS } from "./harness.js";

const { bedrockClaude, bedrockConverse } = VENDORS;
const NOTE = { "note.txt": "the sea\n", "dot.png": Buffer.from(PNG, "base64") };
const read = { name: "Read", args: { file_path: "note.txt" } };
const ARN = "arn:aws:bedrock:eu-central-1:123456789012";

describe("the model's name chooses the wire", () => {
  test.each<[model: string, expected: Record<string, unknown>]>([
    ["anthropic.claude-sonnet-4-20250514-v1:0", { max_tokens: 42_000, thinking: { type: "enabled", budget_tokens: 10_000 } }],
    ["us.anthropic.claude-3-7-sonnet-20250219-v1:0", { max_tokens: 42_000, thinking: { type: "enabled" }, anthropic_beta: undefined }],
    ["anthropic.claude-3-5-sonnet-20241022-v2:0", { thinking: undefined, anthropic_beta: undefined }],
    ["anthropic.claude-v2:1", { thinking: undefined, anthropic_beta: undefined }],
    ["global.anthropic.claude-opus-4-6-v1", { max_tokens: 64_000, thinking: { type: "adaptive" } }],
    ["eu.anthropic.claude-opus-4-8", { max_tokens: 64_000, thinking: { type: "adaptive" }, anthropic_beta: undefined }],
    [`${ARN}:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0`, { max_tokens: 42_000, thinking: { type: "enabled" } }],
  ])("%s speaks Anthropic's messages", async (model, expected) => {
    const host = await talk(bedrockClaude, [{ text: ["ok"] }], { config: { model, thinking: "enabled" } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.server.requests[0]?.path).toBe(`/model/${encodeURIComponent(model)}/invoke-with-response-stream`);
    expect(host.body(1)).toMatchObject({ anthropic_version: "bedrock-2023-05-31", ...defined(expected) });
    for (const [key, value] of Object.entries(expected)) if (value === undefined) expect(host.body(1)).not.toHaveProperty(key);
  });

  test.each(["openai.gpt-oss-120b-1:0", "us.deepseek.r1-v1:0", `${ARN}:application-inference-profile/abc123`])(
    "%s speaks Converse, without cache points",
    async (model) => {
      const host = await talk(bedrockConverse, [{ calls: [read] }, { text: ["ok"] }], { config: { model }, files: NOTE });
      expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
      expect(host.server.requests[0]?.path).toBe(`/model/${encodeURIComponent(model)}/converse-stream`);
      expect(host.of("notice")).toEqual([]);
    },
  );

  test("an effort that Opus 4.5 takes as a beta is asked for as one", async () => {
    const config = { model: "us.anthropic.claude-opus-4-5-20251101-v1:0", effort: "low" };
    const host = await talk(bedrockClaude, [{ text: ["ok"] }], { config });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.body(1)).toMatchObject({
      output_config: { effort: "low" },
      anthropic_beta: expect.arrayContaining(["effort-2025-11-24"]),
    });
  });
});

describe.each([bedrockClaude, bedrockConverse])("$name", (vendor) => {
  test.each([
    ["throttlingException", 429, true],
    ["serviceUnavailableException", 503, true],
    ["internalServerException", 500, true],
    ["modelStreamErrorException", 424, true],
    ["modelTimeoutException", 408, true],
    ["validationException", 400, false],
  ])("%s within the stream means %i", async (type, status, retryable) => {
    const broken = { type, message: "It went wrong." };
    const host = await talk(vendor, [{ text: ["Well"], broken }], { source: { limits: { ...TIME_LIMITS, retries: 0 } } });
    const end = await host.turn("hi");
    expect(end.fault).toEqual({ code: "provider", status, retryable, message: `bedrock answered ${status}: It went wrong.` });
    expect(host.texts("text.done")).toEqual(["Well"]);
  });

  test("an exception before any output is tried again", async () => {
    const broken = { type: "throttlingException", message: "Slow down" };
    const host = await talk(vendor, [{ broken }, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.of("notice")).toMatchObject([{ text: expect.stringContaining("bedrock answered 429: Slow down. Retrying") }]);
  });

  test("403 names the credentials", async () => {
    const error = { status: 403, type: "AccessDeniedException", message: "You don't have access to the model." };
    const host = await talk(vendor, [{ error }]);
    const end = await host.turn("hi");
    expect(end.reason).toBe(
      "bedrock answered 403: You don't have access to the model. (check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)",
    );
    expect(end.fault).toMatchObject({ status: 403, retryable: false });
  });
});

describe("Converse: thinking", () => {
  const sealed = Buffer.from("sealed").toString("base64");

  test("signed and redacted thinking go back unchanged, in this turn and the next", async () => {
    const script = [
      { thinking: ["Let me ", "see."], signature: "sig-1", redacted: sealed, calls: [read] },
      { text: ["The sea."] },
      { text: ["Still the sea."] },
    ];
    const host = await talk(bedrockConverse, script, { files: NOTE });
    await host.turn("what is in it?");
    expect(await host.turn("sure?")).toMatchObject({ outcome: "completed" });
    expect(host.texts("thinking.delta")).toEqual(["Let me ", "see."]);
    const content = [
      { reasoningContent: { reasoningText: { text: "Let me see.", signature: "sig-1" } } },
      { reasoningContent: { redactedContent: sealed } },
      { toolUse: { name: "Read" } },
    ];
    expect(host.body(2)).toMatchObject({ messages: [{}, { role: "assistant", content }, {}] });
    expect(host.body(3)).toMatchObject({ messages: [{}, { role: "assistant", content }, {}, {}, {}] });
  });

  test("thinking without a proof is shown and does not go back", async () => {
    const config = { model: "us.deepseek.r1-v1:0" };
    const host = await talk(bedrockConverse, [{ thinking: ["Hm", "m."], calls: [read] }, { text: ["The sea."] }], { files: NOTE, config });
    expect(await host.turn("what is in it?")).toMatchObject({ outcome: "completed" });
    expect(host.texts("thinking.done")).toEqual(["Hmm."]);
    expect(JSON.stringify(host.body(2))).not.toContain("Hmm.");
  });

  const enabled = (maxReasoningEffort: string) => ({ reasoningConfig: { type: "enabled", maxReasoningEffort } });
  test.each<[model: string, config: SessionConfig, fields: unknown]>([
    ["openai.gpt-oss-20b-1:0", { thinking: "low" }, { reasoning_effort: "low" }],
    ["openai.gpt-oss-20b-1:0", { thinking: "max" }, { reasoning_effort: "high" }],
    ["us.openai.gpt-5.4", { thinking: "deep" }, { reasoning: { effort: "xhigh" } }],
    ["us.amazon.nova-2-lite-v1:0", { thinking: "enabled", maxTokens: 900 }, enabled("medium")],
    ["us.amazon.nova-2-lite-v1:0", { thinkingBudget: 3_000, temperature: 0.5 }, enabled("low")],
    ["us.amazon.nova-2-lite-v1:0", { thinking: "max", temperature: 0.5, topP: 0.5 }, enabled("high")],
    ["us.amazon.nova-2-lite-v1:0", { effort: "high" }, enabled("high")],
    ["us.amazon.nova-2-lite-v1:0", { thinking: "disabled" }, { reasoningConfig: { type: "disabled" } }],
    ["us.amazon.nova-2-lite-v1:0", {}, enabled("medium")],
    ["us.deepseek.r1-v1:0", {}, undefined],
  ])("%s %j", async (model, config, fields) => {
    const host = await talk(bedrockConverse, [{ text: ["ok"] }], { config: { ...config, model } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    if (fields === undefined) expect(host.body(1)).not.toHaveProperty("additionalModelRequestFields");
    else expect(host.body(1)).toMatchObject({ additionalModelRequestFields: fields });
    expect(host.of("notice")).toEqual([]);
  });

  test.each<[model: string, config: SessionConfig, note: string]>([
    ["us.deepseek.r1-v1:0", { thinking: "low" }, "How much us.deepseek.r1-v1:0 thinks cannot be set on Bedrock: 'low' was left out"],
    ["amazon.nova-pro-v1:0", { effort: "low" }, "amazon.nova-pro-v1:0 does not think; the wish for it was left out"],
    [
      "us.amazon.nova-2-lite-v1:0",
      { thinking: "high", maxTokens: 500 },
      "Nova takes no limit of tokens with its highest effort: maxTokens was left out",
    ],
  ])("what %s does not take is said: %j", async (model, config, note) => {
    const host = await talk(bedrockConverse, [{ text: ["ok"] }], { config: { ...config, model } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.of("notice").map(({ text }) => text)).toEqual([note]);
  });
});

describe("Converse: what goes out", () => {
  test("Nova: cache points behind the system prompt and the last prompts, and none behind a tool result", async () => {
    const host = await talk(bedrockConverse, [{ calls: [read] }, { text: ["ok"] }, { text: ["ok"] }], { files: NOTE });
    await host.turn("one");
    expect(await host.turn("two")).toMatchObject({ outcome: "completed" });
    const point = { cachePoint: { type: "default" } };
    expect(host.body(3)).toMatchObject({
      system: [{ text: expect.any(String) }, point],
      messages: [{ content: [{ text: "one" }, point] }, {}, { content: [{ toolResult: {} }] }, {}, { content: [{ text: "two" }, point] }],
    });
  });

  test("an image in a tool result follows in the next message where the model takes it only there", async () => {
    const script = [{ calls: [{ name: "Read", args: { file_path: "dot.png" } }] }, { text: ["A dot."] }];
    const host = await talk(bedrockConverse, script, { files: NOTE, config: { model: "us.meta.llama4-maverick-17b-instruct-v1:0" } });
    expect(await host.turn("look")).toMatchObject({ outcome: "completed" });
    const content = [{ toolResult: {} }, { text: expect.stringContaining("Read") }, { image: { format: "png", source: { bytes: PNG } } }];
    expect(host.body(2)).toMatchObject({ messages: [{}, {}, { role: "user", content }] });
  });

  test("temperature, topP, stop sequences and a limit", async () => {
    const config = { temperature: 0.3, topP: 0.5, stop: ["END"], maxTokens: 700 };
    const host = await talk(bedrockConverse, [{ text: ["ok"], stop: "stop_sequence" }], { config });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.body(1)).toMatchObject({ inferenceConfig: { temperature: 0.3, topP: 0.5, stopSequences: ["END"], maxTokens: 700 } });
  });

  test("AWS's other way to say why", async () => {
    const host = await talk(bedrockConverse, [{ error: { status: 400, body: '{"Message":"Not like this"}' } }]);
    expect((await host.turn("hi")).reason).toBe("bedrock answered 400: Not like this");
  });

  test("an answer that a filter ended is told so", async () => {
    const host = await talk(bedrockConverse, [{ text: ["Well"], stop: "content_filtered" }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "content_filter" });
  });
});

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
