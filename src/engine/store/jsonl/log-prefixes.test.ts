import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { writeEntry, type Entry } from "../entry.js";
import { lostItsEnd, readEntries } from "./read-log.js";
import { LogFile } from "../../../os/files/log-file.js";
import { rebuild } from "../rebuild.js";
import { messagesIn, unsound, writtenLog } from "../testing.js";

test("opening repairs any prefix of a log, and reads back exactly its whole lines", async () => {
  const [log = []] = fc.sample(writtenLog(), { numRuns: 1, seed: 20 });
  const last: Entry = { kind: "steered", parts: [{ type: "text", text: "日本語 — é 👩‍👩‍👧" }] };
  const entries = [...log.slice(0, 12), last];
  const bytes = Buffer.from(entries.map((entry) => `${writeEntry(entry)}\n`).join(""));
  // Each opening is made durable, thousands of times: in memory, where there is such a folder.
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "parley-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "log.jsonl");
  for (let length = 0; length <= bytes.length; length++) {
    const prefix = bytes.subarray(0, length);
    const whole = entries.slice(0, prefix.filter((byte) => byte === 0x0a).length);
    writeFileSync(file, prefix);
    const unrepaired = [...readEntries(file, 0)];
    const opened = LogFile.open(file, lostItsEnd);
    await opened.close();
    const size = prefix.lastIndexOf("\n") + 1;
    const messages = rebuild(undefined, unrepaired)?.messages ?? [];
    const known = messagesIn(whole);
    expect({ sizes: [opened.size, statSync(file).size], read: unrepaired, again: [...readEntries(file, 0)] }).toEqual({
      sizes: [size, size],
      read: whole,
      again: whole,
    });
    expect([unsound(messages), messages.slice(0, known.length)]).toEqual([[], known]);
  }
});
