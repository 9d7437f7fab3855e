/** The same port without a process: a program has the engine and speaks Ante to it in memory, with the same bounds. */
import { expect, it } from "vitest";
import { loadDialect } from "../../src/dialects/index.js";
import { createEngine } from "../../src/engine/index.js";
import { memoryPair, serve } from "../../src/index.js";
import { scratch } from "../process/harness.js";
import { AnteClient, type AnteLine } from "./client.js";

it("a program speaks Ante to an engine of its own", async () => {
  const [ours, theirs] = memoryPair();
  const engine = createEngine({ defaults: { cwd: scratch(), provider: "rehearsal" }, env: {} });
  const served = serve(engine, await loadDialect("ante"), theirs);
  const line: AnteLine = {
    send: (text) => void ours.write([JSON.parse(text)]),
    onRecord: (hear) => void listen(hear),
    end: () => ours.close("eof"),
    kill: () => ours.close("term"),
    closed: served.then(({ code }) => code ?? null),
  };
  async function listen(hear: (text: string) => void): Promise<void> {
    for await (const frame of ours.frames) if ("rec" in frame) hear(JSON.stringify(frame.rec));
  }
  const client = new AnteClient(line);
  await client.start();
  const op = client.input("say hello from memory");
  expect(await client.status(op)).toBe("Completed");
  expect(client.text(op)).toContain("hello from memory");
  expect(await client.shutdown()).toBe(0);
  expect(client.names().slice(-2)).toEqual(["SessionEnd", "Goodbye"]);
});

it("nobody reads: the engine waits, and everything is there afterwards", async () => {
  const count = 50_000;
  const [ours, theirs] = memoryPair();
  const engine = createEngine({ defaults: { cwd: scratch(), provider: "rehearsal" }, env: {} });
  const served = serve(engine, await loadDialect("ante"), theirs);
  const id = (n: number): string => `op_01ARZ3NDEKTSV4RRFFQ69G5FA${n}`;
  await ours.write([{ op: { StartSession: { model: "rehearsal", provider: "rehearsal", streaming: true } }, id: id(1) }]);
  await ours.write([{ op: { UserInput: `stream ${count} pieces` }, id: id(2) }]);
  ours.close("eof");
  let deltas = 0;
  let last: unknown;
  for await (const frame of ours.frames) {
    last = "rec" in frame ? frame.rec : frame;
    if (JSON.stringify(last).includes("MessageDelta")) deltas++;
  }
  expect(deltas).toBe(count);
  expect(last).toMatchObject({ event: "Goodbye" });
  expect(await served).toMatchObject({ code: 0 });
});
