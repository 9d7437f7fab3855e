/** A stored session goes on as a copy: the original stays what it was, whoever has it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { OpOf } from "../../src/core/op.js";
import { type NativeHost, scratch, start } from "../process/harness.js";
import { conversation, kill, stored } from "./sessions.js";

const fork: OpOf<"session.open"> = { type: "session.open", session: "copy", open: "resume", sessionId: "s", fork: true };

function runs(home: string, ...responses: unknown[]): NativeHost {
  return start({ env: { PARLEY_HOME: home }, responses });
}

async function first(home: string): Promise<NativeHost> {
  const host = runs(home, { say: "Hello." }, { say: "Still here." });
  await host.open();
  host.prompt("Hi");
  await host.turnEnded();
  return host;
}

/** The model of the copy is this process's own script. */
async function opened(host: NativeHost, op: OpOf<"session.open">) {
  const model = host.child.spawnargs[host.child.spawnargs.indexOf("--model") + 1];
  host.send({ ...op, config: { provider: "rehearsal", model } });
  return host.next("session.ready");
}

const logOf = (home: string, id = "s"): string => readFileSync(join(home, "sessions", id, "log.jsonl"), "utf8");

test("the copy has the opener's handle and the whole conversation; the original is the same to the byte", async () => {
  const home = scratch();
  expect(await (await first(home)).finish()).toBe(0);
  const before = logOf(home);
  const host = runs(home, { say: "I am a copy." });
  expect(await opened(host, { ...fork, after: { seq: -1 } })).toMatchObject({ sessionId: "copy", session: "copy" });
  expect(host.ofType("user.message")).toMatchObject([{ session: "copy", replay: true, parts: [{ text: "Hi" }] }]);
  host.prompt("Who are you?", { session: "copy" });
  await host.next("turn.ended", ({ replay }) => replay !== true);
  expect(await host.finish()).toBe(0);
  expect(logOf(home)).toBe(before);
  expect(conversation(await stored(home))).toEqual(["user: Hi", "assistant: Hello."]);
  expect(conversation(await stored(home, "copy"))).toEqual([
    "user: Hi",
    "assistant: Hello.",
    "user: Who are you?",
    "assistant: I am a copy.",
  ]);
  const list = runs(home, { say: "never" });
  list.send({ type: "session.list", id: "l" });
  const { data } = await list.next("reply");
  expect(data).toMatchObject({
    stored: expect.arrayContaining([expect.objectContaining({ id: "s" }), expect.objectContaining({ id: "copy" })]),
  });
  expect(await list.finish()).toBe(0);
});

test("another process holds the original, and keeps it", async () => {
  const home = scratch();
  const holder = await first(home);
  const host = runs(home, { say: "A copy." });
  host.send({ type: "session.open", session: "plain", open: "resume", sessionId: "s" });
  expect(await host.next("reply")).toMatchObject({ status: "error", fault: { code: "session" } });
  await opened(host, fork);
  host.prompt("Go.", { session: "copy" });
  await host.turnEnded();
  holder.prompt("And you?");
  expect(await holder.turnEnded(2)).toMatchObject({ outcome: "completed" });
  expect([await host.finish(), await holder.finish()]).toEqual([0, 0]);
  expect(conversation(await stored(home)).at(-1)).toBe("assistant: Still here.");
  expect(conversation(await stored(home, "copy")).at(-1)).toBe("assistant: A copy.");
});

test("in the middle of the holder's turn: the copy goes on from there, and the holder's call runs on", async () => {
  const [home, cwd] = [scratch(), scratch()];
  const holder = start({
    cwd,
    env: { PARLEY_HOME: home },
    responses: [{ call: { tool: "Bash", args: { command: "until [ -e go ]; do sleep 0.02; done" }, id: "c" } }, { say: "Done." }],
  });
  await holder.open({ mode: "yolo" });
  holder.prompt("Wait.");
  await holder.next("tool.started");
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ expect: { toolResult: "/is unknown/" }, say: "A copy." }] });
  expect(await opened(host, fork)).toMatchObject({ unfinished: "turn" });
  host.send({ type: "turn.prompt", session: "copy", parts: [], continues: true });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  host.send({
    type: "turn.prompt",
    session: "copy",
    parts: [],
    calls: [{ name: "Write", args: { file_path: "go", content: "" } }],
  });
  await host.turnEnded(2);
  expect(await holder.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(holder.ofType("tool.ended")).toMatchObject([{ status: "ok" }]);
  expect([await host.finish(), await holder.finish()]).toEqual([0, 0]);
});

test("a handle that is taken gets a minted name, also when it is the original's own", async () => {
  const home = scratch();
  expect(await (await first(home)).finish()).toBe(0);
  const host = runs(home, { say: "never" });
  const { sessionId } = await opened(host, { type: "session.open", session: "s", open: "resume", fork: true });
  expect(sessionId).toBeDefined();
  expect(sessionId).not.toBe("s");
  expect(await host.finish()).toBe(0);
  expect(conversation(await stored(home, sessionId))).toEqual(["user: Hi", "assistant: Hello."]);
});

test("what is not there cannot be copied, and leaves nothing behind", async () => {
  const host = runs(scratch(), { say: "never" });
  host.send({ ...fork, sessionId: "nobody" });
  expect(await host.next("reply")).toMatchObject({
    status: "error",
    fault: { code: "session", message: expect.stringContaining("nobody") },
  });
  host.send({ type: "session.list" });
  expect(await host.next("reply", ({ to }) => to === "session.list")).toMatchObject({ data: { stored: [] } });
  expect(await host.finish()).toBe(0);
});

test("killed with -9 right after it was opened: the copy is whole", async () => {
  const home = scratch();
  expect(await (await first(home)).finish()).toBe(0);
  const host = runs(home, { say: "never" });
  await opened(host, fork);
  await kill(host);
  expect(conversation(await stored(home, "copy"))).toEqual(["user: Hi", "assistant: Hello."]);
});
