/** An event loop that stands still: SIGTERM ends the process all the same, and so does its time; one that goes on has lost nothing. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { serveWs } from "../ante/ws-client.js";
import { fixture } from "../support/processes.js";
import { type NativeHost, processesWith, scratch, start, until } from "./harness.js";

interface Standstill {
  env: Record<string, string>;
  /** Resolves when the event loop stands. */
  begin(): Promise<void>;
  end(): void;
}

function standstill(config = ""): Standstill {
  const home = scratch({ "config.yaml": config });
  const file = join(home, "stand");
  return {
    env: { PARLEY_HOME: home, STANDSTILL: file, NODE_OPTIONS: `--import=${pathToFileURL(fixture("standstill.mjs")).href}` },
    begin() {
      writeFileSync(file, "");
      return until(() => existsSync(`${file}.begun`), "the event loop to stand");
    },
    end: () => rmSync(file),
  };
}

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

function watcherOf(host: NativeHost): number | undefined {
  return processesWith("parley-watcher").find((pid) => childrenOf(host.child.pid).includes(pid));
}

/** Processes that the watcher starts while it looks at a loop that stands. */
function looksAfter(host: NativeHost): boolean {
  const watcher = watcherOf(host);
  return watcher !== undefined && childrenOf(watcher).length > 0;
}

describe.runIf(process.platform === "linux")("a process whose event loop stands still", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("is ended by %s, with a word on stderr", async (signal) => {
    const loop = standstill();
    const host = start({ env: loop.env });
    await host.open();
    host.prompt("wait forever");
    await host.next("turn.started");
    await loop.begin();
    host.child.kill(signal);
    expect(await host.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(host.stderr).toBe(`parley: ended: the event loop stands still and does not see the signal to end (${signal})\n`);
  });

  it("ends by itself after limits.stuckSeconds, and with it what it started", async () => {
    const tag = `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;
    const loop = standstill("limits: { stuckSeconds: 2 }");
    const command = `env -i sh -c 'while :; do sleep 1; done' ${tag}`;
    const host = start({ env: loop.env, args: ["--auto-approve"], responses: [{ call: { tool: "Bash", args: { command } } }] });
    await host.open();
    host.prompt("go");
    await until(() => processesWith(tag).length > 0);
    await loop.begin();
    expect(await host.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(host.stderr).toMatch(/^parley: ended: the event loop stood still for 2 s \(limits\.stuckSeconds [^\n]*\n$/);
    await until(() => processesWith(tag).length === 0);
  });

  it("and serves WebSockets is ended by SIGTERM, too", async () => {
    const loop = standstill();
    const server = await serveWs({ env: loop.env });
    const client = await server.session([{ say: "hi" }]);
    client.send({ UserInput: "go" });
    await client.next("TurnEnd");
    await loop.begin();
    server.child.kill("SIGTERM");
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(server.stderr).toContain("parley: ended: ");
  });

  it("goes on when it can: the end of a command that came in the meantime is not lost", async () => {
    const loop = standstill();
    const cwd = scratch();
    const command = "until [ -e go ]; do sleep 0.05; done; echo over";
    const responses = [{ call: { tool: "Bash", args: { command } } }, { say: "done" }];
    const host = start({ cwd, env: loop.env, args: ["--auto-approve"], responses });
    await host.open();
    host.prompt("go");
    await host.next("tool.started");
    await until(() => childrenOf(host.child.pid).length > 1);
    await loop.begin();
    await until(() => looksAfter(host), "the watcher to look");
    writeFileSync(join(cwd, "go"), "");
    // By then the watcher has seen the signal of the command's end, and has looked once more.
    await until(() => readdirSync(cwd).includes("go") && ended(host), "the command to end");
    await until(() => !looksAfter(host), "a look to end");
    await until(() => looksAfter(host), "the next look");
    loop.end();
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("done");
    expect(await host.finish()).toBe(0);
    expect(host.stderr).toBe("");
  });
});

/** Its command is dead and not buried. */
function ended(host: NativeHost): boolean {
  return childrenOf(host.child.pid).some((pid) => /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8")));
}

describe.runIf(process.platform === "linux")("the watcher", () => {
  it("is not there before the first prompt, and leaves with the process", async () => {
    const host = start();
    await host.open();
    expect(childrenOf(host.child.pid)).toEqual([]);
    host.prompt("say hi");
    await host.turnEnded();
    const watcher = watcherOf(host);
    expect(watcher).toBeDefined();
    expect(await host.finish()).toBe(0);
    await until(() => !processesWith("parley-watcher").includes(watcher ?? 0));
  });
});
