/** Of a stored session one bit is flipped, anywhere: it is told, or what is read is the same as before. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { ParleyError } from "../../../core/errors.js";
import { LogFile } from "../../../os/files/log-file.js";
import type { Message } from "../../models/model.js";
import { type Entry, writeEntry } from "../entry.js";
import { jsonlStore } from "./store.js";
import { lostItsEnd, readEntries } from "./read-log.js";
import { rebuild } from "../rebuild.js";
import type { StoredSession } from "../store.js";
import { messagesIn, unsound, writtenLog } from "../testing.js";

test("every bit of a small log: one or two lines are told by their numbers, the others are read, and the conversation is sound", async () => {
  const entries = smallLog(5);
  const lines = entries.map((entry) => `${writeEntry(entry)}\n`);
  const bytes = Buffer.from(lines.join(""));
  const file = join(inMemory(), "log.jsonl");
  const wrong: unknown[] = [];
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    writeFileSync(file, flipped(bytes, bit));
    const hit = lineAt(lines, bit >> 3);
    const read = [...readEntries(file, 0)];
    const damaged = read.flatMap((entry) => (entry.kind === "unreadable" ? [entry.line] : []));
    const rest = entries.filter((_, index) => index + 1 !== hit && !(isLastByte(lines, bit >> 3) && index === hit));
    const session = rebuild(undefined, read);
    // Compared as text: to look closely at each of thousands takes a minute.
    const found = { bit, damaged, rest: read.filter(({ kind }) => kind !== "unreadable"), wrong: unsound(session?.messages ?? []) };
    const wanted = { bit, damaged: damaged.length === 2 ? [hit, hit + 1] : [hit], rest, wrong: [] };
    if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push({ found, wanted });
    if ((hit === 1) !== (session === undefined)) wrong.push({ bit, hit, refused: session === undefined });
  }
  // A log is refused when, and only when, its first line is damaged.
  expect(wrong).toEqual([]);
});

test("the last LF: opening the log keeps the line, so that it is told each time", async () => {
  const bytes = Buffer.from(
    smallLog(5)
      .map((entry) => `${writeEntry(entry)}\n`)
      .join(""),
  );
  const file = join(inMemory(), "log.jsonl");
  for (let bit = 0; bit < 8; bit++) {
    writeFileSync(file, flipped(bytes, 8 * (bytes.length - 1) + bit));
    const log = LogFile.open(file, lostItsEnd);
    log.append(writeEntry({ kind: "mark", seq: 7 }));
    await log.close();
    expect([...readEntries(file, 0)].slice(-2)).toEqual([
      { kind: "unreadable", line: 5 },
      { kind: "mark", seq: 7 },
    ]);
  }
});

test("five hundred bits of a long session with a snapshot: each is told, or does no harm", async () => {
  const home = inMemory();
  const store = jsonlStore(home, { keep: 9, redact: (value) => value });
  const entries = smallLog(12);
  const long: Message = { role: "user", parts: [{ type: "text", text: "long ".repeat(60_000) }] };
  const log = await store.create({ id: "s", cwd: "/w", name: undefined, config: { model: "m" } });
  const messages: Message[] = [long];
  log.append({ kind: "message", message: long });
  for (const entry of entries.slice(1)) log.append(entry);
  messages.push(...messagesIn(entries));
  log.append({ kind: "event", event: { type: "turn.ended", outcome: "completed", usage: { input: 1, output: 1 }, seq: 9 } });
  await log.settle(() => ({
    id: "s",
    cwd: "/w",
    name: undefined,
    config: { model: "m" },
    messages,
    lastTurn: "answered",
    seen: {},
    seq: 9,
  }));
  for (const entry of entries.slice(1)) log.append(entry);
  await log.close();
  const folder = join(home, "sessions", "s");
  const whole = await opened(home);
  // The seed makes the same flips each time.
  const bits = fc.sample(
    fc.tuple(fc.constantFrom("log.jsonl", "log.jsonl", "snapshot.json"), fc.double({ min: 0, max: 0.999_999, noNaN: true })),
    {
      numRuns: 500,
      seed: 19,
    },
  );
  const [told, same] = [new Set<string>(), new Set<string>()];
  const kept = new Map(["log.jsonl", "snapshot.json"].map((name) => [name, readFileSync(join(folder, name))]));
  for (const [name, where] of bits) {
    const bytes = kept.get(name) ?? Buffer.alloc(0);
    // Most of it is one long message: half of the flips are in the small lines behind it.
    const from = name === "log.jsonl" && Math.floor(where * 1e6) % 2 === 0 ? 300_000 : 0;
    const bit = 8 * from + Math.floor(where * 8 * (bytes.length - from));
    writeFileSync(join(folder, name), flipped(bytes, bit));
    const session = await opened(home);
    if (typeof session !== "string" && session.unreadable.length === 0) expect([name, bit, session]).toEqual([name, bit, whole]);
    (typeof session === "string" || session.unreadable.length > 0 ? told : same).add(name);
    for (const [each, content] of kept) writeFileSync(join(folder, each), content);
  }
  // A damaged snapshot is not used: the log says the same.
  expect([[...told], [...same].sort()]).toEqual([["log.jsonl"], ["log.jsonl", "snapshot.json"]]);
});

test("a log without checksums is read, also where a later run went on with them, and a copy of it", async () => {
  const home = inMemory();
  const entries = smallLog(12);
  const store = jsonlStore(home, { keep: 9, redact: (value) => value });
  await (await store.create({ id: "s", cwd: "/w", name: undefined, config: {} })).close();
  const file = join(home, "sessions", "s", "log.jsonl");
  writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const expected = rebuild(undefined, entries);
  const { session, log } = await store.open("s");
  expect(session).toEqual(expected);
  log.append({ kind: "mark", seq: 2 ** 20 });
  await log.close();
  expect(readFileSync(file, "utf8").match(/"sum":/g)).toHaveLength(1);
  const copy = await store.fork("s", { id: "copy", name: undefined });
  expect(copy.session).toEqual({ ...expected, id: "copy", seq: 2 ** 20 });
  await copy.log.close();
});

// --- helpers ---

function smallLog(length: number): Entry[] {
  const [log = []] = fc.sample(writtenLog(), { numRuns: 1, seed: 20 });
  return log.slice(0, length);
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const damaged = Buffer.from(bytes);
  damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return damaged;
}

/** From 1. */
function lineAt(lines: readonly string[], byte: number): number {
  let end = 0;
  return 1 + lines.findIndex((line) => byte < (end += Buffer.byteLength(line)));
}

function isLastByte(lines: readonly string[], byte: number): boolean {
  return byte + 1 < Buffer.byteLength(lines.join("")) && lineAt(lines, byte) !== lineAt(lines, byte + 1);
}

/** As a resume finds it; the sentence that refuses it otherwise. Found in a copy, because opening repairs. */
async function opened(home: string): Promise<StoredSession | string> {
  const copy = inMemory();
  cpSync(home, copy, { recursive: true });
  try {
    const { session, log } = await jsonlStore(copy, { keep: 9, redact: (value) => value }).open("s");
    await log.close();
    return session;
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return error.message;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Thousands of files are written: in memory, where there is such a folder. */
function inMemory(): string {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "parley-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
