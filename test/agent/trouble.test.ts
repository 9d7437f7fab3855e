/** The gauntlet: each misbehaviour of a model or its vendor, on every wire that has it. A turn does its work, or says plainly why not. */
import { describe, expect, test } from "vitest";
import { TIME_LIMITS } from "../../src/core/limits.js";
import { PNG, talk, VENDORS } from "../providers/harness.js";

const ALL = Object.values(VENDORS);
const CLAUDES = [VENDORS.anthropic, VENDORS.vertexClaude, VENDORS.bedrockClaude];
const READ = { name: "Read", args: { file_path: "note.txt" } };
const NOTE = { "note.txt": "the sea\n" };
/** Waits between tries that no test has to sit through. */
const HASTY = { source: { limits: { ...TIME_LIMITS, retries: 10, waitSeconds: 0 } } };

describe.each(ALL)("$name", (vendor) => {
  test("the model is asked again after each failure that may pass, ten times at most", async () => {
    const statuses = [408, 409, 425, 429, 500, 502, 503, 504, 529, 529];
    const failures = statuses.map((status) => ({ error: { status, message: "Not now" } }));
    const host = await talk(vendor, [...failures, { text: ["Here."] }], HASTY);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.of("notice")).toMatchObject(
      statuses.map((status, at) => ({ kind: "retry", data: { attempt: at + 1, maxAttempts: 10, delayMs: 0, status } })),
    );
  });

  test("a wait beyond the time that is left fails the turn at once, and says so", async () => {
    const host = await talk(vendor, [{ error: { status: 429, message: "Slow down.", retryAfter: 4000 } }]);
    const end = await host.turn("hi");
    expect(end.reason).toBe(
      `${vendor.provider} answered 429: Slow down. It wants to be asked again in 4000 s, which is beyond what is left of the 600 s that tries may take in all (limits.retrySeconds)`,
    );
    expect(host.server.requests).toHaveLength(1);
  });

  const used = { message: "Used up", type: "insufficient_quota", code: "insufficient_quota" };
  test.each([
    { status: 400, message: "No" },
    { status: 404, message: "No" },
    { status: 422, message: "No" },
    { status: 402, message: "Pay first" },
    // AWS has no word for it.
    ...(vendor.provider === "bedrock" ? [] : [{ status: 429, type: "insufficient_quota", body: JSON.stringify({ error: used }) }]),
  ])("a failure that no wait helps ends the turn at once: $status $type", async (error) => {
    const host = await talk(vendor, [{ error }, { text: ["Yes?"] }], HASTY);
    expect(await host.turn("hi")).toMatchObject({ outcome: "failed", fault: { status: error.status, retryable: false } });
    expect(host.server.requests).toHaveLength(1);
    expect(await host.turn("now")).toMatchObject({ outcome: "completed" });
  });

  test("a connection that is lost within thinking, text or half a call costs nothing but the time", async () => {
    const half = { calls: [{ name: "Write", args: ['{"file_path":"new.txt","con'] }] };
    const lost = [{ thinking: ["Hm"] }, { text: ["Half a se"] }, half].map((reply) => ({ ...reply, cut: "after" as const }));
    const host = await talk(vendor, [...lost, { calls: [READ] }, { text: ["The sea."] }], { ...HASTY, files: NOTE });
    expect(await host.turn("read")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.of("tool.requested").map(({ call }) => call.name)).toEqual(["Read"]);
    expect(host.texts("text.done").at(-1)).toBe("The sea.");
    expect(JSON.stringify(host.body(5))).not.toContain("Half a se");
  });

  test("an overload within the stream, after output, is outlived", async () => {
    const broken = { type: vendor.says.overload.type, message: "Overloaded" };
    const host = await talk(vendor, [{ text: ["We"], broken }, { broken }, { text: ["Here."] }], HASTY);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.texts("text.done")).toEqual(["We", "Here."]);
    expect(host.of("notice").map(({ kind }) => kind)).toEqual(["retry", "retry"]);
  });

  test("an answer that was cut off at its length is gone on with in the same turn", async () => {
    const host = await talk(vendor, [{ text: ["Once upon"], stop: vendor.says.length }, { text: [" a time."] }]);
    expect(await host.turn("tell")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.done")).toEqual(["Once upon", " a time."]);
    expect(host.of("notice")).toMatchObject([{ kind: "length", level: "info" }]);
  });

  test("an empty answer is asked for once more; a second one ends the turn as unfinished, and says so", async () => {
    const host = await talk(vendor, [
      { text: [], stop: stopOf(vendor) },
      { text: ["Here."] },
      { text: [], stop: stopOf(vendor) },
      { text: [], stop: stopOf(vendor) },
    ]);
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.done")).toEqual(["Here."]);
    expect(await host.turn("and?")).toMatchObject({ outcome: "completed", finish: "empty" });
    expect(host.of("notice").map(({ kind, level }) => [kind, level])).toEqual([
      ["empty", "info"],
      ["empty", "info"],
      ["empty", "warning"],
    ]);
  });

  test("an image that the vendor refuses is replaced by a note, and the session goes on", async () => {
    const refused = { error: { status: 400, type: "invalid_request_error", message: "Could not process image" } };
    const host = await talk(vendor, [refused, { text: ["I see none."] }, { text: ["Still none."] }]);
    const image = { type: "image" as const, mime: "image/png", data: PNG };
    expect(await host.turn([{ type: "text", text: "what is this?" }, image])).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(host.body(1))).toContain(PNG);
    for (const nth of [2, 3]) if (nth === 3) await host.turn("sure?");
    expect(JSON.stringify([host.body(2), host.body(3)])).not.toContain(PNG);
    expect(JSON.stringify(host.body(2))).toContain(`An image was left out: ${vendor.provider} refused it`);
    expect(host.of("notice")).toMatchObject([{ kind: "image" }]);
  });

  test("what went out with one request goes out the same with the next, so that the vendor's cache holds", async () => {
    // Plain chat completions want thinking back within its turn alone, as their models' templates do.
    const thoughts = ["openai-chat", "local"].includes(vendor.wire) ? {} : { thinking: ["Hm."], signature: "proof-1" };
    const host = await talk(vendor, [{ ...thoughts, calls: [READ] }, { text: ["The sea."] }, { text: ["Yes."] }], { files: NOTE });
    await host.turn("what is in it?");
    await host.turn("sure?");
    const [first, second, third] = [1, 2, 3].map((nth) => stable(host.body(nth)));
    expect(second?.rest).toEqual(first?.rest);
    expect(third?.rest).toEqual(first?.rest);
    expect(second?.talk.slice(0, first?.talk.length)).toEqual(first?.talk);
    expect(third?.talk.slice(0, second?.talk.length)).toEqual(second?.talk);
  });
});

describe.each(CLAUDES)("Claude by $name", (vendor) => {
  test("a paused answer is gone on with", async () => {
    const host = await talk(vendor, [{ text: ["I am at"], stop: "pause_turn" }, { text: [" the end."] }]);
    expect(await host.turn("go")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.texts("text.done")).toEqual(["I am at", " the end."]);
  });

  test("an answer that fills the window is dropped, the conversation compacted, and the model asked again", async () => {
    const full = { text: ["On and"], stop: "model_context_window_exceeded" };
    const host = await talk(vendor, [{ text: ["Long ago."] }, full, { text: ["They spoke."] }, { text: ["Here."] }]);
    await host.turn("story ".repeat(3000));
    expect(await host.turn("go on")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(host.of("compaction")).toMatchObject([{ phase: "started" }, { phase: "ended", summary: "They spoke." }]);
    expect(host.texts("text.done").at(-1)).toBe("Here.");
    expect(JSON.stringify(host.body(4))).not.toContain("On and");
  });

  test("a turn that another model began without thinking is gone on with by one that thinks within a budget", async () => {
    const [newer, older] =
      vendor.wire === "bedrock-claude"
        ? [bedrock("opus-4-6-v1"), bedrock("haiku-4-5-20251001-v1:0")]
        : ["claude-sonnet-4-6", "claude-haiku-4-5"];
    const down = Array.from({ length: 4 }, () => ({ error: { status: 529, message: "Overloaded", retryAfter: 0 } }));
    const host = await talk(vendor, [{ calls: [READ] }, ...down, { text: ["The sea."] }, { text: ["Yes."] }], {
      files: NOTE,
      config: { model: newer, fallbackModels: [older] },
    });
    expect(await host.turn("read it")).toMatchObject({ outcome: "completed" });
    expect(host.body(6)).toMatchObject({ thinking: { type: "disabled" } });
    await host.configure({ model: older });
    expect(await host.turn("sure?")).toMatchObject({ outcome: "completed" });
    expect(host.body(7)).toMatchObject({ thinking: { type: "enabled" } });
  });

  test("Claude 4.5 is asked to think between its calls", async () => {
    const model = vendor.wire === "bedrock-claude" ? bedrock("sonnet-4-5-20250929-v1:0") : "claude-sonnet-4-5";
    const host = await talk(vendor, [{ text: ["Hi."] }, { text: ["Hi."] }], { config: { model } });
    await host.turn("hi");
    await host.configure({ thinking: "disabled" });
    await host.turn("hi");
    const asked = host.server.requests.map(({ headers, body }) =>
      JSON.stringify([headers["anthropic-beta"], body]).includes("interleaved-thinking"),
    );
    expect(asked).toEqual([true, false]);
  });
});

function bedrock(name: string): string {
  return `eu.anthropic.claude-${name}`;
}

/** A vendor's word for the end of an answer that has no text. */
function stopOf({ wire }: (typeof ALL)[number]): string {
  if (/gemini/.test(wire)) return "STOP";
  if (/claude|anthropic|converse/.test(wire)) return "end_turn";
  return /responses|xai/.test(wire) ? "completed" : "stop";
}

/** The conversation, and all that stands before it in a cache; without the marks for one, which move on with it. */
function stable(body: unknown): { rest: string; talk: string[] } {
  const text = JSON.stringify(body, (key, value: unknown) => (key === "cache_control" || key === "cachePoint" ? undefined : value));
  const { messages, contents, input, ...rest }: Record<string, unknown> = JSON.parse(text.replaceAll("{},", "").replaceAll(",{}", ""));
  const talk = [messages, contents, input].find((list) => Array.isArray(list)) ?? [];
  return { rest: JSON.stringify(rest), talk: Array.isArray(talk) ? talk.map((message) => JSON.stringify(message)) : [] };
}
