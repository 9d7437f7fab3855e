/** The built command and a log that was damaged: which line is told, and the rest is read. */
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type NativeHost, run, scratch, script, start } from "../process/harness.js";

test("each line of a log is a JSON object with a checksum", async () => {
  const home = await talked();
  const lines = readFileSync(logOf(home), "utf8").split("\n");
  expect(lines.pop()).toBe("");
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ kind: expect.any(String), sum: expect.stringMatching(/^[0-9a-f]{8}$/) });
});

test("a flipped bit in the middle: resume and show name the line, everything else is there, and the session goes on", async () => {
  const home = await talked();
  const line = flip(home, "first answer");
  const text = `Line ${line} of the log of session 's' is damaged and was left out: what it said is missing`;
  const shown = await run(["sessions", "show", "s"], { env: { PARLEY_HOME: home } });
  expect(shown).toMatchObject({ code: 0, stderr: `parley: ${text}\n` });
  for (const piece of ["one", "two", "second answer"]) expect(shown.stdout).toContain(piece);
  for (let round = 0; round < 2; round++) {
    const host = await resumed(home);
    expect(await host.next("notice")).toMatchObject({ level: "warning", kind: "store", text });
    host.prompt("three");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
  }
  const host = start({ env: { PARLEY_HOME: home } });
  host.send({ type: "session.open", session: "copy", open: "resume", sessionId: "s", fork: true });
  expect(await host.next("notice")).toMatchObject({ text: text.replace("'s'", "'copy'") });
  expect(await host.finish()).toBe(0);
});

test("a flipped bit in the first line: the session is listed and shown, and not opened without saying why", async () => {
  const home = await talked();
  flip(home, '"cwd"', 1);
  const env = { PARLEY_HOME: home };
  expect((await run(["sessions"], { env })).stdout).toMatch(/^s .* one\n$/);
  const shown = await run(["sessions", "show", "s"], { env });
  expect(shown.stderr).toMatch(/^parley: Line 1 of the log/);
  expect(shown.stdout).toContain("second answer");
  const host = start({ env });
  for (const fork of [false, true]) {
    host.send({ type: "session.open", id: String(fork), session: "copy", open: "resume", sessionId: "s", fork });
    const { fault } = await host.next("reply", ({ parent }) => parent === String(fork));
    expect(fault?.message).toMatch(/^The log of session 's' cannot be read: its first line is damaged, .*'parley sessions show/);
  }
  expect(await host.finish()).toBe(0);
  expect(existsSync(join(home, "sessions", "copy"))).toBe(false);
});

test("a last line that was cut off by a crash is no damage; one whose end was damaged is", async () => {
  const home = await talked();
  const whole = readFileSync(logOf(home));
  truncateSync(logOf(home), whole.length - 1);
  const host = await resumed(home);
  host.prompt("three");
  await host.turnEnded();
  expect(await host.finish()).toBe(0);
  expect(host.ofType("notice").map(({ text }) => text)).toEqual([expect.not.stringContaining("damaged")]);
  whole[whole.length - 1] = 0x0b;
  writeFileSync(logOf(home), whole);
  const last = whole.toString().split("\n").length;
  expect((await run(["sessions", "show", "s"], { env: { PARLEY_HOME: home } })).stderr).toMatch(`parley: Line ${last} of the log`);
  const again = await resumed(home);
  expect((await again.next("notice")).text).toMatch(`Line ${last} of the log of session 's' is damaged`);
  expect(await again.finish()).toBe(0);
});

test("damage that a snapshot covers harms nothing, and is told where the lines are read again", async () => {
  const home = await talked(`one ${"x".repeat(300_000)}`);
  expect(existsSync(join(home, "sessions", "s", "snapshot.json"))).toBe(true);
  const line = flip(home, "first answer");
  const host = await resumed(home, { expect: { messages: 5 }, say: "third answer" });
  host.prompt("three");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(await host.finish()).toBe(0);
  expect(host.ofType("notice")).toEqual([]);
  const again = start({ env: { PARLEY_HOME: home } });
  again.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", after: { seq: -1 } });
  expect((await again.next("notice")).text).toMatch(`Line ${line} of the log of session 's' is damaged`);
  expect(await again.finish()).toBe(0);
  // A damaged snapshot is not used: the log is read.
  const file = join(home, "sessions", "s", "snapshot.json");
  const snapshot = readFileSync(file, "utf8");
  writeFileSync(file, snapshot.replace("first answer", "girst answer"));
  const third = await resumed(home);
  expect((await third.next("notice")).text).toMatch(`Line ${line} of the log of session 's' is damaged`);
  expect(await third.finish()).toBe(0);
});

// --- helpers ---

/** A session of two turns. */
async function talked(first = "one"): Promise<string> {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "first answer" }, { say: "second answer" }] });
  await host.open();
  host.prompt(first);
  await host.turnEnded();
  host.prompt("two");
  await host.turnEnded(2);
  expect(await host.finish()).toBe(0);
  return home;
}

/** The lowest bit of a character, so that the line is valid JSON still; the number of its line. */
function flip(home: string, text: string, offset = 0): number {
  const bytes = readFileSync(logOf(home));
  const at = bytes.indexOf(text) + offset;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(logOf(home), bytes);
  return bytes.subarray(0, at).toString("latin1").split("\n").length;
}

async function resumed(home: string, response: unknown = { say: "third answer" }): Promise<NativeHost> {
  const host = start({ env: { PARLEY_HOME: home } });
  host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config: { model: script([response]) } });
  await host.next("session.ready");
  return host;
}

function logOf(home: string): string {
  return join(home, "sessions", "s", "log.jsonl");
}
