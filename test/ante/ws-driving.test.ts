/** Parley drives a daemon that listens on a WebSocket: our own, through the relay. */
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { environment, NativeHost, PARLEY, run, scratch, script } from "../process/harness.js";
import { serveWs } from "./ws-client.js";

function relay(url: string, ...args: string[]): NativeHost {
  const words = ["relay", "--as", "native", "--drive", "ante", "--url", url, "--provider", "rehearsal", "--check", ...args];
  return new NativeHost(spawn(process.execPath, [PARLEY, ...words], { cwd: scratch(), env: environment() }));
}

describe("relay --url", () => {
  it("drives a session: text, an approval, an interrupt, the end", async () => {
    const server = await serveWs();
    const model = script([
      { say: "hello" },
      { call: { tool: "Bash", args: { command: "echo driven" }, id: "b" } },
      { say: "done" },
      { call: { tool: "Bash", args: { command: "sleep 300" }, id: "c" } },
    ]);
    const host = relay(server.url, "--model", model);
    await host.open();
    host.prompt("hi");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    host.prompt("run");
    const asked = await host.next("approval.requested");
    host.allow(asked.calls[0]?.id ?? "");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("hello\ndone");
    host.prompt("hang");
    await host.next("approval.requested", (event) => event !== asked);
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded(3)).toMatchObject({ outcome: "interrupted" });
    expect(await host.finish()).toBe(0);
    // The relay has left; the server has not.
    expect((await server.session([{ say: "alive" }])).of("SessionStart")).toHaveLength(1);
  });

  it("leaves the server to its other clients, however it leaves", async () => {
    const server = await serveWs();
    const bystander = await server.session([{ say: "alive" }]);
    const ended = relay(server.url, "--model", "rehearsal");
    await ended.open();
    ended.prompt("wait forever");
    await ended.next("turn.started");
    ended.child.kill("SIGTERM");
    expect((await ended.exited).code).toBe(143);
    expect(ended.ofType("turn.ended")).toMatchObject([{ outcome: "interrupted" }]);
    const host = relay(server.url, "--model", script([{ say: "second" }]));
    await host.open();
    host.send({ type: "session.close", session: "s" });
    await host.next("session.ended");
    await host.open({}, "t");
    host.prompt("hi", { session: "t" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
    bystander.send({ UserInput: "hi" });
    expect(await bystander.next("TurnEnd")).toMatchObject({ status: "Completed" });
  });

  it("drives another dialect that a server speaks", async () => {
    const server = await serveWs({ args: ["--dialect", "native", "--provider", "rehearsal"] });
    const host = relay(server.url, "--drive", "native", "--model", script([{ say: "native" }]));
    await host.open();
    host.prompt("hi");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.text()).toBe("native");
    expect(await host.finish()).toBe(0);
  });

  it("with a token, when the server asks for one", async () => {
    const file = `${scratch({ token: "open-sesame" })}/token`;
    const server = await serveWs({ args: ["--token-file", file] });
    const host = relay(server.url, "--model", script([{ say: "hello" }]), "--token-file", file);
    await host.open();
    host.prompt("hi");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  });

  it("a daemon that dies in the middle of a turn ends it once, with the reason", async () => {
    const server = await serveWs();
    const host = relay(server.url, "--model", "rehearsal");
    await host.open();
    host.prompt("wait forever");
    await host.next("turn.started");
    server.child.kill("SIGKILL");
    expect(await host.turnEnded()).toMatchObject({ outcome: "failed" });
    expect(JSON.stringify(host.events)).toContain("closed with 1006");
  });

  it("nobody there is the answer to the open", async () => {
    const host = relay("ws://127.0.0.1:1", "--model", "rehearsal");
    host.send({ type: "session.open", session: "s", open: "new", id: "o" });
    expect(await host.next("reply", (event) => event.parent === "o")).toMatchObject({
      status: "error",
      fault: { message: expect.stringContaining("Could not connect to ws://127.0.0.1:1") },
    });
  });

  it.each([
    [["--url", "http://127.0.0.1:1"], "WebSocket address"],
    [["--url", "ws://127.0.0.1:1", "--", "parley"], "exclude each other"],
    [["--token-file", "x", "--", "parley"], "without --url"],
    [["--drive", "aionrs", "--url", "ws://127.0.0.1:1"], "use COMMAND"],
  ])("%j is wrong usage", async (args, words) => {
    const { code, stderr } = await run(["relay", "--as", "native", "--drive", "ante", ...args]);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  });

  it("without a command and an address the program of the dialect is started, and named where it is missing", async () => {
    const open = { type: "session.open", session: "s", open: "new", id: "o", config: { provider: "rehearsal", model: "rehearsal" } };
    const input = `${JSON.stringify(open)}\n`;
    const { stderr } = await run(["relay", "--as", "native", "--drive", "ante"], { env: { PATH: "" }, input });
    expect(stderr).toContain("Could not start ante: 'ante' was not found");
  });
});
