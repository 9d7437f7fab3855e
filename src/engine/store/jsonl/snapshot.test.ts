import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../../../../test/support/processes.js";
import type { Message } from "../../models/model.js";
import { seal, unseal } from "./checksum.js";
import { open, create, reopened, kept, said, bigMessages, padding } from "../../../../test/support/jsonl-store.js";

describe("a snapshot", () => {
  test("a snapshot and the log behind it give the same session as the log alone", async () => {
    const { home, expected } = await longSession();
    expect((await reopened(home)).messages).toEqual(expected);
    writeFileSync(join(home, "sessions", "s", "snapshot.json"), "");
    expect((await reopened(home)).messages).toEqual(expected);
  });

  test("the content of a snapshot counts for the past", async () => {
    const { home, expected } = await longSession();
    const file = join(home, "sessions", "s", "snapshot.json");
    writeFileSync(file, seal(unseal(readFileSync(file))?.replace("first words", "other words") ?? ""));
    expect((await reopened(home)).messages).not.toEqual(expected);
  });

  test("a torn snapshot does no harm", async () => {
    const { home, expected } = await longSession();
    const file = join(home, "sessions", "s", "snapshot.json");
    const whole = readFileSync(file);
    for (const length of [0, 1, 50, Math.floor(whole.length / 2), whole.length - 1]) {
      writeFileSync(file, whole.subarray(0, length));
      expect((await reopened(home)).messages).toEqual(expected);
    }
  });

  test("a snapshot older than its log does no harm", async () => {
    const { home, expected } = await longSession();
    const file = join(home, "sessions", "s", "snapshot.json");
    const old = readFileSync(file);
    const { log, session } = await open(home).open("s");
    log.append({ kind: "message", message: said("much later") });
    log.append(padding());
    log.append(padding());
    await log.settle(() => ({ ...session, messages: [...session.messages, said("much later")] }));
    await log.close();
    expect(readFileSync(file)).not.toEqual(old);
    writeFileSync(file, old);
    expect((await reopened(home)).messages.slice(0, expected.length + 1)).toEqual([...expected, said("much later")]);
  });

  test("a snapshot newer than its log, which was cut or restored from a copy, is not used", async () => {
    const { home } = await longSession();
    const log = join(home, "sessions", "s", "log.jsonl");
    const firstLine = readFileSync(log, "utf8").split("\n")[0] ?? "";
    truncateSync(log, firstLine.length + 1);
    expect((await reopened(home)).messages).toEqual([]);
    // Grown again past the place of the snapshot, with other words.
    const { log: writer } = await open(home).open("s");
    for (let count = 0; count < 5; count++) writer.append(padding());
    await writer.close();
    expect((await reopened(home)).messages.every((message) => !JSON.stringify(message).includes("first words"))).toBe(true);
  });

  /** A session with a snapshot in its middle. */
  async function longSession(): Promise<{ home: string; expected: Message[] }> {
    const home = scratch();
    const log = await create(open(home), "s");
    const messages = [said("first words"), ...bigMessages()];
    for (const message of messages) log.append({ kind: "message", message });
    await log.settle(() => kept(messages));
    log.append({ kind: "message", message: said("last words") });
    await log.close();
    expect(existsSync(join(home, "sessions", "s", "snapshot.json"))).toBe(true);
    return { home, expected: [...messages, said("last words")] };
  }
});
