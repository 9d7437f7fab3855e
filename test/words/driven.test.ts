/** The same words towards a driven agent: the native wire carries them, the others refuse what they cannot hold, before anything runs. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Op } from "../../src/core/op.js";
import { agents, driving } from "../matrix/agents.js";
import { environment, NativeHost, PARLEY, scratch } from "../process/harness.js";

function relay(drive: string, cwd: string, home = scratch()): NativeHost {
  const agent = [process.execPath, PARLEY, ...(agents[drive] ?? [])];
  const args = [PARLEY, "relay", "--as", "native", "--drive", drive, "--check", ...driving(drive), "--", ...agent];
  return new NativeHost(spawn(process.execPath, args, { cwd, env: environment({ PARLEY_HOME: home }) }));
}

const write = { id: "c1", name: "Write", args: { file_path: "a.txt", content: "one" } };

describe.each(["aionrs", "aionrs@0.2", "wayland", "ante"])("%s", (drive) => {
  test.each<[string, Partial<Extract<Op, { type: "session.open" }>>]>([
    ["fork", { open: "resume", sessionId: "x", fork: true }],
    ["directories", { config: { directories: ["."] } }],
    ["maxToolCalls", { config: { maxToolCalls: 1 } }],
    ["maxSeconds", { config: { maxSeconds: 1 } }],
    ["maxCost", { config: { maxCost: 1 } }],
    ["nesting", { config: { nesting: 0 } }],
  ])("refuses a session with %s, and what is said to it; without it there is one", async (word, more) => {
    const host = relay(drive, scratch());
    host.send({ type: "session.open", id: "o", session: "s", open: "new", ...more });
    host.send({ type: "turn.prompt", id: "p", session: "s", parts: [{ type: "text", text: "say hi" }] });
    expect(await host.next("reply", ({ parent }) => parent === "o")).toMatchObject({
      status: "error",
      fault: { code: "unsupported", message: expect.stringContaining(word) },
    });
    expect(await host.next("reply", ({ parent }) => parent === "p")).toMatchObject({ status: "error", fault: { code: "session" } });
    expect(host.ofType("session.ready")).toEqual([]);
    await host.open();
    host.prompt("say hi");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });

  test("refuses a prompt with calls and one that continues, and takes the next", async () => {
    const cwd = scratch();
    const host = relay(drive, cwd);
    await host.open({ mode: "yolo" });
    host.send({ type: "turn.prompt", id: "calls", session: "s", parts: [{ type: "text", text: "say no" }], calls: [write] });
    host.send({ type: "turn.prompt", id: "continues", session: "s", parts: [], continues: true });
    for (const word of ["calls", "continues"])
      expect(await host.next("reply", ({ parent }) => parent === word)).toMatchObject({
        status: "error",
        fault: { code: "unsupported", message: expect.stringContaining(word) },
      });
    host.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say hi" }], trace: "00-a-b-01" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).not.toContain("no");
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });
});

test("native carries all of them", async () => {
  const [cwd, home] = [scratch(), scratch()];
  const host = relay("native", cwd, home);
  await host.open({ mode: "yolo", directories: ["."], maxToolCalls: 5, maxSeconds: 60, maxCost: 1, nesting: 1 });
  host.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say hi" }], calls: [write] });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  host.send({ type: "turn.prompt", id: "go", session: "s", parts: [], continues: true });
  expect(await host.next("reply", ({ parent }) => parent === "go")).toMatchObject({ status: "error", fault: { code: "session" } });
  host.send({ type: "session.open", id: "f", session: "copy", open: "resume", sessionId: "s", fork: true });
  expect(await host.next("session.ready", ({ session }) => session === "copy")).toMatchObject({ sessionId: "copy" });
  expect(await host.finish()).toBe(0);
  const again = relay("native", cwd, home);
  again.send({ type: "session.open", session: "s", open: "resume" });
  expect(await again.next("session.ready")).toMatchObject({ sessionId: "s" });
  expect(await again.finish()).toBe(0);
});
