/** The command at a real terminal: what Ctrl-C and Ctrl-D do at an approval question, and a question that outlives its call. */
import { spawn } from "node:child_process";
import { existsSync, openSync, closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { environment, PARLEY, run, scratch } from "./harness.js";
import { CTRL_C, CTRL_D, CTRL_Z, hasTerminal, shellWith, terminal } from "./terminal.js";

const TRACE = /AbortError|node:internal|\n\s+at |unsettled/i;

describe.skipIf(!hasTerminal)("an approval question at a terminal", () => {
  it("takes yes and no", async () => {
    const yes = terminal(["-p", "run `echo gr''een`"]);
    await yes.type("Allow?", "y\r");
    expect([await yes.exited, yes.seen]).toEqual([0, expect.stringContaining("green")]);
    const no = terminal(["-p", "run `echo gr''een`"]);
    await no.type("Allow?", "not today\r");
    expect([await no.exited, no.seen]).toEqual([0, expect.stringMatching(/denied: .*\(not today\)/)]);
    expect(no.seen).not.toContain("green");
  });

  it("is left with Ctrl-C: the turn is interrupted", async () => {
    const pty = terminal(["-p", "run `echo x`"]);
    await pty.type("Allow?", CTRL_C);
    expect(await pty.exited).toBe(130);
    expect(pty.seen).toContain("cancelled");
    expect(pty.seen).not.toMatch(TRACE);
  });

  it("is denied with Ctrl-D, and the turn goes on", async () => {
    const pty = terminal(["-p", "run `echo x`"]);
    await pty.type("Allow?", CTRL_D);
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toMatch(/denied: .*\(the terminal was closed\)/);
    expect(pty.seen).not.toMatch(TRACE);
  });

  it("is withdrawn when its time is over", async () => {
    const home = scratch({ "config.yaml": "limits: { approvalSeconds: 1 }\n" });
    const pty = terminal(["-p", "run `echo x`"], { PARLEY_HOME: home });
    await pty.type("Allow?", "");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toContain("denied");
  });

  it("is asked once more for the next call, while the first one runs no longer", async () => {
    const cwd = scratch();
    const pty = terminal(["-p", "write 'one' to a.txt and write 'two' to b.txt"], {}, cwd);
    await pty.type("Allow?", "n\r");
    await pty.type("Allow?", "y\r");
    expect(await pty.exited).toBe(0);
    expect([existsSync(join(cwd, "a.txt")), readFileSync(join(cwd, "b.txt"), "utf8").trim()]).toEqual([false, "two"]);
  });
});

describe.skipIf(!hasTerminal)("parley -p at a terminal", () => {
  it("hears the answer to its question after Ctrl-Z and fg", async () => {
    const shell = await shellWith(["--provider", "rehearsal", "-p", "run `echo wa''ter`"], "nothing");
    await shell.type("Allow?", CTRL_Z);
    await shell.type("Stopped", "");
    await shell.type("shell: ", "fg\r");
    await shell.type("Allow?", "y\r");
    await shell.type("water", "");
    await shell.type("shell: ", "exit 7\r");
    expect(await shell.exited).toBe(7);
  });
});

describe("an answer that cannot be written", () => {
  it.skipIf(!existsSync("/dev/full"))("is told on stderr and by the exit code", async () => {
    const full = openSync("/dev/full", "w");
    onTestFinished(() => closeSync(full));
    const cwd = scratch({ "b.txt": "bread\n" });
    const child = spawn(process.execPath, [PARLEY, "-p", "read b.txt"], { cwd, env: environment(), stdio: ["ignore", full, "pipe"] });
    let stderr = "";
    child.stderr?.on("data", (text: Buffer) => {
      stderr += text.toString();
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
    expect(stderr.match(/^parley: .*$/gm)).toEqual([expect.stringContaining("ENOSPC")]);
  });

  it("is no fault when the reader has left", async () => {
    const child = spawn(process.execPath, [PARLEY, "-p", "read b.txt"], { cwd: scratch({ "b.txt": "bread\n" }), env: environment() });
    child.stdout.destroy();
    child.stdin.end();
    let stderr = "";
    child.stderr.on("data", (text: Buffer) => {
      stderr += text.toString();
    });
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
    expect(stderr).not.toMatch(/^parley: /m);
  });
});

describe("parley config", () => {
  it("shows what a key in the environment chooses, and not the key", async () => {
    const { stdout } = await run(["config"], { env: { ANTHROPIC_API_KEY: "sk-very-secret-key" } });
    expect(stdout).toMatch(/^provider +anthropic +ANTHROPIC_API_KEY$/m);
    expect(stdout).toMatch(/^apiKey +set \(hidden\) +ANTHROPIC_API_KEY$/m);
    expect(stdout).not.toContain("sk-very-secret-key");
  });
});
