import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fixture, marked, scratch, until, type Marked } from "../../test/support/processes.js";
import type { Frame } from "../core/wire.js";
import { spawnTransport, type ProcessTransport } from "./process.js";

function start(mark: Marked, file: string, ...args: string[]): Promise<ProcessTransport> {
  return spawnTransport({ argv: [process.execPath, fixture(file), ...args], env: mark.env }, { framing: "json" });
}

async function all(transport: ProcessTransport): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of transport.frames) frames.push(frame);
  return frames;
}

async function next(frames: AsyncIterator<Frame>): Promise<Frame | undefined> {
  const result = await frames.next();
  return result.done === true ? undefined : result.value;
}

describe("records", () => {
  test("come back from an echo, then its end", async () => {
    const mark = marked();
    const transport = await start(mark, "echo.mjs");
    const records = [{ text: "é€😀\u2028\n" }, [1, 2], null, "x".repeat(5 * 1024 * 1024), { last: true }];
    void transport.write(records.slice(0, 2));
    void transport.write(records.slice(2));
    transport.close("eof");
    expect(await all(transport)).toEqual(records.map((rec) => ({ rec })));
    expect(await transport.closed).toEqual({ code: 0, signal: null });
    expect(mark.alive()).toEqual([]);
  });

  test("that come before anybody reads are kept, though the process has left", async () => {
    const mark = marked();
    const transport = await start(mark, "last-words.mjs", "0");
    await mark.gone();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(await all(transport)).toEqual([{ rec: { a: 1 } }, { bad: expect.stringContaining("not JSON"), line: '{"b":' }]);
    await transport.closed;
  });

  test("that were written before the end of input all arrive, and none after it", async () => {
    const mark = marked();
    const transport = await start(mark, "echo.mjs");
    const big = "y".repeat(1024 * 1024);
    void transport.write([big, big]);
    transport.close("eof");
    void transport.write(["late"]);
    transport.close("eof");
    expect(await all(transport)).toEqual([{ rec: big }, { rec: big }]);
    expect(await transport.closed).toEqual({ code: 0, signal: null });
  });

  test("are written in order, and a slow reader at the other end is waited for", async () => {
    const mark = marked();
    const transport = await start(mark, "echo.mjs");
    const waits: unknown[] = [];
    const writing = (async () => {
      for (let n = 0; n < 40; n++) {
        const full = transport.write([{ n, pad: "z".repeat(64 * 1024) }]);
        waits.push(full);
        await full;
      }
      transport.close("eof");
    })();
    const heard = (await all(transport)).map((frame) => ("rec" in frame ? Object.entries(frame.rec ?? {})[0]?.[1] : "bad"));
    await writing;
    expect(heard).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(waits.some((full) => full instanceof Promise)).toBe(true);
  });
});

describe("back-pressure", () => {
  test("holds a child back that writes faster than we read", async () => {
    const mark = marked();
    const counter = join(scratch(), "count");
    const transport = await start(mark, "flood.mjs", counter);
    const frames = transport.frames[Symbol.asyncIterator]();
    await next(frames);
    const written = (): number => (existsSync(counter) ? Number(readFileSync(counter, "utf8")) : 0);
    let last = -1;
    // It stands still when the pipe and our own buffers are full.
    for (let now = written(); now !== last; now = written()) {
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(last).toBeLessThan(100);
    let heard = 1;
    while ((await next(frames)) !== undefined) heard++;
    expect(heard).toBe(1000);
    expect(await transport.closed).toEqual({ code: 0, signal: null });
  });

  test("a child that never reads its input is ended all the same, and whoever waits to write goes on", async () => {
    const mark = marked();
    const transport = await start(mark, "deaf.mjs", "open");
    const frames = transport.frames[Symbol.asyncIterator]();
    expect(await next(frames)).toEqual({ rec: "ready" });
    const full = transport.write(["x".repeat(1024 * 1024)]);
    expect(full).toBeInstanceOf(Promise);
    transport.close("term");
    await full;
    expect(await next(frames)).toBeUndefined();
    expect(await transport.closed).toMatchObject({ signal: "SIGTERM" });
  });
});

describe("the end", () => {
  test.each([
    ["3", { code: 3, signal: null, reason: `Agent '${process.execPath}' exited with code 3: the key is missing` }],
    ["0", { code: 0, signal: null }],
    ["SIGKILL", { code: null, signal: "SIGKILL", reason: `Agent '${process.execPath}' was ended by SIGKILL: the key is missing` }],
  ])("in the middle of a line (%s) keeps the half line and says the last words", async (how, closed) => {
    const mark = marked();
    const transport = await start(mark, "last-words.mjs", how);
    expect(await all(transport)).toEqual([{ rec: { a: 1 } }, { bad: expect.stringContaining("not JSON"), line: '{"b":' }]);
    expect(await transport.closed).toEqual(closed);
  });

  test.each([
    [[], "exited with code 1"],
    [["the disk is full"], "exited with code 1: the disk is full"],
  ])("with %j for last words does not quote what was said before the work that it ended in", async (words, reason) => {
    let heard = "";
    const argv = [process.execPath, fixture("warns-and-dies.mjs"), ...words];
    const transport = await spawnTransport({ argv, env: marked().env }, { framing: "json", onStderr: (text) => (heard += text) });
    const frames = transport.frames[Symbol.asyncIterator]();
    expect(await next(frames)).toEqual({ rec: "ready" });
    await until(() => heard.includes("an old setting"));
    void transport.write([1]);
    expect(await next(frames)).toEqual({ rec: "heard" });
    void transport.write([2]);
    expect(await next(frames)).toBeUndefined();
    expect((await transport.closed).reason).toBe(`Agent '${process.execPath}' ${reason}`);
  });

  test("of a program of Node that crashed is told with its error, not with what Node says below it", async () => {
    const argv = [process.execPath, join(scratch(), "nowhere.mjs")];
    const transport = await spawnTransport({ argv, env: marked().env }, { framing: "json" });
    expect((await transport.closed).reason).toMatch(/exited with code 1: Error: Cannot find module '.*nowhere\.mjs'/);
  });

  test("shows diagnostics as they come", async () => {
    const mark = marked();
    let heard = "";
    const transport = await spawnTransport(
      { argv: [process.execPath, fixture("last-words.mjs")], env: mark.env },
      { framing: "json", onStderr: (text) => (heard += text) },
    );
    await all(transport);
    await transport.closed;
    expect(heard).toBe("warming up\nthe key is missing\n\n");
  });

  test("of a child that ignores TERM comes by KILL, and takes its strays along", async () => {
    const mark = marked();
    const transport = await start(mark, "tree.mjs", "stubborn", "stray", "stubborn");
    const frames = transport.frames[Symbol.asyncIterator]();
    expect(await next(frames)).toEqual({ rec: "ready" });
    transport.close("term");
    expect(await transport.closed).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(mark.alive()).toEqual([]);
  });

  test("of a child ends what it left behind, with time to tidy up", async () => {
    const mark = marked();
    const note = join(scratch(), "note");
    const transport = await start(mark, "tree.mjs", "leave=0", "child", `tidy=${note}`);
    await all(transport);
    expect(await transport.closed).toEqual({ code: 0, signal: null });
    expect(mark.alive()).toEqual([]);
    expect(existsSync(note)).toBe(true);
  });

  test.runIf(process.platform === "linux")("of a child does not wait for who left its tree and holds its output open", async () => {
    const mark = marked();
    // It takes off the mark of its tree.
    const daemon = "ulimit -Sx unlimited; exec sleep 300";
    const script = `
      const { pid } = require("node:child_process").spawn("/bin/bash", ["-c", ${JSON.stringify(daemon)}],
        { detached: true, env: {}, stdio: ["ignore", "inherit", "inherit"] });
      process.stdout.write(JSON.stringify(pid) + "\\n" + JSON.stringify("x".repeat(300_000)), () => process.exit(3));`;
    const transport = await spawnTransport({ argv: [process.execPath, "-e", script], env: mark.env }, { framing: "json" });
    const frames = transport.frames[Symbol.asyncIterator]();
    const first = await next(frames);
    const pid = first !== undefined && "rec" in first ? Number(first.rec) : 0;
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(await next(frames)).toEqual({ rec: "x".repeat(300_000) });
    expect(await next(frames)).toBeUndefined();
    expect(await transport.closed).toMatchObject({ code: 3 });
  });

  test("of its input (a broken pipe) is quiet", async () => {
    const mark = marked();
    const transport = await start(mark, "deaf.mjs", "closed");
    const frames = transport.frames[Symbol.asyncIterator]();
    expect(await next(frames)).toEqual({ rec: "ready" });
    for (let n = 0; n < 5; n++) await transport.write(["x".repeat(300 * 1024)]);
    expect(mark.alive()).toHaveLength(process.platform === "linux" ? 1 : 0);
    transport.close("term");
    expect(await transport.closed).toMatchObject({ signal: "SIGTERM" });
  });

  test("of one that nobody reads comes too", async () => {
    const mark = marked();
    const transport = await start(mark, "flood.mjs", join(scratch(), "count"));
    transport.close("term");
    expect(await transport.closed).toMatchObject({ signal: "SIGTERM" });
    await until(() => mark.alive().length === 0, "the child to be gone");
  });
});

test("a line over the cap is told, and the next one is heard", async () => {
  const mark = marked();
  const transport = await spawnTransport(
    { argv: [process.execPath, fixture("echo.mjs")], env: mark.env },
    { framing: "json", lineCap: 1000 },
  );
  void transport.write(["x".repeat(5000), "short"]);
  transport.close("eof");
  expect(await all(transport)).toEqual([
    { bad: "The line is longer than 1000 bytes and was skipped", line: `"${"x".repeat(199)}`, overlong: true },
    { rec: "short" },
  ]);
  await transport.closed;
});

test("a command that is not there is a launch fault", async () => {
  await expect(spawnTransport({ argv: ["/nowhere/agent"], env: {} }, { framing: "json" })).rejects.toMatchObject({
    fault: { code: "launch" },
  });
});
