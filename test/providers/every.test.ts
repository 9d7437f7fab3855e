/** The same scenarios for each vendor: what a turn needs works on every wire. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Model, ModelPart } from "../../src/engine/models/model.js";
import { modelServer } from "../support/model-server.js";
import { modelAt, PNG, talk, VENDORS } from "./harness.js";
import { modelsPage, scenariosOf, unwritten } from "./scenarios.js";

const ALL = Object.values(VENDORS);
const PAGE = join(import.meta.dirname, "../../docs/models.md");
const NOTE = { "note.txt": "the sea\n", "other.txt": "the sky\n", "dot.png": Buffer.from(PNG, "base64") };

describe.each(ALL)("$name", (vendor) => {
  const scenario = scenariosOf(vendor);

  scenario("text", "text comes as it streams", async () => {
    const host = await talk(vendor, [{ text: ["Hel", "lo"] }]);
    const end = await host.turn("hi");
    expect(end).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.delta")).toEqual(["Hel", "lo"]);
    expect(host.texts("text.done")).toEqual(["Hello"]);
  });

  scenario("thinking", "thinking is shown as it comes, and what the vendor wants back goes back", async () => {
    const host = await talk(vendor, [{ thinking: ["Let me ", "see."], signature: "proof-1", text: ["Yes."] }, { text: ["Still yes."] }], {
      config: { thinking: "low" },
    });
    expect(await host.turn("well?")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("thinking.delta")).toEqual(["Let me ", "see."]);
    expect(host.texts("thinking.done").join("")).toBe("Let me see.");
    expect(host.texts("text.done")).toEqual(["Yes."]);
    expect(await host.turn("sure?")).toMatchObject({ outcome: "completed" });
  });

  scenario("settings", "temperature, top_p, stop sequences, tokens and system prompt reach the wire, or it is said why not", async () => {
    const config = { system: "Speak like a sailor.", maxTokens: 4321, temperature: 0.31, topP: 0.87, stop: ["AHOY"] };
    const host = await talk(vendor, [{ text: ["Aye."] }], { config });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    const wire = JSON.stringify(host.body(1));
    expect(wire).toContain("Speak like a sailor.");
    expect(wire).toContain("4321");
    const said = host.of("notice").map(({ text }) => text);
    for (const [name, value] of [
      ["temperature", "0.31"],
      ["topP", "0.87"],
      ["stopSequences", "AHOY"],
    ] as const) {
      expect([name, wire.includes(value) || said.some((text) => text.includes(name))]).toEqual([name, true]);
    }
  });

  scenario("one tool", "one tool: its arguments stream, its result goes back, the answer follows", async () => {
    const host = await talk(
      vendor,
      [{ text: ["I look."], calls: [{ name: "Read", args: { file_path: "note.txt" } }] }, { text: ["Done."] }],
      { files: NOTE },
    );
    const end = await host.turn("read it");
    expect(end).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(
      host
        .of("tool.delta")
        .map(({ text }) => text)
        .join(""),
    ).toBe('{"file_path":"note.txt"}');
    expect(host.of("tool.requested")).toMatchObject([{ call: { name: "Read", args: { file_path: "note.txt" } } }]);
    expect(host.of("tool.ended")).toMatchObject([{ status: "ok" }]);
    expect(JSON.stringify(host.body(2))).toContain("the sea");
    expect(host.texts("text.done")).toEqual(["I look.", "Done."]);
  });

  scenario("parallel tools", "parallel tools: each call gets its own result", async () => {
    const calls = [
      { id: "call_a_0123456789", name: "Read", args: { file_path: "note.txt" } },
      { id: "call_b_0123456789", name: "Read", args: { file_path: "other.txt" } },
    ];
    const host = await talk(vendor, [{ calls }, { text: ["Both."] }], { files: NOTE });
    await host.turn("read both");
    expect(host.of("tool.requested").map(({ call }) => [call.id, call.args])).toEqual(calls.map(({ id, args }) => [id, args]));
    expect(new Map(host.of("tool.ended").map(({ call, status }) => [call, status]))).toEqual(new Map(calls.map(({ id }) => [id, "ok"])));
    expect(host.texts("text.done")).toEqual(["Both."]);
  });

  scenario("image", "images go in the prompt and in a tool result", async () => {
    const host = await talk(vendor, [{ calls: [{ name: "Read", args: { file_path: "dot.png" } }] }, { text: ["A dot."] }], { files: NOTE });
    const end = await host.turn([
      { type: "text", text: "what is this?" },
      { type: "image", mime: "image/png", data: PNG },
    ]);
    expect(end.outcome).toBe("completed");
    expect(images(host.body(1))).toBe(1);
    expect(images(host.body(2))).toBe(2);
  });

  test("an image of a kind that no model takes is left out and said so", async () => {
    const host = await talk(vendor, [{ text: ["Fine."] }]);
    const end = await host.turn([{ type: "image", mime: "image/bmp", data: PNG }]);
    expect(end.outcome).toBe("completed");
    expect(JSON.stringify(host.body(1))).toContain("image/bmp was left out");
  });

  scenario("usage with cache", "counts are disjoint, cached input and reasoning included", async () => {
    const cacheWrite = vendor.says.cacheWrites === true ? 40 : 0;
    const reasoning = vendor.says.reasoningUncounted === true ? 0 : 7;
    const usage = { input: 100, cacheRead: 30, cacheWrite, output: 20, reasoning };
    const host = await talk(vendor, [{ text: ["Hi"], usage }]);
    const end = await host.turn("hi");
    expect(end.usage).toEqual(usage);
    expect(host.of("usage")).toMatchObject([{ scope: "call", usage }]);
  });

  scenario("length stop", "an answer that reaches its limit again and again is gone on with three times, and says so", async () => {
    const cut = { text: ["Once upon"], stop: vendor.says.length };
    const host = await talk(vendor, [cut, cut, cut, cut], { config: { maxTokens: 2000 } });
    expect(await host.turn("tell")).toMatchObject({ outcome: "completed", finish: "length" });
    expect(JSON.stringify(host.body(1))).toContain("2000");
    expect(JSON.stringify(host.body(2))).toContain("Go on exactly where it stopped");
    expect(host.of("notice").map(({ kind }) => kind)).toEqual(["length", "length", "length", "length"]);
  });

  scenario("wrong key", "401: told at once, with the place of the key", async () => {
    const message = "that key is not known here";
    const host = await talk(vendor, [{ error: { status: 401, type: "authentication_error", message } }]);
    const end = await host.turn("hi");
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "provider", status: 401, retryable: false } });
    const check = vendor.keyVariable === undefined ? "" : ` (check ${vendor.keyVariable})`;
    expect(end.reason).toBe(`${vendor.provider} answered 401: ${message}${check}`);
    expect(host.server.requests).toHaveLength(1);
  });

  const message = "This model's maximum context length is 8192 tokens";
  const tooLong = { error: { status: 400, type: "invalid_request_error", message } };

  scenario("too long", "a conversation that does not fit is summed up and asked for again, once", async () => {
    const before = [{ text: ["Long ago."] }, tooLong, { text: ["They ", "spoke."] }];
    const host = await talk(vendor, [...before, { text: ["Here."] }, ...before, tooLong]);
    await host.turn("story ".repeat(3000));
    expect(await host.turn("go on")).toMatchObject({ outcome: "completed" });
    expect(host.of("compaction")).toMatchObject([{ phase: "started" }, { phase: "ended", summary: "They spoke." }]);
    expect(JSON.stringify(host.body(4))).toContain("They spoke.");
    expect(JSON.stringify(host.body(4))).toContain("story story");

    await host.turn("story ".repeat(3000));
    const fault = { code: "context_overflow", retryable: false, message: expect.stringContaining("even after it was compacted") };
    expect(await host.turn("go on")).toMatchObject({ outcome: "failed", fault });
    expect(host.server.requests).toHaveLength(8);
  });

  scenario("too long", "what cannot be made any shorter is a fault of its own", async () => {
    const host = await talk(vendor, [tooLong]);
    const fault = { code: "context_overflow", status: 400, retryable: false, message: `${vendor.provider} answered 400: ${message}` };
    expect(await host.turn("hi")).toMatchObject({ outcome: "failed", fault });
  });

  scenario("429 with Retry-After", "429 with Retry-After, then an answer: each retry is told with its number", async () => {
    const busy = { error: { status: 429, type: "rate_limit_error", message: "Slow down", retryAfter: 0 } };
    const host = await talk(vendor, [busy, busy, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.of("notice").map(({ kind, text }) => [kind, text])).toEqual([
      ["retry", `${vendor.provider} answered 429: Slow down. Retrying (1/3)`],
      ["retry", `${vendor.provider} answered 429: Slow down. Retrying (2/3)`],
    ]);
  });

  scenario("500 then success", "500, then an answer", async () => {
    const down = { error: { status: 500, type: "api_error", message: "We are down.", retryAfter: 0 } };
    const host = await talk(vendor, [down, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.texts("text.done")).toEqual(["Here."]);
    expect(host.of("notice")).toMatchObject([{ kind: "retry", text: `${vendor.provider} answered 500: We are down. Retrying (1/3)` }]);
  });

  test("500 four times: the turn fails, and another try may be made", async () => {
    const down = { error: { status: 500, type: "api_error", message: "We are down.", retryAfter: 0 } };
    const host = await talk(vendor, [down, down, down, down, { text: ["Up again."] }]);
    const end = await host.turn("hi");
    expect(end).toMatchObject({
      outcome: "failed",
      fault: {
        status: 500,
        retryable: true,
        message: `${vendor.provider} answered 500: We are down. It was asked 4 times (limits.retries sets how often)`,
      },
    });
    expect(host.server.requests).toHaveLength(4);
    expect(host.of("error")).toHaveLength(1);
    expect(await host.turn("again")).toMatchObject({ outcome: "completed" });
  });

  scenario("cut before output", "a cut before any output is tried again", async () => {
    const host = await talk(vendor, [{ text: ["lost"], cut: "before" }, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.texts("text.done")).toEqual(["Here."]);
    expect(host.of("notice")).toMatchObject([
      { text: `The connection to ${vendor.provider} was lost in the middle of its answer. Retrying (1/3)` },
    ]);
  });

  for (const cleanly of [false, true]) {
    scenario(
      "cut after output",
      `what came before a cut is dropped, and the model asked again (${cleanly ? "cleanly" : "hard"})`,
      async () => {
        const host = await talk(vendor, [{ text: ["The ans"], cut: "after", cleanly }, { text: ["All of it."] }]);
        expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
        const lost = `The connection to ${vendor.provider} was lost in the middle of its answer`;
        expect(host.of("notice")).toMatchObject([
          {
            kind: "retry",
            text: expect.stringContaining(`${lost}. What came of the answer is dropped. Retrying`),
            data: { dropped: true },
          },
        ]);
        expect(host.texts("text.done")).toEqual(["The ans", "All of it."]);
        expect(JSON.stringify(host.body(2))).not.toContain("The ans");
      },
    );
  }

  scenario("cut after output", "a cut within the arguments of a call runs nothing", async () => {
    const calls = [{ name: "Write", args: ['{"file_path":"new.txt","con'] }];
    const host = await talk(vendor, [{ calls, cut: "after" }, { text: ["Sorry."] }]);
    expect(await host.turn("write")).toMatchObject({ outcome: "completed" });
    expect(host.of("tool.requested")).toEqual([]);
    expect(host.texts("text.done")).toEqual(["Sorry."]);
  });

  scenario("error in the stream", "an error event within the stream is told in the vendor's words, and the model asked again", async () => {
    const { type, status } = vendor.says.overload;
    const broken = { type, message: "Overloaded" };
    const host = await talk(vendor, [{ text: ["Well"], broken }, { text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    const text = expect.stringContaining(`${vendor.provider} answered ${status}: Overloaded. What came of the answer is dropped.`);
    expect(host.of("notice")).toMatchObject([{ kind: "retry", text, data: { status, dropped: true } }]);
    expect(host.texts("text.done")).toEqual(["Well", "Here."]);
  });

  scenario("malformed arguments", "malformed arguments: the model sees what was wrong", async () => {
    const host = await talk(vendor, [{ calls: [{ name: "Read", args: ['{"file_path": "no', "te.txt"] }] }, { text: ["I see."] }]);
    expect(await host.turn("read")).toMatchObject({ outcome: "completed" });
    expect(host.of("tool.ended")).toMatchObject([{ status: "failed" }]);
    expect(JSON.stringify(host.body(2))).toContain("The arguments of Read are not a JSON object");
  });

  scenario("abort", "an interrupt while it answers closes the connection at once, and what was used counts", async () => {
    const first = { calls: [{ name: "Read", args: { file_path: "note.txt" } }], usage: { input: 70, output: 30 } };
    const host = await talk(vendor, [first, { text: ["Thinking ab"], hold: "end", usage: { input: 200 } }, { text: ["Yes?"] }], {
      files: NOTE,
    });
    host.prompt("hi");
    await host.next("text.delta");
    void host.agent.send({ type: "turn.interrupt", session: "s" });
    expect(await host.server.requests[1]?.ended).toBe("left");
    const end = await host.ended();
    expect(end.outcome).toBe("interrupted");
    expect(end.usage).toMatchObject(vendor.says.usageFirst === true ? { input: 270, output: 31 } : { input: 70, output: 30 });
    expect(host.texts("text.done")).toEqual(["Thinking ab"]);
    expect(await host.turn("go on")).toMatchObject({ outcome: "completed" });
  });

  scenario("abort", "an interrupt before the first byte closes the connection at once", async () => {
    const host = await talk(vendor, [{ text: ["late"], hold: "start" }, { text: ["Yes?"] }]);
    host.prompt("hi");
    await host.server.received(1);
    void host.agent.send({ type: "turn.interrupt", session: "s" });
    expect(await host.server.requests[0]?.ended).toBe("left");
    expect(await host.ended()).toMatchObject({ outcome: "interrupted" });
    expect(await host.turn("now")).toMatchObject({ outcome: "completed" });
  });

  scenario("slow first byte", "a slow first byte is waited for", async () => {
    const host = await talk(vendor, [{ text: ["late"], hold: "start" }]);
    host.prompt("hi");
    await host.server.received(1);
    host.server.release();
    expect(await host.ended()).toMatchObject({ outcome: "completed" });
  });

  scenario("refusal or filter", "an answer that the vendor holds back for its safety is a finish of its own", async () => {
    const { reply, finish } = vendor.says.safety;
    const host = await talk(vendor, [reply]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish });
    expect(host.texts("text.done")).toEqual(["I can't."]);
  });

  test("a server that cannot be reached: told, and retryable", async () => {
    const server = await modelServer(vendor.wire, []);
    await server.close();
    await expect(firstPart(await modelAt(vendor, server))).rejects.toMatchObject({
      fault: { code: "provider", retryable: true, message: expect.stringContaining(`There was no connection to ${vendor.provider}: `) },
    });
  });

  test("a key that the vendor repeats is not told", async () => {
    const key = "sk-secret-0123456789";
    const message = `Wrong: ${key}`;
    const source = vendor.keyVariable === undefined ? { apiKey: key } : { chosen: vendor.provider, apiKey: key };
    const host = await talk(vendor, [{ error: { status: 500, message, retryAfter: 0 } }, { text: ["ok"] }], { source });
    await host.turn("hi");
    expect(JSON.stringify(host.events)).not.toContain(key);
    expect(JSON.stringify(host.events)).toContain("[redacted]");
  });
});

test("docs/models.md tells these results", (context) => {
  expect(unwritten(ALL)).toEqual([]);
  const page = modelsPage(ALL);
  if (page === undefined) return context.skip("only some of the scenarios ran");
  if (process.env["PARLEY_DOCS"] === "write") writeFileSync(PAGE, page);
  expect(page, "docs/models.md is not up to date: run node scripts/docs.mjs").toBe(readFileSync(PAGE, "utf8"));
});

/** Images that the vendor sees as such, and not as text. */
function images(body: unknown): number {
  const text = JSON.stringify(body);
  return [`base64,${PNG}`, `"data":"${PNG}"`, `"bytes":"${PNG}"`].reduce((count, form) => count + text.split(form).length - 1, 0);
}

async function firstPart(model: Model): Promise<ModelPart | undefined> {
  const request = { system: "", messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] }], tools: [] };
  for await (const [part] of model.stream(request, new AbortController().signal)) return part;
  return undefined;
}
