/** MCP servers that misbehave: each costs one clear line, and the session goes on. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesWith, scratch, start, until, type NativeHost, type StartOptions } from "../process/harness.js";
import { calling, listening, official, outputText, raw, settled, warmUp, type Listener } from "./mcp-harness.js";

const RAW_HTTP = join(import.meta.dirname, "../fixtures/mcp/raw-http.mjs");

async function opened(servers: Record<string, unknown>, options: StartOptions = {}): Promise<NativeHost> {
  const host = start({ responses: ["still here"], ...options });
  await host.open({ mode: "yolo", mcpServers: servers });
  await settled(host);
  return host;
}

/** The session still takes a prompt. */
async function goesOn(host: NativeHost, nth = 1): Promise<void> {
  host.prompt("are you there?");
  expect((await host.turnEnded(nth)).outcome).toBe("completed");
  expect(await host.finish()).toBe(0);
}

test.each([
  ["dies-at-start", "s: it exited with code 3; it said: I need the file nowhere.conf"],
  ["hangs-at-start", "s: it was not ready within 0.5 s"],
  ["garbage-only", "s: it was not ready within 4 s; it printed 'Hello, I am no server', which is not a message"],
  ["floods", "s: it was ended after 1000 lines that are no messages; it printed 'this is no message', which is not a message"],
])("a server that %s fails with a reason", async (habit, line) => {
  const limits = new Map([
    ["hangs-at-start", { timeoutMs: 500 }],
    // Time enough to have begun to print.
    ["garbage-only", { timeoutMs: 4000 }],
  ]);
  const host = await opened({ s: raw(habit, [], limits.get(habit) ?? {}) });
  expect(warmUp(host)).toEqual([expect.any(String), line, "MCP ready: 0/1 servers connected, 0 tools registered."]);
  await goesOn(host);
});

test("a line beyond the cap ends the server that wrote it", async () => {
  const host = await opened({ s: raw("giant-line") });
  expect(warmUp(host)[1]).toContain("s: it was ended after a line that is too long");
  await goesOn(host);
});

test("a few lines that are no messages do no harm", async () => {
  const host = await opened({ s: raw("prints-garbage") }, { responses: calling("mcp__s__act") });
  await goesOn(host);
  expect(outputText(await host.next("tool.ended"))).toBe("acted act");
});

test("a name that is listed twice counts once; a list without end is cut; a definition without measure is left out", async () => {
  const host = await opened({ s: raw("none"), pages: raw("endless-pages"), huge: raw("huge-tool") });
  const { mcpServers = [] } = await settled(host);
  expect(mcpServers.map(({ name, tools }) => [name, tools.length])).toEqual([
    ["s", 2],
    ["pages", 100],
    ["huge", 1],
  ]);
  const warnings = host.ofType("notice").filter(({ level }) => level === "warning");
  expect(warnings.map(({ text }) => text).toSorted()).toEqual([
    "The MCP server 'huge' has a tool 'huge' whose definition is too long; it was left out",
    "The MCP server 'pages' lists more tools than Parley takes; the first 100 count",
  ]);
  await goesOn(host);
});

test("a server that only speaks the newer protocol is understood", async () => {
  const host = await opened({ s: raw("newer") }, { responses: calling("mcp__s__other") });
  await goesOn(host);
  expect(outputText(await host.next("tool.ended"))).toBe("acted other");
});

test("an interrupt does not wait for a server that hangs in a call, and tells it", async () => {
  const told = join(scratch(), "cancelled.json");
  const host = await opened({ s: raw("hangs-in-call", [told]) }, { responses: [...calling("mcp__s__act"), "still here"] });
  host.prompt("go");
  await until(() => existsSync(`${told}.called`));
  host.send({ type: "turn.interrupt", session: "s" });
  expect((await host.turnEnded()).outcome).toBe("interrupted");
  expect(await host.next("tool.ended")).toMatchObject({ status: "cancelled" });
  await until(() => existsSync(told) && readFileSync(told, "utf8") !== "");
  expect(JSON.parse(readFileSync(told, "utf8"))).toHaveProperty("requestId");
  await goesOn(host, 2);
});

test("a server that dies is started again; the call that was lost is told as lost and is not made twice", async () => {
  const calls = join(scratch(), "calls");
  const call = (n: number) => ({ call: { tool: "mcp__s__act", args: { n } } });
  const host = await opened({ s: raw("dies-once", [calls]) }, { responses: [call(1), call(2), "ok", call(3), "still here"] });
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("tool.ended").map(outputText)).toEqual([
    "The MCP server 's' was lost during the call: it exited with code 7",
    "acted act",
  ]);
  expect((await settled(host, 2)).mcpServers).toMatchObject([{ status: "ready", tools: [{ name: "act" }, { name: "other" }] }]);
  const told = host.ofType("notice").flatMap(({ level, text, block }) => (block === undefined ? [`${level}: ${text}`] : []));
  expect(told).toEqual([
    "warning: The MCP server 's' is gone: it exited with code 7. It is being connected anew.",
    "info: The MCP server 's' is back.",
  ]);
  await goesOn(host, 2);
  expect(readFileSync(calls, "utf8")).toBe("1\n2\n3\n");
});

test("a server that dies for good is given up: a call that waits for it fails, and its tools are gone from the next turn on", async () => {
  const again = { call: { tool: "mcp__s__act", args: {} } };
  const host = await opened(
    { s: raw("dies-for-good", [join(scratch(), "dead")]) },
    { responses: [again, again, "ok", again, "still here"] },
  );
  host.prompt("go");
  await host.turnEnded();
  expect(host.ofType("tool.ended").map(outputText)).toEqual([
    "The MCP server 's' was lost during the call: it exited with code 7; it said: I was called, and now I die",
    "The MCP server 's' is not connected: it exited with code 3; it said: I need the file nowhere.conf",
  ]);
  const after = await settled(host, 2);
  expect(after.mcpServers).toMatchObject([{ status: "failed", tools: [], error: expect.stringContaining("code 3") }]);
  expect(host.ofType("notice").at(-1)?.text).toContain("The MCP server 's' stays away: it exited with code 3");
  await goesOn(host, 2);
  expect(outputText(host.ofType("tool.ended")[2] ?? { type: "tool.ended", call: "", status: "ok" })).toContain("Unknown tool: mcp__s__act");
});

test("an interrupt and an end do not wait for a server that is being connected anew", async () => {
  const again = { call: { tool: "mcp__s__act", args: {}, id: "second" } };
  const host = await opened({ s: raw("dies-for-good", [join(scratch(), "dead")]) }, { responses: [calling("mcp__s__act")[0], again] });
  host.prompt("go");
  await host.next("tool.started", ({ call }) => call === "second");
  host.send({ type: "turn.interrupt", session: "s" });
  expect((await host.turnEnded()).outcome).toBe("interrupted");
  expect(await host.finish()).toBe(0);
  expect(host.ofType("notice").filter(({ text }) => text.includes("stays away"))).toEqual([]);
});

test.each(["giant", "deep"])("an answer that is too %s fails its call at once", async (habit) => {
  const host = await opened({ s: raw(`answers-${habit}`) }, { responses: calling("mcp__s__act") });
  host.prompt("go");
  await host.turnEnded();
  expect(outputText(await host.next("tool.ended"))).toContain("it was ended after a line that is too long");
  expect(await host.finish()).toBe(0);
});

test("an answer with bytes that are not UTF-8 is an answer", async () => {
  const host = await opened({ s: raw("answers-latin1") }, { responses: calling("mcp__s__act") });
  host.prompt("go");
  await host.turnEnded();
  expect(await host.next("tool.ended")).toMatchObject({ status: "ok", output: [{ type: "text", text: "caf\uFFFD" }] });
  expect(await host.finish()).toBe(0);
});

async function overHttp(habit: string, more: Record<string, unknown> = {}): Promise<{ url: string; listener: Listener; server: object }> {
  const listener = await listening(RAW_HTTP, [habit]);
  const url = `http://127.0.0.1:${listener.port}/mcp`;
  return { url, listener, server: { url, ...more } };
}

test.each([
  ["hangs-at-start", { timeoutMs: 500 }, "s: it was not ready within 0.5 s"],
  ["breaks", {}, "s: it answered with HTTP 500"],
  ["floods", {}, "it answered with more than 16777216 bytes"],
  ["floods-events", { timeoutMs: 2000 }, "it was not ready within 2 s"],
])("over HTTP, a server that %s fails with a reason", async (habit, more, line) => {
  const { server } = await overHttp(habit, { timeoutMs: 50_000, ...more });
  const host = await opened({ s: server });
  expect(warmUp(host)[1]).toContain(line);
  await goesOn(host);
});

test("over HTTP, a server that dies in a call fails the call", async () => {
  const { server } = await overHttp("dies-in-call");
  const host = await opened({ s: server }, { responses: [...calling("mcp__s__act"), "still here"] });
  host.prompt("go");
  await host.turnEnded();
  expect(outputText(await host.next("tool.ended"))).toContain("The MCP server 's' failed: it cannot be reached");
  await goesOn(host, 2);
});

test("over HTTP, an interrupt does not wait for a server that hangs in a call, and tells it", async () => {
  const { server, listener } = await overHttp("hangs-in-call");
  const host = await opened({ s: server }, { responses: [...calling("mcp__s__act"), "still here"] });
  host.prompt("go");
  await until(() => listener.output().includes("called"));
  host.send({ type: "turn.interrupt", session: "s" });
  expect((await host.turnEnded()).outcome).toBe("interrupted");
  await until(() => listener.output().includes("cancelled"));
  await goesOn(host, 2);
});

test("servers connect side by side: one that hangs holds back neither the others nor a turn", async () => {
  const host = start({ responses: ["hello"] });
  await host.open({ mcpServers: { slow: raw("hangs-at-start", [], { timeoutMs: 1000 }), quick: official() } });
  host.prompt("go");
  expect((await host.turnEnded()).outcome).toBe("completed");
  const { mcpServers } = await settled(host);
  expect(mcpServers?.map(({ status }) => status)).toEqual(["failed", "ready"]);
  expect(await host.finish()).toBe(0);
});

test("what is wrong with a configuration is said", async () => {
  const host = await opened({ nothing: {}, odd: { type: "telepathy" }, address: { url: "ftp://x" }, bare: { type: "stdio" } });
  expect(warmUp(host).slice(1, -1).toSorted()).toEqual([
    "address: its url 'ftp://x' is not an http or https address",
    "bare: it has no command",
    "nothing: it has neither a command nor a url",
    "odd: its type 'telepathy' is none of stdio, http, streamable-http, sse and host",
  ]);
  await goesOn(host);
});

/** With a server that has two children, one of which left its group. */
async function withTree(mark: string): Promise<NativeHost> {
  const file = join(scratch(), "pids");
  const host = await opened({ s: raw("has-children", [file], { env: { MARK: mark } }) });
  const pids: number[] = JSON.parse(readFileSync(file, "utf8"));
  expect(new Set(processesWith(mark))).toEqual(new Set(pids));
  expect(pids).toHaveLength(3);
  return host;
}

test("a server's process tree ends with the session", async () => {
  const mark = "mark-of-an-orderly-end";
  const host = await withTree(mark);
  expect(await host.finish()).toBe(0);
  expect(processesWith(mark)).toEqual([]);
});

test("a removed server's process tree ends with it", async () => {
  const mark = "mark-of-a-removal";
  const host = await withTree(mark);
  host.send({ type: "session.configure", session: "s", patch: { mcpServers: {} } });
  await until(() => processesWith(mark).length === 0);
  expect(await host.finish()).toBe(0);
});

test("a server's process tree ends when we are killed", async () => {
  const mark = "mark-of-a-sudden-end";
  const host = await withTree(mark);
  host.child.kill("SIGKILL");
  await host.exited;
  await until(() => processesWith(mark).length === 0);
});

test("a server that ignores the end is killed", async () => {
  const mark = "mark-of-the-stubborn";
  const host = await opened({ s: raw("stubborn", [], { env: { MARK: mark } }) });
  expect(processesWith(mark)).toHaveLength(1);
  expect(await host.finish()).toBe(0);
  expect(processesWith(mark)).toEqual([]);
});
