/** Floods and slow readers: each is over in the end, in bounded memory, and what it cost is a figure of docs/reliability.md. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { serveWs } from "../../ante/ws-client.js";
import { type NativeHost, start } from "../../process/harness.js";
import { isLong, report } from "../volume.js";

const MIB = 1024 * 1024;
/** The most memory that any flood may take, whatever its size. */
const MOST_MIB = 500;
const LINE_MIB = isLong ? 100 : 20;
const CLIENTS = isLong ? 1000 : 40;
const SESSIONS = isLong ? 200 : 20;
const ANSWER_MIB = isLong ? 1024 : 40;

const words = "0123456789abcdef ".repeat(60);

describe.runIf(process.platform === "linux")("memory", () => {
  test("of a model whose answer is too long: it is ended with words, and the next turn works", async () => {
    const pieces = Math.ceil((ANSWER_MIB * MIB) / words.length);
    const host = start({ responses: [{ say: { text: words, pieces } }, { say: "Fine." }] });
    await host.open();
    host.prompt("go");
    const ended = await host.turnEnded();
    expect(ended.outcome).toBe("failed");
    expect(ended.fault?.message).toMatch(/MiB/);
    host.prompt("again");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    await measured(host, `a model that sends ${ANSWER_MIB} MiB`);
  });

  test("of a tool that prints until its time is over", async () => {
    const host = start({ responses: [{ calls: [{ tool: "Bash", args: { command: "yes", timeout: 2000 }, id: "b" }] }, { say: "Done." }] });
    await host.open({ mode: "yolo" });
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
    await measured(host, "a tool that prints for ever");
  });

  test("of a line over the cap: it is refused, and what follows it is read", async () => {
    const host = start({ responses: [{ say: "Here." }] });
    await host.open();
    host.raw(Buffer.alloc(LINE_MIB * MIB, 0x78));
    host.raw("\n");
    const refused = await host.next("reply", ({ status }) => status === "error");
    expect(refused.fault?.message).toMatch(/longer than \d+ bytes/);
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
    await measured(host, `a line of ${LINE_MIB} MiB`);
  });

  test("of many busy sessions in one process: each gets its own answer", async () => {
    const host = start({ responses: Array.from({ length: SESSIONS }, () => ({ say: { text: "word ", pieces: 2000 } })) });
    const names = Array.from({ length: SESSIONS }, (_, at) => `s${at}`);
    for (const session of names) host.send({ type: "session.open", session, open: "new", config: {} });
    for (const session of names) host.prompt("go", { session });
    await host.turnEnded(SESSIONS);
    for (const session of names)
      expect(host.events.filter((event) => event.type === "turn.ended" && event.session === session)).toHaveLength(1);
    expect(host.ofType("turn.ended").map(({ outcome }) => outcome)).toEqual(names.map(() => "completed"));
    await measured(host, `${SESSIONS} busy sessions`);
  });

  test("of a host that reads slowly: the answer waits for it", async () => {
    const host = start({ responses: [{ say: { text: words, pieces: 10_000 } }] });
    await host.open();
    const { stdout } = host.child;
    let heard = 0;
    stdout.on("data", (bytes: Buffer) => {
      heard += bytes.length;
      stdout.pause();
      setImmediate(() => setImmediate(() => stdout.resume()));
    });
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(heard).toBeGreaterThan(10 * MIB);
    await measured(host, "a host that reads slowly");
  });

  test("of many idle clients: a turn of one of them works", async () => {
    const server = await serveWs();
    const before = peakOf(server.child.pid);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => server.connect()));
    const one = await server.session();
    expect(one.names()).toContain("SessionStart");
    expect(clients.filter(({ socket }) => socket.readyState === socket.OPEN)).toHaveLength(CLIENTS);
    const peak = peakOf(server.child.pid);
    expect(peak).toBeLessThan(MOST_MIB);
    report("peak memory, MiB", { [`${CLIENTS} idle clients, on top of ${before}`]: peak - before });
    for (const { socket } of clients) socket.close();
  });
});

/** Ends the process and notes the most memory that it ever had. */
async function measured(host: NativeHost, what: string): Promise<void> {
  const peak = peakOf(host.child.pid);
  expect(peak, what).toBeLessThan(MOST_MIB);
  expect(await host.finish()).toBe(0);
  report("peak memory, MiB", { [what]: peak });
}

function peakOf(pid: number | undefined): number {
  const [, kib = "0"] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid ?? 0}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 1024);
}
