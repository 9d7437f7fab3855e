/** Answers without measure: the built command against servers that do not stop, and prompts in a process that has no memory left. */
import { readdirSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { answered, deltaEvent, ending, writtenServer, type Answer } from "../support/written-server.js";
import { scratch, start, type NativeHost } from "./harness.js";

const MIB = 2 ** 20;

describe("an answer that is longer than limits.answerMiB", () => {
  test.each([
    ["text", (piece: string) => ({ content: piece })],
    ["thinking", (piece: string) => ({ reasoning_content: piece })],
    ["arguments", (piece: string) => ({ tool_calls: [call(0, "Write", piece)] })],
  ])("of %s is broken off, and the turn fails with a fault that names the limit", async (_, delta) => {
    const server = await writtenServer(
      (response) => flood(response, () => deltaEvent(delta("a".repeat(32 * 1024)))),
      answered("Back again."),
    );
    const home = scratch({ "config.yaml": "limits: { answerMiB: 1 }" });
    const host = talkTo(server.url, home);
    await host.open();
    host.prompt("go on");
    const end = await host.turnEnded();
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "limit", retryable: false, param: "answerMiB" } });
    expect(end.reason).toContain("1 MiB");
    expect(end.reason).toContain("limits.answerMiB");
    expect(await server.left).toBe("left");
    expect(host.ofType("tool.requested")).toEqual([]);
    const told = [...host.ofType("text.done"), ...host.ofType("thinking.done")].map(({ text }) => text.length);
    expect(Math.max(0, ...told)).toBeLessThanOrEqual(MIB);
    host.prompt("and now?");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    // The conversation goes on with the beginning of the answer, not with all of it.
    expect(server.bodies[1]?.length ?? 0).toBeLessThan(200_000);
    await host.finish();
    expect(logBytes(home)).toBeLessThan(3 * MIB);
  });

  test("is 16 MiB unless the config says otherwise", async () => {
    let sent = 0;
    // In two blocks, because a line has room for 16 MiB with its envelope.
    const delta = (piece: string): unknown => (sent++ < 32 ? { reasoning_content: piece } : { content: piece });
    const server = await writtenServer((response) => flood(response, () => deltaEvent(delta("a".repeat(256 * 1024)))));
    const host = talkTo(server.url, scratch());
    await host.open();
    host.prompt("go on");
    expect((await host.turnEnded()).reason).toContain("16 MiB");
    expect(host.text().length).toBeLessThanOrEqual(8 * MIB);
    await host.finish();
  });

  test("in one event that does not end is broken off before it fills the memory", async () => {
    const server = await writtenServer((response) => {
      response.write('data: {"choices":[{"delta":{"content":"');
      flood(response, () => "a".repeat(256 * 1024));
    });
    const host = talkTo(server.url, scratch());
    await host.open();
    host.prompt("go on");
    const end = await host.turnEnded();
    expect(end).toMatchObject({ outcome: "failed", fault: { code: "provider", retryable: false } });
    expect(end.reason).toContain("sent an event of more than 32 MiB");
    await host.finish();
  });
});

describe("an answer with more than 256 calls", () => {
  test("has the first 256 run; one notice and the model's next request tell how many were dropped", async () => {
    const server = await writtenServer(calls(1000), answered("I see."));
    const host = talkTo(server.url, scratch());
    await host.open({ mode: "yolo" });
    host.prompt("look");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.requested")).toHaveLength(256);
    expect(host.ofType("tool.ended")).toHaveLength(256);
    expect(host.ofType("notice").filter(({ kind }) => kind === "max_calls")).toMatchObject([
      { level: "warning", text: expect.stringContaining("744") },
    ]);
    expect(server.bodies[1]).toContain("744 more calls");
    expect(server.bodies[1]?.match(/"tool_call_id"/g)).toHaveLength(256);
    await host.finish();
  });

  test("can be interrupted, though they are 200,000", async () => {
    const server = await writtenServer(calls(200_000), answered("I see."));
    const host = talkTo(server.url, scratch());
    await host.open();
    host.prompt("look");
    await host.next("approval.requested");
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(host.ofType("tool.ended")).toHaveLength(256);
    await host.finish();
  });

  test("is no prompt of a host, either", async () => {
    const host = start();
    await host.open();
    const asked = Array.from({ length: 257 }, () => ({ name: "Read", args: { file_path: "a.txt" } }));
    host.send({ type: "turn.prompt", session: "s", id: "many", parts: [], calls: asked });
    expect(await host.next("reply", ({ parent }) => parent === "many")).toMatchObject({
      status: "error",
      fault: { code: "limit", param: "calls" },
    });
    await host.finish();
  });
});

describe("a process that holds more than limits.memoryMiB", () => {
  test("lets a new turn wait and refuses it with a fault that names the limit; commands are run", async () => {
    const host = start({ env: { PARLEY_HOME: scratch({ "config.yaml": "limits: { memoryMiB: 8 }" }) } });
    await host.open();
    host.prompt("say heron", { id: "first" });
    const refusal = await host.next("reply", ({ parent }) => parent === "first");
    expect(refusal).toMatchObject({ status: "error", fault: { code: "limit", retryable: true, param: "memoryMiB" } });
    expect(refusal.fault?.message).toContain("limits.memoryMiB");
    expect(host.ofType("turn.started")).toEqual([]);
    host.send({ type: "turn.prompt", session: "s", id: "command", parts: [], command: { name: "clear" } });
    expect(await host.next("reply", ({ parent }) => parent === "command")).toMatchObject({ status: "ok" });
    await host.finish();
  });

  test("ends the wait of a prompt that is interrupted", async () => {
    const host = start({ env: { PARLEY_HOME: scratch({ "config.yaml": "limits: { memoryMiB: 8 }" }) } });
    await host.open();
    host.prompt("say heron", { id: "first" });
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    await host.finish();
  });

  test("is none by default for a turn like any other", async () => {
    const host = start();
    await host.open();
    host.prompt("say heron");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    await host.finish();
  });
});

function talkTo(url: string, home: string): NativeHost {
  return start({ provider: "local", args: ["--base-url", url, "--model", "m"], env: { PARLEY_HOME: home } });
}

/** Until the client leaves. */
function flood(response: ServerResponse, next: () => string): void {
  const more = (): void => {
    while (!response.destroyed) if (!response.write(next())) return void response.once("drain", more);
  };
  more();
}

function calls(count: number): Answer {
  return (response) => {
    let at = 0;
    const more = (): void => {
      while (at < count && !response.destroyed) {
        const one = deltaEvent({ tool_calls: [call(at++, "Read", '{"file_path":"/nowhere/a.txt"}')] });
        if (!response.write(one)) return void response.once("drain", more);
      }
      response.end(ending("tool_calls"));
    };
    more();
  };
}

function call(index: number, name: string, args: string): unknown {
  return { index, id: `call_${index}`, type: "function", function: { name, arguments: args } };
}

function logBytes(home: string): number {
  const folder = join(home, "sessions");
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name, "log.jsonl")).size, 0);
}
