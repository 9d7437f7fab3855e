/** The RFC from the outside: the receipt, turns in both formats, their order, usage and ends. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { launch, received, story, type Format } from "./host.js";

const FORMATS: Format[] = ["stream-json", "stream-chunk-json"];

describe("the receipt", () => {
  it("R1, Q6, Q8, Q9, Q11: is the first line, before any input, and says what this is", async () => {
    const host = launch();
    const receipt = await host.next("receipt");
    expect(receipt.raw).toMatchObject({
      object: "chat.completion",
      id: `chatcmpl-${host.session}`,
      choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }],
      metadata: { session_id: host.session, protocol_version: 1, input_format: "stream-json", output_format: "stream-json" },
      system_fingerprint: expect.stringMatching(/^parley-\d/),
    });
    expect(receipt.metadata.prompt_id).toBeUndefined();
    expect(receipt.raw["usage"]).toBeUndefined();
    expect(receipt.metadata.capabilities).toEqual(
      expect.arrayContaining([
        "chat.completion",
        "chat.completion.chunk",
        "command",
        "command_hint",
        "heartbeat",
        "cancel",
        "control.can_use_tool",
        "control.hook_callback",
        "control.mcp_message",
        "annotations.terminal",
      ]),
    );
    expect(host.heard).toHaveLength(1);
    expect(await host.finish()).toBe(0);
  });

  it("R2, Q7: in chunks it is the role as well; later turns begin with a plain role chunk", async () => {
    const host = await received({ output: "stream-chunk-json", responses: [{ say: "one" }, { say: "two" }] });
    expect(host.heard[0]?.raw).toMatchObject({
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: { role: "assistant" } }],
      metadata: { protocol_version: 1, output_format: "stream-chunk-json" },
    });
    expect(story(await host.turn())).toBe("delta event:Finished summary");
    const second = await host.turn();
    expect(story(second)).toBe("role delta event:Finished summary");
    expect(second[0]?.metadata.protocol_version).toBeUndefined();
  });

  it.each(["stream-json", "stream-chunk-json"])("Q1: input %s is the same thing", async (input) => {
    const host = await received({ input, responses: [{ say: "yes" }] });
    expect(host.heard[0]?.metadata.input_format).toBe(input);
    expect(host.text(await host.turn())).toBe("yes");
  });

  it("comes first even where the host does not wait for it", async () => {
    const host = launch({ responses: [{ say: "yes" }] });
    host.send({ type: "heartbeat_request" }, { input: { parts: [{ text: "go" }] } }, { type: "nonsense" });
    await host.next("summary");
    expect(host.heard[0]?.word).toBe("receipt");
    expect(host.heard.map(({ word }) => word)).toEqual(expect.arrayContaining(["result/heartbeat", "error", "text"]));
  });
});

describe("a turn of text", () => {
  it("R3, Q3, Q12, Q14: an OpenAI-style line is answered by a reply and one closing summary", async () => {
    const host = await received();
    host.send({ model: "m", messages: [{ role: "user", content: "say Hello yourself" }] });
    await host.next("summary");
    const [, reply, , summary] = host.heard;
    expect(story(host.heard)).toBe("receipt text event:Finished summary");
    expect(reply).toMatchObject({ content: "Hello yourself", finish: "stop", model: "m" });
    expect(reply?.usage).toEqual(summary?.usage);
    expect(summary?.metadata.summary).toMatchObject({ prompt_id: `${host.session}########1`, num_turns: 1, is_error: false });
    expect(summary?.metadata.summary?.duration_ms).toBeGreaterThanOrEqual(0);
    // Reading 14: what is not there is left out.
    expect(JSON.stringify(reply?.raw)).not.toContain("tool_calls");
  });

  it("Q4, Q5: the id is the session's, and each line says whose turn it is", async () => {
    const host = await received({ responses: [{ say: "a" }, { say: "b" }] });
    const lines = [...(await host.turn()), ...(await host.turn())].filter(({ id }) => id !== undefined);
    expect(new Set(lines.map(({ id }) => id))).toEqual(new Set([`chatcmpl-${host.session}`]));
    expect(new Set(lines.map(({ metadata }) => metadata.session_id))).toEqual(new Set([host.session]));
    expect(lines.map(({ metadata }) => metadata.prompt_id?.slice(-1))).toEqual(["1", "1", "2", "2"]);
  });

  it("R7: text, then the call without a content, displays, the answer and the summary", async () => {
    const host = await received({
      responses: [
        { say: "Looking", call: { tool: "Glob", args: { pattern: "*" } }, usage: { input: 10, output: 4 } },
        { say: "Done", usage: { input: 30, output: 2, cacheRead: 5 } },
      ],
    });
    const lines = await host.turn();
    expect(story(lines)).toBe("text tool_calls display:pending display:executing display:success text event:Finished summary");
    const [text, call] = lines;
    expect(text).toMatchObject({ content: "Looking", finish: "stop", usage: { prompt_tokens: 10, completion_tokens: 4 } });
    expect(call).toMatchObject({ content: undefined, finish: "tool_calls", usage: undefined });
    expect(call?.calls).toMatchObject([{ type: "function", function: { name: "Glob", arguments: '{"pattern":"*"}' } }]);
    // Reading 13: per call on the replies, the turn's sum on the summary, counted as OpenAI does.
    expect(lines.at(-3)?.usage).toEqual({
      prompt_tokens: 35,
      completion_tokens: 2,
      total_tokens: 37,
      prompt_tokens_details: { cached_tokens: 5 },
    });
    expect(lines.at(-1)?.usage).toMatchObject({ prompt_tokens: 45, completion_tokens: 6, total_tokens: 51 });
    expect(lines.at(-1)?.metadata.summary?.num_turns).toBe(2);
  });

  it("a call without a text carries the usage of its model call itself, and reasoning counts as completion", async () => {
    const host = await received({
      responses: [
        { call: { tool: "Glob", args: { pattern: "*" } }, usage: { input: 7, output: 1, reasoning: 9 } },
        { say: "ok", usage: { input: 9, output: 1 } },
      ],
    });
    const [call] = await host.turn();
    expect(call?.usage).toEqual({
      prompt_tokens: 7,
      completion_tokens: 10,
      total_tokens: 17,
      completion_tokens_details: { reasoning_tokens: 9 },
    });
  });

  it("R8, R9, Q13, Q15: a call in pieces, a finish between the model calls, usage on the last chunk", async () => {
    const host = await received({
      output: "stream-chunk-json",
      responses: [
        { say: { pieces: ["Loo", "king"] }, call: { tool: "Glob", args: { pattern: "**/*.nothing" } }, usage: { input: 10, output: 4 } },
        { say: { pieces: ["Do", "ne"] }, usage: { input: 30, output: 2 } },
      ],
    });
    const lines = await host.turn();
    expect(story(lines)).toBe("delta call tool_calls display:pending display:executing display:success delta event:Finished summary");
    const pieces = lines.filter(({ word }) => word === "call").flatMap(({ calls }) => calls);
    expect(pieces.every(({ index }) => index === 0)).toBe(true);
    expect(pieces.filter(({ id }) => id !== undefined)).toHaveLength(1);
    expect(JSON.parse(pieces.map((piece) => piece.function?.arguments ?? "").join(""))).toEqual({ pattern: "**/*.nothing" });
    expect(lines.find(({ word }) => word === "tool_calls")).toMatchObject({ finish: "tool_calls", usage: { total_tokens: 14 } });
    expect(host.text(lines)).toBe("LookingDone");
    expect(lines.at(-1)?.raw).toMatchObject({
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { prompt_tokens: 40, completion_tokens: 6, total_tokens: 46 },
    });
    expect(host.lines.join("\n")).not.toContain('"object":"chat.completion"');
  });

  it("two calls of one response have an index each, and one line in message mode", async () => {
    const both = [
      {
        calls: [
          { tool: "Glob", args: { pattern: "a" } },
          { tool: "Glob", args: { pattern: "b" } },
        ],
      },
      { say: "ok" },
    ];
    const chunks = await received({ output: "stream-chunk-json", responses: both });
    const pieces = (await chunks.turn()).filter(({ word }) => word === "call").flatMap(({ calls }) => calls);
    expect(pieces.filter(({ id }) => id !== undefined).map(({ index }) => index)).toEqual([0, 1]);
    const messages = await received({ responses: both });
    const lines = (await messages.turn()).filter(({ word }) => word === "tool_calls");
    expect(lines.map(({ calls }) => calls.length)).toEqual([2]);
  });

  it.each(FORMATS)("R39: %s: thinking is an annotation and no content", async (output) => {
    const host = await received({
      output,
      responses: [
        { think: "**Analyzing repo** Listing tsconfig patterns...", say: "Found it" },
        { think: "just so", say: "Again" },
      ],
    });
    const lines = await host.turn();
    expect(lines[0]).toMatchObject({ word: "thought" });
    expect(lines[0]?.thoughts).toEqual([
      { type: "x-qwen-thought", subject: "Analyzing repo", description: "Listing tsconfig patterns..." },
    ]);
    expect(host.text(lines)).toBe("Found it");
    const [, again = lines[0]] = output === "stream-json" ? [undefined, (await host.turn())[0]] : [undefined, (await host.turn())[1]];
    expect(again?.thoughts).toEqual([{ type: "x-qwen-thought", subject: "", description: "just so" }]);
  });

  it.each(FORMATS)("R41: %s: emoji and CJK cut anywhere come out whole", async (output) => {
    const text = "汉字 👩‍👩‍👧‍👦 e\u0301 \u2028 ✅ ende";
    const host = await received({ output, responses: [{ say: { pieces: Array.from(text) } }] });
    expect(host.text(await host.turn())).toBe(text);
  });

  it("R36, Q33: two requests back to back are answered in order", async () => {
    const host = await received({ responses: [{ say: "first" }, { say: "second" }] });
    host.say("one");
    host.say("two");
    await host.nth("summary", 2);
    expect(story(host.heard.slice(1))).toBe("text event:Finished summary text event:Finished summary");
    expect(host.all("text").map(({ content }) => content)).toEqual(["first", "second"]);
  });

  it("R37: the end of input lets the turn end; exit 0", async () => {
    const host = launch({ responses: [{ say: "yes" }] });
    host.send({ input: { parts: [{ text: "go" }] } });
    expect(await host.finish()).toBe(0);
    expect(story(host.heard)).toBe("receipt text event:Finished summary");
  });

  it.each(["text", "stream-json"])("--audit keeps both directions, input %s", async (input) => {
    const file = join(scratch(), "audit.jsonl");
    const args = ["--audit", file, ...(input === "text" ? ["say it"] : [])];
    const host = launch({ input, args, responses: [{ say: "said" }] });
    if (input !== "text") host.send({ input: { parts: [{ text: "say it" }] } });
    expect(await host.finish()).toBe(0);
    const kept = readFileSync(file, "utf8");
    expect(kept).toMatch(/"dir":"in","rec":\{"input":.*say it/);
    expect(kept).toMatch(/"dir":"out","rec":\{"object":"chat.completion".*said/);
  });

  it("R43: CRLF, blank lines and a last line without an end are taken", async () => {
    const host = await received({ responses: [{ say: "one" }, { say: "two" }] });
    host.raw('\n  \r\n{"input":{"parts":[{"text":"a"}]}}\r\n\r\n');
    await host.next("summary");
    host.child.stdin.end(`{"session_id":"${host.session}","input":{"parts":[{"text":"b"}]}}`);
    expect((await host.exited).code).toBe(0);
    expect(host.text()).toBe("onetwo");
  });
});
