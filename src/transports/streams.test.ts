import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { LineWriter, readFrames } from "./streams.js";

/** A writable that takes each chunk when it is told to. */
function slow(): { stream: Writable; chunks: string[]; take(): void } {
  const chunks: string[] = [];
  let take = (): void => {};
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _encoding, done) {
      chunks.push(String(chunk));
      take = done;
    },
  });
  return { stream, chunks, take: () => take() };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a writer of lines", () => {
  test("writes what comes in one tick at once", async () => {
    const { stream, chunks } = slow();
    const writer = new LineWriter(stream, "json");
    expect(writer.write([1, { a: "\n" }])).toBeUndefined();
    expect(writer.write([2])).toBeUndefined();
    await tick();
    await tick();
    expect(chunks).toEqual(['1\n{"a":"\\n"}\n2\n']);
  });

  test("keeps what is said for what follows within the same turn of the loop", async () => {
    const { stream, chunks } = slow();
    const writer = new LineWriter(stream, "json");
    void writer.write([1, 2]);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    void writer.write([3]);
    expect(chunks).toEqual([]);
    await tick();
    await tick();
    expect(chunks).toEqual(["1\n2\n3\n"]);
  });

  test("asks to wait while much is unwritten, and no longer", async () => {
    const { stream, take } = slow();
    const writer = new LineWriter(stream, "json");
    let free = false;
    const full = writer.write(["x".repeat(300 * 1024)]);
    void Promise.resolve(full).then(() => (free = true));
    await tick();
    expect(free).toBe(false);
    take();
    await tick();
    take();
    await full;
    expect(writer.write([1])).toBeUndefined();
  });

  test("is flushed when everything is out, and not before", async () => {
    const { stream, chunks, take } = slow();
    const writer = new LineWriter(stream, "text");
    void writer.write(["one"]);
    let out = false;
    const flushed = writer.flushed().then(() => (out = true));
    await tick();
    expect(out).toBe(false);
    take();
    await tick();
    take();
    await flushed;
    expect(chunks[0]).toBe("one\n");
    await writer.flushed();
  });

  test("takes a broken pipe for an end: told once, quiet afterwards, nobody waits", async () => {
    const { stream } = slow();
    const writer = new LineWriter(stream, "json");
    const full = writer.write(["x".repeat(300 * 1024)]);
    stream.destroy(new Error("write EPIPE"));
    await full;
    expect(await writer.closed).toEqual({ reason: "write EPIPE" });
    expect(writer.write([1])).toBeUndefined();
    writer.end();
    await writer.flushed();
  });

  test("loses nothing to a write after its end", async () => {
    const stream = new PassThrough();
    const heard = text(stream);
    const writer = new LineWriter(stream, "json");
    void writer.write(["before"]);
    writer.end();
    void writer.write(["after"]);
    writer.end();
    await writer.flushed();
    expect(await heard).toBe('"before"\n');
    expect(await writer.closed).toEqual({});
  });
});

describe("frames of a stream", () => {
  test("end when it breaks, with the half line that came", async () => {
    const stream = new PassThrough();
    stream.write('1\n{"half');
    const frames = readFrames(stream, "json")[Symbol.asyncIterator]();
    expect(await frames.next()).toEqual({ done: false, value: { rec: 1 } });
    stream.destroy(new Error("ECONNRESET"));
    expect(await frames.next()).toMatchObject({ value: { line: '{"half' } });
    expect(await frames.next()).toMatchObject({ done: true });
  });
});
