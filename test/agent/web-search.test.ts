/** WebSearch: the vendor's own search, in a request of its own, whose answer is the result of a call like any other. */
import { describe, expect, it, test } from "vitest";
import { talk, VENDORS, type TalkOptions, type VendorUnderTest } from "../providers/harness.js";

const { anthropic, openaiResponses, openaiChat, gemini, vertexGemini, vertexClaude, xai, openrouter, local, bedrockClaude } = VENDORS;

/** The scripted server stands for the vendor itself. */
const searching = ({ provider, source }: VendorUnderTest): TalkOptions => ({
  source(server) {
    const own = source(server).providers?.[provider];
    return { providers: { [provider]: { ...own, compat: { webSearch: true } } } };
  },
});

const CALL = { calls: [{ name: "WebSearch", args: { query: "parley 2 release" } }] };
const PAGE = { query: "parley 2 release", url: "https://example.org/news", title: "News" };
const ANSWER = { text: ["Parley 2 ", "is out."], searched: PAGE, usage: { input: 100, output: 20 } };

interface Offer {
  tools?: unknown[];
  plugins?: unknown[];
}

describe.each<[VendorUnderTest, Offer]>([
  [anthropic, { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }] }],
  [vertexClaude, { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }] }],
  [openaiResponses, { tools: [{ type: "web_search" }] }],
  [xai, { tools: [{ type: "web_search" }] }],
  [gemini, { tools: [{ googleSearch: {} }] }],
  [vertexGemini, { tools: [{ googleSearch: {} }] }],
  [openrouter, { plugins: [{ id: "web" }] }],
])("WebSearch of $name", (vendor, offer) => {
  it("asks the vendor alone for the search, and gives its answer and sources to the model", async () => {
    const host = await talk(vendor, [CALL, ANSWER, { text: ["It is out."] }], searching(vendor));
    expect(await host.turn("is it out?")).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(host.body(1))).toContain("WebSearch");
    expect(host.body(2)).toMatchObject(offer);
    expect(JSON.stringify(host.body(2))).not.toContain("is it out?");
    const [ended] = host.of("tool.ended");
    expect(ended).toMatchObject({ status: "ok", output: [{ type: "text", text: expect.stringMatching(/^Parley 2 is out\./) }] });
    if (vendor !== openrouter) expect(JSON.stringify(ended)).toContain("https://example.org/news");
    expect(JSON.stringify(host.body(3))).toContain("Parley 2 is out.");
    expect(host.of("turn.ended")[0]?.usage?.output).toBeGreaterThanOrEqual(20);
  });
});

test.each([anthropic, openaiResponses, openaiChat, gemini, openrouter, local, bedrockClaude])(
  "$name: behind an address that is not the vendor's, or without a search of its own, the model is not told of WebSearch",
  async (vendor) => {
    const host = await talk(vendor, [{ text: ["Hi."] }]);
    await host.turn("hi");
    expect(JSON.stringify(host.body(1))).not.toContain("WebSearch");
  },
);

test("a search that the vendor refuses is a failed call, and the turn goes on", async () => {
  const refused = { error: { status: 400, type: "invalid_request_error", message: "web search is not enabled for this organization" } };
  const host = await talk(anthropic, [CALL, refused, { text: ["I do not know."] }], searching(anthropic));
  expect(await host.turn("is it out?")).toMatchObject({ outcome: "completed" });
  const [ended] = host.of("tool.ended");
  expect(ended).toMatchObject({ status: "failed", output: [{ text: expect.stringContaining("web search is not enabled") }] });
});

test("in default mode a search is asked about, and a deny rule holds", async () => {
  const host = await talk(anthropic, [CALL, { text: ["No."] }], {
    ...searching(anthropic),
    config: { mode: "default", rules: [{ deny: "WebSearch(*parley*)" }] },
  });
  await host.turn("is it out?");
  expect(host.of("tool.ended")).toMatchObject([{ status: "denied" }]);
  const asked = await talk(anthropic, [CALL, { text: ["No."] }], { ...searching(anthropic), config: { mode: "default" } });
  asked.prompt("is it out?");
  const { calls } = await asked.next("approval.requested");
  expect(calls).toMatchObject([{ name: "WebSearch", title: "Search the web for parley 2 release" }]);
  await asked.agent.send({ type: "approval.answer", session: "s", answers: [{ call: calls[0]?.id ?? "", decision: "deny" }] });
  expect(await asked.ended()).toMatchObject({ outcome: "completed" });
  expect(asked.server.requests).toHaveLength(2);
});
