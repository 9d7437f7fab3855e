/** Reasoning where nothing is said of it, the key of a conversation's cache, and Claude behind a name that does not tell it. */
import { createServer } from "node:http";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { talk, VENDORS, type VendorUnderTest } from "../providers/harness.js";

const { openaiChat, openaiResponses, openrouter, local, bedrockClaude } = VENDORS;
/** OpenAI's own address, as far as the key of the cache is concerned. */
const CACHED = (vendor: VendorUnderTest) => ({ source: { providers: { [vendor.provider]: { compat: { promptCacheKey: true } } } } });

test.each<[VendorUnderTest, Record<string, unknown>]>([
  [openaiResponses, { reasoning: { effort: "medium", summary: "auto" } }],
  [openaiChat, { reasoning_effort: "medium" }],
  [openrouter, { reasoning: { enabled: true } }],
])("$name: a model that reasons is asked to, and one of which nothing is known is left alone", async (vendor, wanted) => {
  const host = await talk(vendor, [{ text: ["Hi."] }, { text: ["Hi."] }, { text: ["Hi."] }]);
  await host.turn("hi");
  expect(host.body(1)).toMatchObject(wanted);
  await host.configure({ model: "some-new-model" });
  await host.turn("hi");
  for (const key of Object.keys(wanted)) expect(host.body(2)).not.toHaveProperty(key);
  expect(host.of("notice")).toEqual([]);
});

test("an account that may see no summaries is asked again without them, and for none from then on", async () => {
  const message = "Your organization must be verified to generate reasoning summaries.";
  const refused = { error: { status: 400, type: "invalid_request_error", message } };
  const host = await talk(openaiResponses, [refused, { text: ["Hi."] }, { text: ["Hi."] }]);
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  await host.turn("again");
  expect([2, 3].map((nth) => JSON.stringify(host.body(nth)).includes('"summary":"auto"'))).toEqual([false, false]);
  expect(host.body(3)).toMatchObject({ reasoning: { effort: "medium" } });
  expect(host.server.requests).toHaveLength(3);
});

test.each([openaiChat, local])("$name: the key of the cache goes to a server of one's own only where it is wanted", async (vendor) => {
  const without = await talk(vendor, [{ text: ["Hi."] }]);
  await without.turn("hi");
  expect(without.body(1)).not.toHaveProperty("prompt_cache_key");
  const { source } = CACHED(vendor);
  const host = await talk(vendor, [{ text: ["Hi."] }, { text: ["Hi."] }], { source });
  await host.turn("hi");
  await host.turn("again");
  const keys = [1, 2].map((nth) => /"prompt_cache_key":"([^"]+)"/.exec(JSON.stringify(host.body(nth)))?.[1]);
  expect(keys[0]).toMatch(/^\w{32}$/);
  expect(keys[1]).toBe(keys[0]);
});

test.each([
  ["is told by AWS", true],
  ["is not told", false],
])("the model behind a profile of one's own %s", async (_, isTold) => {
  const arn = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123def456";
  const asked: string[] = [];
  const control = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url ?? ""));
    const modelArn = "arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0";
    response.writeHead(isTold ? 200 : 403, { "content-type": "application/json" }).end(JSON.stringify({ models: [{ modelArn }] }));
  });
  control.listen(0, "127.0.0.1");
  await once(control, "listening");
  onTestFinished(() => void control.close());
  const address = control.address();
  const env = { AWS_ENDPOINT_URL_BEDROCK: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}` };
  const vendor = isTold ? bedrockClaude : VENDORS.bedrockConverse;
  const host = await talk(vendor, [{ text: ["Hi."] }], { config: { model: arn }, env });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(asked).toEqual([`/inference-profiles/${arn}`]);
  expect(host.server.requests[0]?.path).toContain(encodeURIComponent(arn));
  const sent = JSON.stringify(host.body(1));
  expect([sent.includes('"budget_tokens"'), sent.includes('"cache_control"')]).toEqual([isTold, isTold]);
});
