/** Driving a Wayland Core: what its document says, what real ones say beyond it, and one that is no longer there. */
import { describe, expect, it } from "vitest";
import { wayland } from "../../src/dialects/wayland/index.js";
import type { ConnectOptions } from "../../src/link/connect.js";
import { Driver } from "../aionrs/driver.js";
import { PARLEY, script } from "../process/harness.js";
import { fixture } from "../support/processes.js";

function real(habit = "plain", options: ConnectOptions = {}): Driver {
  return new Driver(wayland, [process.execPath, fixture("wayland.mjs"), habit], options);
}

describe("a real one", () => {
  it("D40: is ready without a name of its session, and what only it knows is passed on", async () => {
    const agent = real();
    agent.open();
    const ready = await agent.next("session.ready");
    expect([ready.sessionId, ready.version, ready.config]).toEqual([undefined, "0.13.4", { mode: "default" }]);
    expect(ready.capabilities).toMatchObject({ thinking: true, efforts: [], modes: ["default", "auto_edit", "yolo"] });
    await agent.next("other", ({ name }) => name === "something_new");
    expect(agent.of("other").map(({ name }) => name)).toEqual(["execution_policy", "capability_activation", "something_new"]);
    expect(agent.of("catalog.updated")).toMatchObject([{ mcpServers: [{ name: "boot", status: "ready" }] }]);
  });

  it("tells this run's share of the counts, and how the turn finished", async () => {
    const agent = real();
    agent.open();
    for (const turn of ["one", "long"]) {
      agent.prompt(turn, turn);
      await agent.ended(turn);
    }
    expect(agent.of("turn.ended")).toMatchObject([
      { outcome: "completed", finish: "stop", usage: { input: 10, output: 5 } },
      { outcome: "completed", finish: "length", usage: { input: 10, output: 5 } },
    ]);
    expect(agent.text("one")).toBe("You said one");
  });

  it("announces calls, tells how they go on, falls over, and asks in two ways", async () => {
    const agent = real();
    agent.open();
    agent.prompt("m1", "tools");
    await agent.next("approval.requested", ({ calls }) => calls[0]?.id === "t2");
    agent.answer("t2", "allow");
    await agent.next("approval.requested", ({ calls }) => calls[0]?.id === "t3");
    agent.answer("t3", "deny", "not now");
    await agent.ended("m1");
    expect(agent.of("approval.requested")).toHaveLength(2);
    expect(agent.of("tool.progress").map(({ text }) => text)).toEqual(["scout: found it\n", "half\n"]);
    expect(agent.of("tool.ended").map(({ call, status, reason }) => [call, status, reason])).toEqual([
      ["t1", "ok", undefined],
      ["t2", "failed", "it fell over"],
      ["t3", "denied", "refused"],
    ]);
  });

  it("gets its servers before any other word, and each one's fate answers who asked", async () => {
    const agent = real();
    agent.open({ mode: "auto_edit", mcpServers: { first: { command: "x" } } });
    await agent.next("catalog.updated", ({ mcpServers }) => mcpServers?.some(({ name }) => name === "first") === true);
    await agent.next("session.updated", ({ config }) => config?.mode === "auto_edit");
    const [servers] = agent.of("catalog.updated").slice(-1);
    expect(servers?.mcpServers?.find(({ name }) => name === "first")).toMatchObject({
      status: "ready",
      tools: [{ name: "one" }, { name: "two" }],
    });
  });

  it("changes its mode and its model, tells when nothing changed, and may refuse", async () => {
    const agent = real();
    agent.open();
    const patches = [{ mode: "yolo" as const }, { model: "n" }, { effort: "high" }];
    for (const [at, patch] of patches.entries()) {
      agent.send({ type: "session.configure", id: `c${at}`, session: "s", patch });
      expect(await agent.next("session.updated", ({ parent }) => parent === `c${at}`)).toMatchObject({ config: patch });
    }
    const strict = real("strict");
    strict.open();
    strict.send({ type: "session.configure", id: "c", session: "s", patch: { mode: "yolo" } });
    expect(await strict.next("reply", ({ parent }) => parent === "c")).toMatchObject({
      status: "error",
      fault: { message: "set_mode: 'force' refused: start with --force" },
    });
  });

  it("of another major version, or with something critical that nobody knows, is ended and says why", async () => {
    const later = real("version");
    later.open();
    expect(await later.next("reply")).toMatchObject({
      status: "error",
      fault: { code: "version", message: expect.stringContaining("1.0.0") },
    });
    const critical = real("critical");
    critical.open();
    expect(await critical.next("error")).toMatchObject({ fault: { code: "version", message: expect.stringContaining("something_new") } });
    await critical.next("session.ended");
  });
});

describe("the heartbeat", () => {
  it("asks while a turn runs, and whoever answers may take its time; nobody else hears of it", async () => {
    const agent = real("plain", { heartbeat: { every: 0.02, within: 30 } });
    agent.open();
    agent.prompt("m1", "pings");
    expect(await agent.ended("m1")).toMatchObject({ outcome: "completed" });
    expect(agent.of("reply")).toEqual([]);
  });

  it.each(["deaf", "dazed"])("ends one that is %s: the turn fails with a clear text, and so does what waits", async (habit) => {
    const agent = real(habit, { heartbeat: { every: 0.05, within: 0.4 } });
    agent.open();
    agent.prompt("m1", "hello");
    agent.prompt("m2", "waits");
    const message = expect.stringMatching(/said nothing for 0\.4 s/);
    expect(await agent.ended("m1")).toMatchObject({ outcome: "failed", fault: { code: "launch", message } });
    expect(await agent.next("reply", ({ parent }) => parent === "op-m2")).toMatchObject({ status: "error", fault: { message } });
    await agent.next("session.ended");
  });

  it("is declared by the dialect, and the host may ask for itself as well", async () => {
    expect(wayland.heartbeat).toEqual({ every: 30, within: 90 });
    const agent = real("plain", { heartbeat: { every: 0.02, within: 30 } });
    agent.open();
    agent.send({ type: "ping", id: "mine", session: "s" });
    expect(await agent.next("reply")).toMatchObject({ to: "ping", status: "ok", parent: "mine" });
  });
});

describe("our own", () => {
  it("is driven as any other: servers, configuration, commands, approvals", async () => {
    const model = script([{ call: { tool: "Bash", args: { command: "echo hi" }, id: "t1" } }, { say: "done" }]);
    const agent = new Driver(wayland, [process.execPath, PARLEY, "--dialect", "wayland", "--provider", "rehearsal", "--model", model]);
    agent.open({ outputCompaction: "safe", mcpServers: { gone: { command: "/nonexistent" } } });
    await agent.next("catalog.updated", ({ mcpServers }) => mcpServers?.[0]?.status === "failed");
    agent.send({ type: "turn.prompt", id: "h", session: "s", turn: "help", parts: [], command: { name: "help" } });
    await agent.ended("help");
    expect(agent.of("notice").some(({ text }) => text.includes("/compact"))).toBe(true);
    agent.prompt("m1", "go");
    await agent.next("approval.requested");
    agent.answer("t1", "allow");
    expect(await agent.ended("m1")).toMatchObject({ outcome: "completed", finish: "stop" });
    expect(agent.text("m1")).toBe("done");
  });
});
