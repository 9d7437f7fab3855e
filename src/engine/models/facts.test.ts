import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PROVIDERS } from "../../core/providers/providers.js";
import { factsOf } from "./facts.js";

describe("a model is known under every name that a cloud or a router gives it", () => {
  test.each([
    ["claude-sonnet-4-6", ["us.anthropic.claude-sonnet-4-6-v1", "anthropic/claude-sonnet-4.6", "claude-sonnet-4-6@default"]],
    ["claude-opus-4-1", ["anthropic.claude-opus-4-1-20250805-v1:0", "anthropic/claude-opus-4.1:beta", "claude-opus-4-1@20250805"]],
    ["claude-3-5-haiku-20241022", ["eu.anthropic.claude-3-5-haiku-20241022-v1:0", "anthropic/claude-3.5-haiku"]],
    ["gpt-5.4", ["openai/gpt-5.4", "gpt-5.4-2026-03-05", "OpenAI/GPT-5.4"]],
    ["gemini-2.5-pro", ["models/gemini-2.5-pro", "google/gemini-2.5-pro", "publishers/google/models/gemini-2.5-pro"]],
    ["grok-4.5", ["x-ai/grok-4.5", "xai.grok-4.5"]],
    ["gpt-oss-120b", ["openai.gpt-oss-120b-1:0", "openai/gpt-oss-120b:free"]],
    ["llama3-1-70b", ["meta.llama3-1-70b-instruct-v1:0", "meta-llama/llama-3.1-70b-instruct"]],
  ])("%s", (name, others) => {
    const facts = factsOf(name);
    expect(facts.context).toBeGreaterThan(0);
    for (const other of others) expect([other, factsOf(other)]).toEqual([other, facts]);
  });
});

test.each([
  ["claude-opus-5-5", { context: 1_000_000, output: 128_000, thinking: true, images: true }],
  ["claude-haiku-4-5", { context: 200_000, output: 64_000, thinking: true }],
  ["claude-opus-4-20250514", { context: 200_000, output: 32_000 }],
  ["claude-3-haiku-20240307", { output: 4096, thinking: false, images: true }],
  ["gpt-5-chat-latest", { thinking: false }],
  ["gpt-5-mini", { context: 400_000, efforts: ["minimal", "low", "medium", "high"] }],
  ["gpt-4o-mini", { context: 128_000, output: 16_384, thinking: false, images: true }],
  ["o3-mini", { thinking: true, images: false }],
  ["gemini-3.5-flash", { output: 65_536, thinking: true }],
  ["grok-4-fast-non-reasoning", { thinking: false }],
  ["grok-3-mini", { efforts: ["low", "high"], images: false }],
  ["us.amazon.nova-micro-v1:0", { images: false }],
])("%s", (name, expected) => {
  expect(factsOf(name)).toMatchObject(expected);
});

test("the default models are known", () => {
  const models = Object.values(PROVIDERS).flatMap(({ defaultModel }) => defaultModel ?? []);
  expect(models.filter((model) => factsOf(model).context === undefined)).toEqual([]);
});

test("any name is taken; of an unknown one nothing is held back", () => {
  expect(factsOf("qwen3")).toEqual({ thinking: true, images: true, unknown: true });
  expect(factsOf("qwen3", { thinking: true })).toEqual({ thinking: true, images: true });
  fc.assert(fc.property(fc.string(), (name) => typeof factsOf(name).thinking === "boolean"));
});

test("the config knows better", () => {
  expect(factsOf("gpt-4o", { context: 4096, images: false, thinking: undefined })).toMatchObject({
    context: 4096,
    output: 16_384,
    images: false,
    thinking: false,
  });
});
