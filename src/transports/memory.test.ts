import { describe, expect, test } from "vitest";
import type { Frame, Transport } from "../core/wire.js";
import { memoryPair } from "./memory.js";

async function all(transport: Transport): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of transport.frames) frames.push(frame);
  return frames;
}

describe("a pair in memory", () => {
  test("carries records both ways, as copies", async () => {
    const [host, agent] = memoryPair();
    const record = { deep: [{ text: "é\n" }] };
    void host.write([record, 2]);
    void agent.write([null]);
    record.deep = [];
    host.close("eof");
    agent.close("eof");
    expect(await all(agent)).toEqual([{ rec: { deep: [{ text: "é\n" }] } }, { rec: 2 }]);
    expect(await all(host)).toEqual([{ rec: null }]);
    expect(await Promise.all([host.closed, agent.closed])).toEqual([{}, {}]);
  });

  test("asks a writer to wait for a slow reader", async () => {
    const [host, agent] = memoryPair();
    expect(host.write(["small"])).toBeUndefined();
    const full = host.write(["x".repeat(300 * 1024)]);
    expect(full).toBeInstanceOf(Promise);
    const reader = agent.frames[Symbol.asyncIterator]();
    await reader.next();
    await reader.next();
    await full;
  });

  test("still carries one way when the other has ended", async () => {
    const [host, agent] = memoryPair();
    host.close("eof");
    void agent.write(["last words"]);
    agent.close("eof");
    expect(await all(host)).toEqual([{ rec: "last words" }]);
  });

  test("is cut by `term`: the other side hears the end and cannot write any more", async () => {
    const [host, agent] = memoryPair();
    void host.write(["before"]);
    host.close("term");
    expect(await all(agent)).toEqual([{ rec: "before" }]);
    await agent.closed;
    void agent.write(["nobody listens"]);
    expect(await all(host)).toEqual([]);
  });

  test("carries text as lines", async () => {
    const [host, agent] = memoryPair("text");
    void host.write(["one", "two\nthree"]);
    host.close("eof");
    expect(await all(agent)).toEqual([{ rec: "one" }, { rec: "two" }, { rec: "three" }]);
  });
});
