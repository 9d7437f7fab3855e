import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch, until } from "../../../test/support/processes.js";
import type { Event } from "../../core/event.js";
import type { ReadEntry } from "./entry.js";
import { jsonlStore } from "./jsonl/store.js";
import { readEntries } from "./jsonl/read-log.js";
import { Recorder } from "./recorder.js";
import type { KeptSession } from "./store.js";

const STEP = 2 ** 20;

test("whole items are kept; deltas together, and not at all once their block is whole", async () => {
  const { recorder, entries } = await recording();
  recorder.event(told({ type: "turn.started" }));
  recorder.event(told({ type: "text.delta", text: "a" }));
  recorder.event(told({ type: "text.delta", text: "b" }));
  recorder.event(told({ type: "text.delta", text: "of a sub-agent", under: "c" }));
  recorder.event(told({ type: "tool.progress", call: "c", text: "…" }));
  await until(() => entries().length === 3, "the deltas");
  recorder.event(told({ type: "text.delta", text: "c" }));
  recorder.event(told({ type: "text.done", text: "abc", streamed: true }));
  recorder.event(told({ type: "text.delta", text: "d" }));
  await recorder.close(kept);
  expect(entries().map((entry) => (entry.kind === "event" ? entry.event.type : entry))).toEqual([
    expect.objectContaining({ kind: "opened" }),
    "turn.started",
    { kind: "partial", turn: "t", block: "text", text: "ab" },
    "text.done",
  ]);
});

test("the log holds the first MiB of a long open block", async () => {
  const { recorder, entries } = await recording();
  recorder.event(told({ type: "turn.started" }));
  const piece = "a".repeat(64 * 1024);
  for (let count = 0; count < 64; count++) recorder.event(told({ type: "text.delta", text: piece }));
  await until(() => entries().length === 3, "the deltas");
  for (let count = 0; count < 64; count++) recorder.event(told({ type: "text.delta", text: piece }));
  recorder.event(told({ type: "text.done", text: piece.repeat(128), streamed: true }));
  recorder.event(told({ type: "text.delta", text: "of the next block" }));
  await until(() => entries().length === 5, "the next block");
  await recorder.close(kept);
  const held = entries().flatMap((entry) => (entry.kind === "partial" ? [entry.text.length] : []));
  expect(held).toEqual([17 * piece.length, "of the next block".length]);
});

test("records are written before an event is told, and otherwise within a turn of the loop", async () => {
  const { recorder, entries } = await recording();
  recorder.event(told({ type: "turn.started" }));
  recorder.message({ role: "user", parts: [] });
  expect(entries()).toHaveLength(1);
  recorder.write();
  expect(entries()).toHaveLength(3);
  recorder.message({ role: "user", parts: [] });
  await new Promise(setImmediate);
  expect(entries()).toHaveLength(4);
  await recorder.close(kept);
});

test("a log knows of every block of numbers that was begun, also when only deltas had them", async () => {
  const { recorder, store, entries } = await recording();
  recorder.event({ ...told({ type: "text.delta", text: "a" }), seq: STEP - 1 });
  expect(entries()).toHaveLength(1);
  recorder.event({ ...told({ type: "text.delta", text: "b" }), seq: STEP });
  recorder.event({ ...told({ type: "reply", to: "ping", status: "ok" }), seq: 3 * STEP + 5 });
  recorder.event({ ...told({ type: "text.delta", text: "c" }), seq: 3 * STEP + 6 });
  expect(entries().slice(1)).toEqual([
    { kind: "mark", seq: STEP },
    { kind: "mark", seq: 3 * STEP + 5 },
  ]);
  await recorder.close(kept);
  const { session, log } = await store.open("s");
  expect(session.seq).toBe(3 * STEP + 5);
  await log.close();
});

test("a log that fails is told once and written no more", async () => {
  const { recorder, log, warnings, entries } = await recording();
  await log.close();
  recorder.event(told({ type: "turn.started" }));
  recorder.message({ role: "user", parts: [] });
  await Promise.all([recorder.sync(), recorder.sync(), recorder.settle(kept)]);
  expect(warnings).toEqual(["This session can no longer be saved: the log is closed"]);
  await recorder.close(kept);
  expect(entries()).toHaveLength(1);
});

test("without a log nothing happens", async () => {
  const recorder = new Recorder(undefined, 0, () => expect.fail("nothing can break"));
  recorder.event(told({ type: "turn.started" }));
  recorder.event(told({ type: "text.delta", text: "a" }));
  await recorder.sync();
  await recorder.close(kept);
});

async function recording() {
  const home = scratch();
  const store = jsonlStore(home, { keep: 9, redact: (value) => value });
  const log = await store.create({ id: "s", cwd: "/", name: undefined, config: {} });
  const warnings: string[] = [];
  const recorder = new Recorder(log, 0, (why) => warnings.push(why));
  const entries = (): ReadEntry[] => [...readEntries(join(home, "sessions", "s", "log.jsonl"), 0)];
  return { recorder, log, store, warnings, entries };
}

function told(event: Event): Event {
  return { turn: "t", seq: 1, ...event };
}

function kept(): KeptSession {
  return { id: "s", cwd: "/", name: undefined, config: {}, messages: [], lastTurn: undefined, seen: {}, seq: 1 };
}
