import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratch } from "../../../test/support/processes.js";
import type { Entry } from "./entry.js";
import { Journal } from "./journal.js";

const open = (folder: string) => Journal.open(folder, { onFailure: () => {} });
const message = (id: string): Entry => ({
  kind: "received",
  id,
  at: 1,
  platform: "p",
  chat: "c",
  session: "s",
  from: "f",
  text: "é 😀",
  attachments: [],
});

test("what was written is there again, the user's alone, and one process has it at a time", async () => {
  const folder = join(scratch(), "state");
  const journal = await open(folder);
  journal.write(message("1"), message("2"), { kind: "started", id: "1" });
  await journal.durable();
  await expect(open(folder)).rejects.toThrow(/The bridge's state in .* is in use by process/);
  expect([statSync(folder).mode & 0o777, statSync(join(folder, "journal.jsonl")).mode & 0o777]).toEqual([0o700, 0o600]);
  await journal.close();
  const again = await open(folder);
  expect([...again.ledger.messages.values()].map(({ received, started }) => [received.id, received.text, started])).toEqual([
    ["1", "é 😀", true],
    ["2", "é 😀", false],
  ]);
  await again.close();
  expect(readdirSync(folder)).toEqual(["journal.jsonl"]);
});

test("a torn last line is cut off, and an unreadable one costs only itself: it is set aside", async () => {
  const folder = scratch();
  writeFileSync(join(folder, "journal.jsonl"), `${JSON.stringify(message("1"))}\nrubbish\n${JSON.stringify(message("2"))}\n{"kind":"rec`);
  const journal = await open(folder);
  expect([[...journal.ledger.messages.keys()], journal.unreadable]).toEqual([["1", "2"], 1]);
  journal.write(message("3"));
  await journal.close();
  expect([...(await reopened(folder)).keys()]).toEqual(["1", "2", "3"]);
  expect(readFileSync(join(folder, "unreadable.jsonl"), "utf8")).toBe("rubbish\n");
});

test("a long file becomes a short one, and says the same", async () => {
  const folder = scratch();
  const journal = await open(folder);
  const file = join(folder, "journal.jsonl");
  journal.write(message("kept"));
  for (let count = 0; count < 4000; count++) {
    journal.write({ ...told(`${count}`), text: "x".repeat(300) }, { kind: "delivered", id: `${count}` });
    if (count % 500 === 0) await journal.durable();
  }
  await journal.durable();
  expect(statSync(file).size).toBeLessThan(1024 * 1024 + 1000);
  journal.write(told("last"));
  await journal.close();
  expect(readFileSync(file, "utf8").split("\n").length).toBeLessThan(8000);
  const again = await open(folder);
  expect([[...again.ledger.messages.keys()], [...again.ledger.unsent.keys()]]).toEqual([["kept"], ["last"]]);
  await again.close();
});

test("a line that another version wrote is passed over", async () => {
  const folder = scratch();
  appendFileSync(join(folder, "journal.jsonl"), '{"kind":"later","id":"1"}\n');
  const journal = await open(folder);
  expect(journal.unreadable).toBe(1);
  await journal.close();
});

function told(id: string): Extract<Entry, { kind: "told" }> {
  return { kind: "told", id, at: 1, platform: "p", chat: "c", type: "reply", text: "t" };
}

async function reopened(folder: string): Promise<ReadonlyMap<string, unknown>> {
  const journal = await open(folder);
  await journal.close();
  return journal.ledger.messages;
}
