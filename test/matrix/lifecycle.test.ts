/** A relay between two processes when one of the three does not behave: nothing is left behind, nothing is lost, nobody is blocked. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { environment, NativeHost, PARLEY, processesWith, scratch, until } from "../process/harness.js";
import { allIdle } from "../support/load.js";
import { agents, driving } from "./agents.js";

const PIECES = 40_000;

function start(drive: string): { host: NativeHost; ours(): number[] } {
  const mark = `RELAYED=${randomBytes(9).toString("hex")}`;
  const [name = "", value = ""] = mark.split("=");
  const args = [
    "relay",
    "--as",
    "native",
    "--drive",
    drive,
    "--check",
    ...driving(drive),
    "--",
    process.execPath,
    PARLEY,
    ...(agents[drive] ?? []),
  ];
  const child = spawn(process.execPath, [PARLEY, ...args], { cwd: scratch(), env: environment({ [name]: value }) });
  return { host: new NativeHost(child), ours: () => processesWith(mark) };
}

describe.each(Object.keys(agents))("between a native host and a %s agent", (drive) => {
  it("a relay that is killed leaves neither agent nor tools behind", async () => {
    const { host, ours } = start(drive);
    await host.open({ mode: "yolo" });
    host.prompt("run `sleep 300 & sleep 301`");
    // No mode can be told to it, and it asks.
    if (drive === "agentproc@0.4") host.allow((await host.next("approval.requested")).calls[0]?.id ?? "");
    await until(() => ours().length >= 4);
    host.child.kill("SIGKILL");
    await until(() => ours().length === 0);
  });

  it("a host that listens no more ends them all, quietly", async () => {
    const { host, ours } = start(drive);
    await host.open();
    host.prompt("stream 20000 pieces then wait forever");
    await host.next("text.delta");
    host.child.stdout.destroy();
    await host.exited;
    expect(host.stderr).toBe("");
    await until(() => ours().length === 0);
  });

  it("a host that does not read holds the agent back, can still interrupt, and gets the end", async () => {
    const { host, ours } = start(drive);
    await host.open();
    host.child.stdout.pause();
    host.prompt(`stream ${PIECES} pieces of 'and here are some more words to be carried along '`);
    await allIdle(ours);
    host.send({ type: "turn.interrupt", session: "s" });
    host.child.stdout.resume();
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(host.ofType("text.delta").length).toBeLessThan(PIECES);
    expect(await host.finish()).toBe(0);
  });
});

/** The bound is the link's, whatever the wire: a process a connection, a session and a turn. */
describe.each(["qwen", "aionrs", "agentproc@0.4"])("between a native host and a %s agent", (drive) => {
  it("a host that reads late gets everything, in order", async () => {
    const { host, ours } = start(drive);
    await host.open();
    host.child.stdout.pause();
    host.prompt(`stream ${PIECES} pieces`);
    await allIdle(ours);
    host.child.stdout.resume();
    await host.turnEnded();
    expect(host.ofType("text.delta")).toHaveLength(PIECES);
    expect(host.text() === "word ".repeat(PIECES)).toBe(true);
    expect(await host.finish()).toBe(0);
  });
});
