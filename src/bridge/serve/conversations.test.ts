import { expect, test } from "vitest";
import { Conversations, keyOf, type RunningTurn } from "./conversations.js";
import type { Received } from "./entry.js";

test("a conversation runs one at a time, so many run at once, and a busy one starves nobody", async () => {
  const { conversations, begun, end } = house({ turns: 2, queue: 9, conversations: 9 });
  for (const id of ["a1", "a2", "a3", "b1", "b2", "c1"]) conversations.add(message(id));
  expect(begun).toEqual(["a1", "b1"]);
  await end("a1");
  expect(begun).toEqual(["a1", "b1", "c1"]);
  await end("c1");
  expect(begun).toEqual(["a1", "b1", "c1", "a2"]);
  await end("b1");
  expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2"]);
  await end("a2");
  await end("b2");
  await end("a3");
  await conversations.finished();
  expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("a full queue and a full house are told before anything is taken", async () => {
  const { conversations, end } = house({ turns: 1, queue: 2, conversations: 2 });
  for (const id of ["a1", "a2"]) conversations.add(message(id));
  expect(conversations.crowded(key("a"))).toBeUndefined();
  conversations.add(message("a3"));
  expect(conversations.crowded(key("a"))).toBe("queue");
  conversations.add(message("b1"));
  expect(conversations.crowded(key("c"))).toBe("conversations");
  expect(conversations.state(key("a"))).toEqual({ running: true, waiting: 2 });
  expect(conversations.clear(key("b")).map(({ id }) => id)).toEqual(["b1"]);
  expect(conversations.crowded(key("c"))).toBeUndefined();
  for (const id of ["a1", "a2", "a3"]) await end(id);
  await conversations.finished();
});

test("stopping ends the running turn of that conversation alone, and says why", async () => {
  const { conversations, turns, end } = house({ turns: 9, queue: 9, conversations: 9 });
  for (const id of ["a1", "b1"]) conversations.add(message(id));
  expect([conversations.stop(key("a"), "stop"), conversations.stop(key("c"), "stop")]).toEqual([true, false]);
  expect([turns.get("a1")?.signal.aborted, turns.get("a1")?.cut(), turns.get("b1")?.signal.aborted]).toEqual([true, "stop", false]);
  const closed = conversations.close();
  conversations.add(message("a2"));
  expect([turns.get("a1")?.cut(), turns.get("b1")?.cut()]).toEqual(["stop", "shutdown"]);
  await end("a1");
  await end("b1");
  await closed;
  expect(turns.has("a2")).toBe(false);
});

function house(limits: { turns: number; queue: number; conversations: number }) {
  const begun: string[] = [];
  const turns = new Map<string, RunningTurn>();
  const ends = new Map<string, () => void>();
  const conversations = new Conversations(limits, ({ id }, turn) => {
    begun.push(id);
    turns.set(id, turn);
    return new Promise((resolve) => ends.set(id, resolve));
  });
  conversations.begin();
  const end = async (id: string): Promise<void> => {
    ends.get(id)?.();
    await new Promise(setImmediate);
  };
  return { conversations, begun, turns, end };
}

/** The chat is the first letter. */
function message(id: string): Received {
  return { kind: "received", id, at: 1, platform: "p", chat: id.charAt(0), session: "s", from: "f", text: id, attachments: [] };
}

function key(chat: string): string {
  return keyOf({ platform: "p", chat, session: "s" });
}
