/** Cases 62 to 67 and 72 of the wire: the pipe, its end, and clients that write much or read little. */
import { cpSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { PARLEY, processesWith, scratch, until } from "../process/harness.js";
import { idle, rss } from "../support/load.js";
import { launch, nameOf, started } from "./client.js";

const U = "01ARZ3NDEKTSV4RRFFQ69G5FA";
const START = { op: { StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } }, id: `op_${U}0` };
const say = (text: string, digit: number) => ({ op: { UserInput: text }, id: `op_${U}${digit}` });

describe("the end of input", () => {
  it("N62: with a live session: SessionEnd, Goodbye, exit code 0, and no parent", async () => {
    const client = await started();
    expect(await client.finish()).toBe(0);
    expect(client.msgs.slice(-2).map((msg) => [nameOf(msg), msg.parent])).toEqual([
      ["SessionEnd", null],
      ["Goodbye", null],
    ]);
  });

  it("N63: in a turn: what waits is denied, the turn and those behind it end, then SessionEnd and Goodbye", async () => {
    const client = await started();
    const [first, second] = [client.input("run `true`"), client.input("say last")];
    await client.pause(first);
    expect(await client.finish()).toBe(0);
    expect([await client.status(first), client.text(second)]).toEqual(["Completed", "last"]);
    expect(client.of("ToolEnd")).toMatchObject([{ fields: { status: "Denied" } }]);
  });

  it("N64: right behind everything: what waits for its session is still served, the last line without its end too", async () => {
    const client = launch();
    client.daemon.child.stdin.end([START, say("say one", 1), say("say two", 2)].map((op) => JSON.stringify(op)).join("\n"));
    expect(await client.closed).toBe(0);
    expect(client.of("AgentMessage").map(({ fields }) => fields)).toEqual(["one", "two"]);
    expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
  });

  it("without a session is Goodbye alone", async () => {
    const client = launch();
    expect([await client.finish(), client.names()]).toEqual([0, ["Goodbye"]]);
  });

  it("Shutdown interrupts first; SIGTERM too, with its own exit code", async () => {
    const client = await started();
    const op = client.input("wait forever");
    await client.next("TurnStart");
    expect(await client.shutdown()).toBe(0);
    expect(await client.status(op)).toMatchObject({ Interrupted: {} });
    const other = await started();
    const running = other.input("wait forever");
    await other.next("TurnStart");
    other.daemon.child.kill("SIGTERM");
    expect(await other.closed).toBe(143);
    expect([await other.status(running), other.names().slice(-2)]).toEqual([{ Interrupted: expect.anything() }, ["SessionEnd", "Goodbye"]]);
  });

  it("Shutdown in the middle of an opening: whatever begins is ended in order", async () => {
    const client = launch();
    client.send(START.op);
    expect(await client.shutdown()).toBe(0);
    const late = launch();
    late.send(START.op);
    late.send({ UserInput: "wait forever" });
    late.send(START.op);
    late.send({ UserInput: "wait forever" });
    expect(await late.shutdown()).toBe(0);
    expect([late.of("TurnStart").length, late.of("Error")]).toEqual([2, []]);
  });
});

describe("bytes", () => {
  it("N66: a line in many writes, two lines in one; N67: a character cut in two", async () => {
    const client = launch();
    const bytes = Buffer.from(`${JSON.stringify(START)}\n${JSON.stringify(say("say ä€😀", 1))}\n`);
    for (let at = 0; at < bytes.length; at += 3) {
      client.daemon.child.stdin.write(bytes.subarray(at, at + 3));
      if (at % 30 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await client.next("TurnEnd");
    expect(client.of("AgentMessage")[0]?.fields).toBe("ä€😀");
  });

  it("nothing but records on stdout, and nothing on stderr", async () => {
    const client = await started();
    await client.say("think about x then say y");
    await client.shutdown();
    expect(client.daemon.stderr).toBe("");
  });

  it("a thousand lines that are no operations in one write get an Error each, each with an id of its own", async () => {
    const client = launch();
    client.raw(Array.from({ length: 1000 }, () => "x").join("\n"));
    await client.shutdown();
    expect(client.of("Error")).toHaveLength(1000);
  });

  it("N72: a client that does not read holds the daemon back, which stays small, hears an Interrupt, and loses nothing", async () => {
    const client = await started({ env: { MARK: `slow-${process.pid}` } });
    const { child } = client.daemon;
    child.stdout.pause();
    const op = client.input(`stream 300000 pieces of '${"and so on ".repeat(10)}'`);
    await idle(child.pid);
    expect(rss(child.pid)).toBeLessThan(400 * 1024 * 1024);
    client.send("Interrupt");
    await idle(child.pid);
    child.stdout.resume();
    expect(await client.status(op)).toMatchObject({ Interrupted: {} });
    const deltas = client.of("MessageDelta").map(({ fields }) => fields);
    expect(client.text(op)).toBe(deltas.join(""));
    expect(deltas.length).toBeLessThan(300_000);
  });

  it("a client that is gone ends it all, quietly", async () => {
    const mark = `gone-${process.pid}-${Math.random()}`;
    const client = await started({ env: { MARK: mark }, session: { policy: "yolo" } });
    client.input("run `sleep 300 & for i in $(seq 1000); do echo $i; sleep 0.05; done`");
    await until(() => processesWith(mark).length >= 3);
    client.hangUp();
    client.daemon.child.stdout.destroy();
    await until(() => processesWith(mark).length === 0);
    expect(client.daemon.stderr).toBe("");
  });
});

describe("a program that is replaced while it runs", () => {
  it("tells that a part of it is gone; turns and the session still end", async () => {
    const copy = scratch();
    cpSync(dirname(PARLEY), join(copy, "dist"), { recursive: true });
    cpSync(join(dirname(PARLEY), "../package.json"), join(copy, "package.json"));
    symlinkSync(join(dirname(PARLEY), "../node_modules"), join(copy, "node_modules"));
    const chunks = join(copy, "dist/command");
    const parts = readdirSync(chunks).filter((name) => name.startsWith("turn-"));
    expect(parts).not.toEqual([]);
    for (const part of parts) rmSync(join(chunks, part));
    const client = await started({ program: join(copy, "dist/parley.js") });
    expect(await client.status(client.input("say hi"))).toMatchObject({
      Error: { message: expect.stringContaining("A part of Parley is gone") },
    });
    expect(await client.shutdown()).toBe(0);
    expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
  });
});
