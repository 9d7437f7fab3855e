/** SIGUSR1, which makes Node listen for a debugger, does nothing to the command: a debugger could read its keys. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { site } from "../bridge-serve/harness.js";
import { environment, PARLEY, processesWith, scratch, script, start, until } from "./harness.js";
import { hasTerminal, terminal } from "./terminal.js";

const DEBUGGER = /debugger|inspector/i;

it("SIGUSR1 does not open the inspector of a process that serves, and it goes on", async () => {
  const host = start();
  await host.open();
  host.child.kill("SIGUSR1");
  host.prompt("say still here");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(await host.finish()).toBe(0);
  expect(host.stderr).not.toMatch(DEBUGGER);
});

describe("nor of", () => {
  it.each([
    [["serve", "--ws", "127.0.0.1:0", "--provider", "rehearsal"], /listening on/],
    [["--json-stream", "--provider", "rehearsal"], /ready/],
  ])("parley %j", async (args, ready) => {
    const child = spawn(process.execPath, [PARLEY, ...args], { cwd: scratch(), env: environment() });
    let heard = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (heard += text.toString()));
    const exited = new Promise((resolve) => child.once("close", (code) => resolve(code)));
    onTestFinished(() => void child.kill("SIGKILL"));
    await until(() => ready.test(heard));
    child.kill("SIGUSR1");
    child.kill("SIGTERM");
    expect(await exited).toBe(143);
    expect(heard).not.toMatch(DEBUGGER);
  });

  it("a bridge", async () => {
    const bridge = await site()
      .start({ platforms: { me: { type: "console" } } })
      .up();
    bridge.child.kill("SIGUSR1");
    bridge.child.kill("SIGTERM");
    expect((await bridge.exited).code).toBe(143);
    expect(bridge.stderr).not.toMatch(DEBUGGER);
  });

  it.skipIf(!hasTerminal || process.platform !== "linux")("a chat", async () => {
    const model = script([{ say: "hello" }, { say: "goodbye" }]);
    const pty = terminal(["--provider", "rehearsal", "--model", model]);
    await pty.type("/help for commands", "one\r");
    await pty.type("hello", "");
    const [chat] = processesWith(model).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(process.execPath));
    expect(chat).toBeDefined();
    process.kill(chat ?? 0, "SIGUSR1");
    await pty.type("tokens in", "two\r");
    await pty.type("goodbye", "/quit\r");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).not.toMatch(DEBUGGER);
  });
});
