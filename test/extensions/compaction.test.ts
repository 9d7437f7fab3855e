/** Compaction over the native dialect: near the window, after an overflow, in sub-agents; and a process that is killed in the middle of it. */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/content.js";
import type { Message } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import { unsound } from "../../src/engine/store/testing.js";
import { type NativeHost, scratch, script, start } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

/** More tokens than a session with this window may have. */
const LIMIT = 20_000;
const TOO_MUCH = { pieces: ["abc ".repeat(13_000)] };
const HALF = { pieces: ["abc ".repeat(6500)] };
const print = (tokens: number, id: string) => ({ tool: "Bash", args: { command: `head -c ${tokens * 4} /dev/zero | tr '\\0' x` }, id });
const SUMMARY_REQUEST = { system: "You sum up a conversation", lastUser: "<conversation>", messages: 1 };

const phases = (host: NativeHost) => host.ofType("compaction").map(({ phase }) => phase);

/** The conversation as a resume would find it; looked at in a copy. */
async function stored(home: string): Promise<Message[]> {
  const copy = scratch();
  cpSync(home, copy, { recursive: true });
  const { session, log } = await jsonlStore(copy, { keep: 9, redact: (value) => value }).open("s");
  await log.close();
  expect(unsound(session.messages)).toEqual([]);
  return session.messages;
}

const textOf = (message: Message | undefined): string => (message?.role === "user" ? plainText(message.parts) : "");

describe("near the window", () => {
  test("old tool results go first, only as many as needed, in the middle of the turn", async () => {
    const home = scratch();
    const steps = Array.from({ length: 7 }, (_, at) => ({ call: print(2000, `c${at}`) }));
    const host = start({ env: { PARLEY_HOME: home }, responses: [...steps, { say: "done" }] });
    await host.open({ mode: "yolo", contextLimit: LIMIT });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("done");
    const [began, ended] = host.ofType("compaction");
    expect([began?.phase, ended?.phase, ended?.summary]).toEqual(["started", "ended", undefined]);
    expect(ended?.turn).toBe(host.ofType("turn.ended")[0]?.turn);
    expect(ended?.after).toBeLessThan(ended?.before ?? 0);
    expect(await host.finish()).toBe(0);
    const results = (await stored(home)).flatMap((message) =>
      message.role === "tool" ? message.results.map(({ parts }) => plainText(parts)) : [],
    );
    expect(results.map((text) => text.startsWith("[Tool result cleared"))).toEqual([true, true, false, false, false, false, false]);
  });

  test("then a summary: the model goes on with it and the newest messages, and its tokens are counted", async () => {
    const home = scratch();
    const host = start({
      env: { PARLEY_HOME: home },
      responses: [
        { say: TOO_MUCH },
        { expect: SUMMARY_REQUEST, say: "They counted words.", usage: { input: 1000, output: 10 } },
        { expect: { messages: 3, lastUser: "second" }, say: "ok", usage: { input: 100, output: 1 } },
        { expect: { messages: 5, lastUser: "third" }, say: "fine" },
      ],
    });
    await host.open({ contextLimit: LIMIT });
    host.prompt("first");
    await host.turnEnded();
    expect(phases(host)).toEqual([]);
    host.prompt("second");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed", usage: { input: 1100, output: 11 } });
    expect(host.ofType("compaction")).toMatchObject([
      { phase: "started", before: expect.any(Number) },
      { phase: "ended", summary: "They counted words.", after: expect.any(Number) },
    ]);
    host.prompt("third");
    expect(await host.turnEnded(3)).toMatchObject({ outcome: "completed" });
    expect(host.text()).toMatch(/ok\nfine$/);
    expect(await host.finish()).toBe(0);
    const [first, summary, ...rest] = await stored(home);
    expect(textOf(first)).toBe("first");
    expect(summary).toMatchObject({ kind: "summary" });
    expect(textOf(summary)).toContain("They counted words.");
    expect(rest.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(readFileSync(join(home, "sessions", "s", "log.jsonl"), "utf8")).toContain("abc abc");
  });

  test("a summary that fails is told, and the turn goes on", async () => {
    const host = start({ responses: [{ say: TOO_MUCH }, { fail: 400 }, { expect: { messages: 3 }, say: "ok" }] });
    await host.open({ contextLimit: LIMIT });
    host.prompt("first");
    host.prompt("second");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(phases(host)).toEqual(["started", "failed"]);
    expect(host.ofType("notice")).toMatchObject([
      { kind: "compaction", level: "warning", text: expect.stringContaining("could not be summed up") },
    ]);
    expect(await host.finish()).toBe(0);
  });

  test("a task that steering adds to survives every further compaction, also behind a kill and a resume", async () => {
    const home = scratch();
    const step = (nth: number) => ({ say: HALF, call: print(1, `c${nth}`) });
    const first = start({
      env: { PARLEY_HOME: home },
      responses: [
        step(1),
        step(2),
        { expect: SUMMARY_REQUEST, say: "One." },
        { call: { tool: "Bash", args: { command: "sleep 300" }, id: "s" } },
      ],
    });
    await first.open({ mode: "yolo", contextLimit: LIMIT });
    first.prompt("the task");
    await first.next("tool.started", ({ call }) => call === "s");
    first.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "and this" }] });
    await first.next("reply", ({ to }) => to === "turn.steer");
    first.child.kill("SIGKILL");
    await first.exited;
    const responses = [step(3), { expect: SUMMARY_REQUEST, say: "Two." }, { say: "done" }];
    const host = start({ env: { PARLEY_HOME: home }, responses });
    const config = { model: script(responses), contextLimit: LIMIT, mode: "yolo" as const };
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config });
    await host.next("session.ready");
    host.prompt("go on");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
    const users = (await stored(home)).filter(({ role }) => role === "user");
    expect(users.map(textOf)).toEqual(["the task", "and this", "go on", expect.stringContaining("Two.")]);
  });

  test("a sub-agent makes room in its own conversation", async () => {
    const host = start({
      responses: [
        { call: { tool: "Spawn", args: { tasks: [{ name: "child", prompt: "count" }] }, id: "spawn" } },
        { say: HALF, call: print(1, "one") },
        { say: HALF, call: print(1, "two") },
        { expect: SUMMARY_REQUEST, say: "It counted." },
        { expect: { messages: 4, toolResult: "x" }, say: "child done" },
        { expect: { messages: 3, toolResult: "child done" }, say: "parent done" },
      ],
    });
    await host.open({ mode: "yolo", contextLimit: LIMIT });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("parent done");
    expect(host.ofType("compaction").map(({ phase, under }) => [phase, under])).toEqual([
      ["started", "spawn"],
      ["ended", "spawn"],
    ]);
    expect(await host.finish()).toBe(0);
  });

  test("an interrupt ends it, and the conversation is what it was", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: TOO_MUCH }, { steps: [{ wait: "forever" }] }] });
    await host.open({ contextLimit: LIMIT });
    host.prompt("first");
    await host.turnEnded();
    host.prompt("second");
    await host.next("compaction");
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "interrupted" });
    expect(phases(host)).toEqual(["started", "failed"]);
    expect(await host.finish()).toBe(0);
    expect((await stored(home)).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });
});

describe("the provider says that it does not fit", () => {
  const long = Array.from({ length: 4 }, (_, at) => ({ say: `${at} ${"word ".repeat(100)}` }));

  async function talked(responses: unknown[]): Promise<NativeHost> {
    const host = start({ responses: [...long, ...responses] });
    await host.open();
    for (const prompt of ["one", "two", "three", "four"]) host.prompt(prompt);
    await host.turnEnded(4);
    return host;
  }

  test("once: it is compacted and asked again", async () => {
    const host = await talked([
      { fail: { status: 413, times: 1 }, say: "In short." },
      { expect: { lastUser: "five" }, say: "ok" },
    ]);
    host.prompt("five");
    expect(await host.turnEnded(5)).toMatchObject({ outcome: "completed" });
    expect(host.ofType("compaction")).toMatchObject([{ phase: "started" }, { phase: "ended", summary: "In short." }]);
    expect(host.text().endsWith("ok")).toBe(true);
    expect(host.ofType("error")).toEqual([]);
    expect(await host.finish()).toBe(0);
  });

  test("twice: the turn fails, and says what can be done", async () => {
    const host = await talked([{ fail: { status: 413, times: 1 }, say: "In short." }, { fail: 413 }]);
    host.prompt("five");
    const ended = await host.turnEnded(5);
    expect(ended).toMatchObject({ outcome: "failed", fault: { code: "context_overflow" } });
    expect(ended.reason).toMatch(/does not fit.*even after it was compacted.*\/clear/);
    expect(phases(host)).toEqual(["started", "ended"]);
    expect(await host.finish()).toBe(0);
  });

  test("with nothing to compact, or no summary to be had, it fails in the provider's own words", async () => {
    const fresh = start({ responses: [{ fail: 413 }] });
    await fresh.open();
    fresh.prompt("one");
    expect(await fresh.turnEnded()).toMatchObject({ outcome: "failed", reason: "The prompt is too long" });
    expect(phases(fresh)).toEqual([]);
    expect(await fresh.finish()).toBe(0);
    const host = await talked([{ fail: { status: 413, times: 1 }, cut: true }, { fail: 400 }, { fail: 400 }]);
    host.prompt("five");
    expect(await host.turnEnded(5)).toMatchObject({ outcome: "failed", reason: "The prompt is too long" });
    expect(phases(host)).toEqual(["started", "failed"]);
    expect(await host.finish()).toBe(0);
  });
});

test("what a vendor gets: a summary request without tools, then the summary and the newest messages", async () => {
  const server = await modelServer("anthropic", [
    { text: ["long ".repeat(1200)], usage: { input: 15_000, output: 1500 } },
    { text: ["They said long."] },
    { text: ["ok"] },
  ]);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  const host = start({ provider: "anthropic", env, args: ["--model", "claude-sonnet-4-6"] });
  await host.open({ contextLimit: LIMIT });
  host.prompt("first");
  await host.turnEnded();
  host.prompt("second");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
  const [, summed, after] = server.requests.map(({ body }) => v.parse(Body, body));
  expect(summed?.tools ?? []).toEqual([]);
  expect(summed?.max_tokens).toBe(8000);
  expect(JSON.stringify(summed?.messages)).toContain("User: first");
  expect(JSON.stringify(after?.messages)).toMatch(/They said long\.(?!.*long long).*second/);
  expect(after?.tools?.length).toBeGreaterThan(5);
  expect(await host.finish()).toBe(0);
});

const Body = v.object({
  messages: v.array(v.unknown()),
  tools: v.optional(v.array(v.unknown())),
  max_tokens: v.number(),
});

describe("killed", () => {
  async function kill(host: NativeHost): Promise<void> {
    host.child.kill("SIGKILL");
    await host.exited;
  }

  async function resume(home: string, responses: unknown[]): Promise<NativeHost> {
    const host = start({ env: { PARLEY_HOME: home }, responses });
    const config = { model: script(responses), contextLimit: LIMIT };
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config });
    await host.next("session.ready");
    return host;
  }

  test("while the summary is made: the whole conversation is there, and the next turn sums it up", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: TOO_MUCH }, { steps: [{ wait: "forever" }] }] });
    await host.open({ contextLimit: LIMIT });
    host.prompt("first");
    await host.turnEnded();
    host.prompt("second");
    await host.next("compaction");
    await kill(host);
    expect((await stored(home)).map(textOf)).toEqual(["first", "", "second"]);
    const again = await resume(home, [
      { expect: SUMMARY_REQUEST, say: "They counted." },
      { expect: { lastUser: "third" }, say: "ok" },
    ]);
    again.prompt("third");
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(phases(again)).toEqual(["started", "ended"]);
    expect(await again.finish()).toBe(0);
  });

  test("after it, in the middle of the same turn: what is resumed is what the model had", async () => {
    const home = scratch();
    const host = start({
      env: { PARLEY_HOME: home },
      responses: [
        { say: TOO_MUCH },
        { say: "They counted." },
        { say: "Now.", call: { tool: "Bash", args: { command: "sleep 300" }, id: "c" } },
      ],
    });
    await host.open({ mode: "yolo", contextLimit: LIMIT });
    host.prompt("first");
    await host.turnEnded();
    host.prompt("second");
    await host.next("tool.started");
    await kill(host);
    const messages = await stored(home);
    expect(messages.map(({ role }) => role)).toEqual(["user", "user", "user", "assistant", "tool"]);
    expect(messages.slice(0, 3).map(textOf)).toEqual(["first", expect.stringContaining("They counted."), "second"]);
    const again = await resume(home, [{ expect: { messages: 6, toolResult: "is unknown", lastUser: "third" }, say: "ok" }]);
    again.prompt("third");
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
    expect(await stored(home)).toEqual([...messages, expect.anything(), expect.anything()]);
  });
});
