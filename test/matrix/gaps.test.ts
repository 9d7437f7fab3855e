/** What an aionrs agent cannot be told, as a native host sees it: answered, queued or refused, and never silence. */
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { aionrs } from "../../src/dialects/aionrs/index.js";
import { connect } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";
import type { Event } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";
import { environment, NativeHost, PARLEY, processesWith, scratch, until } from "../process/harness.js";
import { fixture } from "../support/processes.js";
import { agents } from "./agents.js";

function start(files: Record<string, string> = {}, mark = "unmarked"): NativeHost {
  const agent = [process.execPath, PARLEY, ...(agents["aionrs"] ?? [])];
  const args = [PARLEY, "relay", "--as", "native", "--drive", "aionrs", "--check", "--", ...agent];
  return new NativeHost(spawn(process.execPath, args, { cwd: scratch(files), env: environment({ GAPS: mark }) }));
}

async function opened(files?: Record<string, string>): Promise<NativeHost> {
  const host = start(files);
  await host.open();
  return host;
}

/** Refused with a reply, and told to people. */
async function refused(host: NativeHost, op: Op, why: RegExp): Promise<void> {
  host.send({ session: "s", ...op, id: op.type });
  expect(await host.next("reply", (event) => event.parent === op.type)).toMatchObject({
    to: op.type,
    status: "error",
    fault: { code: "unsupported", message: expect.stringMatching(why) },
  });
  await host.next("notice", (event) => event.level === "warning" && why.test(event.text));
}

async function cleanExit(host: NativeHost): Promise<void> {
  expect(await host.finish()).toBe(0);
  expect(host.stderr).toBe("");
}

describe("a native host that drives aionrs", () => {
  it("steers: the words wait and become the next prompt; idle they change nothing", async () => {
    const host = await opened();
    host.send({ type: "turn.steer", session: "s", id: "idle", parts: [{ type: "text", text: "say never" }] });
    expect(await host.next("reply", (event) => event.parent === "idle")).toMatchObject({ status: "noop" });
    host.prompt("write 'x' to a.txt", { turn: "one" });
    const asked = await host.next("approval.requested");
    host.send({ type: "turn.steer", session: "s", turn: "one", id: "steer", parts: [{ type: "text", text: "say steered" }] });
    host.prompt("say last", { turn: "last" });
    host.allow(asked.calls[0]?.id ?? "");
    const next = await host.next("turn.ended", (event) => event.parent === "steer");
    expect(next.turn).not.toBe("one");
    await host.next("turn.ended", (event) => event.turn === "last");
    expect(host.text()).toMatch(/steered\nlast$/);
    await cleanExit(host);
  });

  it("cannot change, list or set what the wire has no word for", async () => {
    const host = await opened();
    await refused(host, { type: "session.configure", patch: { model: "other", mode: "yolo" } }, /cannot change model within a session/);
    await refused(host, { type: "session.list" }, /no session\.list/);
    await refused(host, { type: "session.watch", on: true }, /no session\.watch/);
    await refused(host, { type: "session.rewind", turn: "t" }, /no session\.rewind/);
    await refused(host, { type: "provider.set", name: "x", baseUrl: null }, /no provider\.set/);
    await refused(host, { type: "command.suggest", trigger: "slash", text: "/he" }, /no command\.suggest/);
    await refused(host, { type: "other", name: "thing" }, /no other/);
    await refused(host, { type: "turn.prompt", parts: [], command: { name: "help" } }, /cannot take a prompt with command/);
    host.prompt("write 'x' to a.txt");
    // Nothing of a configure that was refused counts.
    const [call] = (await host.next("approval.requested")).calls;
    host.allow(call?.id ?? "", { grant: "category", keep: "project" });
    await host.next("notice", (event) => /cannot keep a permission for later sessions/.test(event.text));
    await host.turnEnded();
    await cleanExit(host);
  });

  it("is answered a ping, with a session, without one and before there is any", async () => {
    const host = start();
    host.send({ type: "ping", id: "early" });
    expect(await host.next("reply", (event) => event.parent === "early")).toMatchObject({ to: "ping", status: "ok" });
    await host.open();
    host.send({ type: "ping", id: "plain" }, { type: "ping", session: "s", id: "named" });
    for (const id of ["plain", "named"])
      expect(await host.next("reply", (event) => event.parent === id)).toMatchObject({ to: "ping", status: "ok" });
    await cleanExit(host);
  });

  it("cannot change the arguments of a call: it is denied, with the reason, and grants nothing", async () => {
    const host = await opened();
    host.prompt("write 'x' to a.txt", { turn: "one" });
    const [call] = (await host.next("approval.requested")).calls;
    host.allow(call?.id ?? "", { args: { file_path: "b.txt", content: "y" }, grant: "tool" });
    expect(await host.next("tool.ended")).toMatchObject({
      status: "denied",
      reason: "this agent's protocol cannot carry changed arguments",
    });
    await host.turnEnded();
    expect(host.text()).toContain("cannot carry changed arguments");
    host.prompt("write 'x' to a.txt", { turn: "two" });
    const again = await host.next("approval.requested", (event) => event.turn === "two");
    host.deny(again.calls[0]?.id ?? "");
    await host.turnEnded(2);
    await cleanExit(host);
  });

  it("seeds: before the first prompt it is known, later the agent says that it was not used", async () => {
    const host = await opened();
    host.send({ type: "session.seed", session: "s", id: "seed", text: "The user's favourite number is 4711." });
    expect(await host.next("reply", (event) => event.parent === "seed")).toMatchObject({ status: "ok" });
    host.prompt("what do you know?");
    await host.turnEnded();
    expect(host.text()).toContain("4711");
    await cleanExit(host);
  });

  it("cancels a prompt that waits by naming its turn; the running one goes on", async () => {
    const host = await opened();
    host.prompt("write 'x' to a.txt", { turn: "one" });
    const [call] = (await host.next("approval.requested")).calls;
    host.prompt("say never", { turn: "two" });
    host.prompt("say three", { turn: "three" });
    host.send({ type: "turn.interrupt", session: "s", turn: "two", id: "cancel" });
    expect(await host.next("reply", (event) => event.parent === "cancel")).toMatchObject({ status: "ok" });
    host.allow(call?.id ?? "");
    await host.next("turn.ended", (event) => event.turn === "three");
    expect(host.ofType("turn.ended").map(({ turn, outcome }) => [turn, outcome])).toEqual([
      ["one", "completed"],
      ["two", "interrupted"],
      ["three", "completed"],
    ]);
    expect(host.text()).not.toContain("never");
    await cleanExit(host);
  });

  it("has two sessions at once, each in a process of its own; closing one ends its process", async () => {
    const mark = `gaps-${process.pid}-${Date.now()}`;
    const host = start({}, mark);
    const drivers = (): number => processesWith(`GAPS=${mark}`).length - 1;
    await host.open({}, "a");
    await host.open({}, "b");
    expect(drivers()).toBe(2);
    host.prompt("wait forever", { session: "a", turn: "a1" });
    await host.next("turn.started", (event) => event.session === "a");
    host.prompt("say hello", { session: "b", turn: "b1" });
    expect(await host.next("turn.ended", (event) => event.session === "b")).toMatchObject({ outcome: "completed" });
    host.send({ type: "session.open", session: "a", id: "twice", open: "new" });
    expect(await host.next("reply", (event) => event.parent === "twice")).toMatchObject({
      status: "error",
      fault: { message: expect.stringContaining("'a'") },
    });
    host.send({ type: "turn.prompt", id: "which", parts: [{ type: "text", text: "say to whom" }] });
    expect(await host.next("reply", (event) => event.parent === "which")).toMatchObject({ status: "error" });
    host.send({ type: "session.close", session: "a" });
    await host.next("session.ended", (event) => event.session === "a");
    expect(host.ofType("turn.ended").find((event) => event.session === "a")).toMatchObject({ outcome: "interrupted" });
    await until(() => drivers() === 1);
    host.prompt("say still here", { session: "b", turn: "b2" });
    expect(await host.next("turn.ended", (event) => event.turn === "b2")).toMatchObject({ outcome: "completed" });
    await host.open({}, "a");
    await cleanExit(host);
    await until(() => processesWith(`GAPS=${mark}`).length === 0);
  });
});

describe("a shutdown", () => {
  it("interrupts at once and is a clean end, though the process had to be told by a signal", async () => {
    const host = await opened();
    host.prompt("wait forever");
    await host.next("turn.started");
    host.send({ type: "shutdown", when: "now" });
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(host.ofType("turn.ended")).toMatchObject([{ outcome: "interrupted" }]);
    expect(host.stderr).toBe("");
  });
});

describe("an agent that never gets ready", () => {
  it("is ended after a while, and its opener hears why", async () => {
    const dial = () =>
      spawnTransport({ argv: [process.execPath, fixture("fake-native.mjs"), "silent"], env: environment() }, { framing: "json" });
    const agent = connect(aionrs, dial, { readySeconds: 0.3 });
    await agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    await agent.send({ type: "turn.prompt", id: "p", session: "s", parts: [] });
    const heard: Event[] = [];
    for await (const event of agent.events) {
      heard.push(event);
      if (event.type === "reply" && event.parent === "p") void agent.send({ type: "shutdown", when: "drained" });
    }
    const fault = { code: "launch", message: "The agent was not ready after 0.3 s and was ended" };
    expect(heard).toMatchObject([
      { type: "reply", to: "session.open", parent: "o", status: "error", fault },
      { type: "reply", to: "turn.prompt", parent: "p", status: "error", fault },
      { type: "closed", reason: fault.message },
    ]);
  });
});
