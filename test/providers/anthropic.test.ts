/** What only Anthropic has: marks for its cache, a limit in every request, budgets and efforts of thinking. */
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { talk, VENDORS } from "./harness.js";

const { anthropic } = VENDORS;
const read = { name: "Read", args: { file_path: "note.txt" } };

test("the system prompt, the last tool and the last two messages are marked for the cache", async () => {
  const host = await talk(anthropic, [{ calls: [read] }, { calls: [read] }, { text: ["Done."] }], { files: { "note.txt": "x" } });
  await host.turn("go");
  const mark = { cache_control: { type: "ephemeral" } };
  const body = host.body(3);
  expect(body).toMatchObject({ system: [{ type: "text", ...mark }] });
  expect(marksIn(body, "tools")).toEqual([toolCount(body) - 1]);
  expect(marksIn(body, "messages")).toEqual([2, 4]);
});

test("half a character, which no server takes, is replaced wherever it stands", async () => {
  const script = [
    { calls: [{ name: "Read", args: { file_path: "args \uD83D", ["\uDE00"]: ["\uD83D"] } }] },
    { text: ["said \uD83D"] },
    { text: ["ok"] },
  ];
  const host = await talk(anthropic, script, { config: { appendSystem: "system \uD83D" } });
  await host.turn("prompt \uD83D, and a whole \u{1F600}");
  await host.turn("again");
  const sent = JSON.stringify(host.body(3));
  expect(sent).not.toMatch(/\\ud[89a-f]/i);
  for (const words of ["system", "prompt", "args", "said"]) expect(sent).toContain(`${words} \uFFFD`);
  expect(sent).toContain("a whole \u{1F600}");
});

describe("max_tokens and thinking", () => {
  const cases: [model: string, config: SessionConfig, expected: Record<string, unknown>][] = [
    ["claude-sonnet-4-6", {}, { max_tokens: 64_000, thinking: { type: "adaptive", display: "summarized" } }],
    ["claude-sonnet-4-5", {}, { max_tokens: 42_000, thinking: { type: "enabled", budget_tokens: 10_000 } }],
    ["claude-sonnet-4-6", { temperature: 0.5 }, { max_tokens: 64_000, thinking: undefined }],
    ["kimi-k2", {}, { thinking: undefined }],
    ["claude-sonnet-4-6", { maxTokens: 500 }, { max_tokens: 500 }],
    ["claude-sonnet-4-5", { thinking: "low" }, { max_tokens: 36_000, thinking: { type: "enabled", budget_tokens: 4_000 } }],
    ["claude-sonnet-4-5", { thinking: "enabled" }, { max_tokens: 42_000, thinking: { type: "enabled", budget_tokens: 10_000 } }],
    ["claude-sonnet-4-5", { thinking: "max" }, { max_tokens: 64_000, thinking: { type: "enabled", budget_tokens: 48_000 } }],
    ["claude-opus-4-1", { thinking: "deep" }, { max_tokens: 32_000, thinking: { type: "enabled", budget_tokens: 24_000 } }],
    [
      "claude-sonnet-4-5",
      { thinking: "high", maxTokens: 8_000 },
      { max_tokens: 8_000, thinking: { type: "enabled", budget_tokens: 6_000 } },
    ],
    ["claude-sonnet-4-5", { thinking: "high", maxTokens: 1_200 }, { max_tokens: 1_200, thinking: undefined }],
    ["claude-sonnet-4-5", { thinkingBudget: 5_000 }, { max_tokens: 37_000, thinking: { type: "enabled", budget_tokens: 5_000 } }],
    ["claude-sonnet-4-5", { thinking: "disabled" }, { thinking: { type: "disabled" } }],
    ["claude-sonnet-4-6", { thinking: "enabled" }, { thinking: { type: "adaptive", display: "summarized" }, output_config: undefined }],
    ["claude-sonnet-4-6", { thinking: "deep" }, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    ["claude-opus-4-8", { thinking: "deep" }, { max_tokens: 64_000, thinking: { type: "adaptive" }, output_config: { effort: "xhigh" } }],
    ["claude-opus-4-8", { thinking: "max" }, { thinking: { type: "adaptive" }, output_config: { effort: "max" } }],
    ["claude-opus-4-8", { thinkingBudget: 3_000 }, { thinking: { type: "adaptive" }, output_config: { effort: "low" } }],
    ["claude-sonnet-4-6", { thinkingBudget: 3_000 }, { max_tokens: 67_000, thinking: { type: "enabled", budget_tokens: 3_000 } }],
    ["claude-opus-4-8", { effort: "medium" }, { output_config: { effort: "medium" }, thinking: { type: "adaptive" } }],
    ["kimi-k2", { thinking: "low" }, { max_tokens: 12_192, thinking: { type: "enabled", budget_tokens: 4_000 } }],
  ];

  test.each(cases)("%s %j", async (model, config, expected) => {
    const host = await talk(anthropic, [{ text: ["ok"] }], { config: { ...config, model } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.body(1)).toMatchObject(Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)));
    for (const [key, value] of Object.entries(expected)) if (value === undefined) expect(host.body(1)).not.toHaveProperty(key);
  });

  test("an effort that does not exist is named, and nothing is sent", async () => {
    const host = await talk(anthropic, [], { config: { effort: "furious" } });
    const end = await host.turn("hi");
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "config", param: "effort", retryable: false } });
    expect(end.reason).toContain("'furious'");
    expect(host.server.requests).toEqual([]);
  });
});

test("temperature, top_p, top_k and stop sequences", async () => {
  const warm = await talk(anthropic, [{ text: ["ok"] }], { config: { temperature: 0.3, stop: ["END"] } });
  await warm.turn("hi");
  expect(warm.body(1)).toMatchObject({ temperature: 0.3, stop_sequences: ["END"] });
  const narrow = await talk(anthropic, [{ text: ["ok"] }], { config: { topP: 0.5, topK: 40 } });
  await narrow.turn("hi");
  expect(narrow.body(1)).toMatchObject({ top_p: 0.5, top_k: 40 });
});

/** Which entries of a list hold a mark. */
function marksIn(body: unknown, list: "tools" | "messages"): number[] {
  return entries(body, list).flatMap((entry, at) => (JSON.stringify(entry).includes("cache_control") ? [at] : []));
}

function toolCount(body: unknown): number {
  return entries(body, "tools").length;
}

function entries(body: unknown, list: "tools" | "messages"): unknown[] {
  if (typeof body !== "object" || body === null || !(list in body)) return [];
  const found: unknown = Object.entries(body).find(([key]) => key === list)?.[1];
  return Array.isArray(found) ? found : [];
}
