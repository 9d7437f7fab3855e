/** Threads as they are kept: names, archives, copies up to a turn, turns that are taken back, removals. */
import * as v from "valibot";
import { expect, it } from "vitest";
import { scratch } from "../process/harness.js";
import { greetedClient, type Client, type Line } from "./client.js";

const Ids = v.looseObject({ data: v.array(v.looseObject({ id: v.string(), name: v.nullable(v.string()) })) });
const Opened = v.looseObject({ thread: v.looseObject({ id: v.string(), turns: v.array(v.looseObject({ id: v.string() })) }) });

const listed = async (client: Client, params: object = {}): Promise<string[]> =>
  v.parse(Ids, (await client.ask("thread/list", params)).result).data.map(({ id, name }) => `${id} ${name ?? "-"}`);
const opened = ({ result }: Line): v.InferOutput<typeof Opened>["thread"] => v.parse(Opened, result).thread;

async function said(client: Client, threadId: string, ...prompts: string[]): Promise<string[]> {
  const turns: string[] = [];
  for (const prompt of prompts) {
    const turn = await client.prompt(threadId, prompt);
    await client.completed(turn);
    turns.push(turn);
  }
  return turns;
}

it("a name is set while a thread is loaded and when it is not, and stays", async () => {
  const home = scratch();
  const first = await greetedClient({ home });
  const threadId = await first.thread();
  await said(first, threadId, "say hi");
  expect(await first.ask("thread/name/set", { threadId, name: " mine " })).toMatchObject({ result: {} });
  expect(await first.next("thread/name/updated")).toMatchObject({ params: { threadId, threadName: "mine" } });
  expect((await first.ask("thread/read", { threadId })).result).toMatchObject({ thread: { name: "mine" } });
  expect(await first.ask("thread/name/set", { threadId, name: " " })).toMatchObject({
    error: { message: "thread name must not be empty" },
  });
  expect(await first.ask("thread/name/set", { threadId: "none", name: "x" })).toMatchObject({ error: { code: -32_600 } });
  expect(await first.finish()).toBe(0);
  const second = await greetedClient({ home });
  expect(await listed(second)).toEqual([`${threadId} mine`]);
  expect(await second.ask("thread/name/set", { threadId, name: "theirs" })).toMatchObject({ result: {} });
  expect((await second.ask("thread/resume", { threadId })).result).toMatchObject({ thread: { name: "theirs" } });
  const copy = opened(await second.ask("thread/fork", { threadId }));
  expect((await listed(second)).toSorted()).toEqual([`${threadId} theirs`, `${copy.id} theirs`].toSorted());
  expect(await second.finish()).toBe(0);
});

it("an archived thread is closed, listed apart, and comes back", async () => {
  const client = await greetedClient({ cwd: scratch() });
  const threadId = await client.thread();
  await said(client, threadId, "say hi");
  expect(await client.ask("thread/archive", { threadId })).toMatchObject({ result: {} });
  expect(await client.next("thread/archived")).toMatchObject({ params: { threadId } });
  expect(await client.next("thread/closed")).toMatchObject({ params: { threadId } });
  expect([await listed(client), await listed(client, { archived: true })]).toEqual([[], [`${threadId} -`]]);
  expect(await client.ask("thread/unarchive", { threadId })).toMatchObject({ result: { thread: { id: threadId } } });
  expect(await client.next("thread/unarchived")).toMatchObject({ params: { threadId } });
  expect([await listed(client), await listed(client, { archived: true })]).toEqual([[`${threadId} -`], []]);
  expect(await client.ask("thread/unarchive", { threadId })).toMatchObject({ error: { message: expect.stringContaining(threadId) } });
  expect(await client.finish()).toBe(0);
});

it("a copy ends behind the turn that the client names", async () => {
  const client = await greetedClient();
  const threadId = await client.thread();
  const [one = "", two = "", three = ""] = await said(client, threadId, "remember the word otter", "remember the word heron", "say hi");
  const copy = opened(await client.ask("thread/fork", { threadId, lastTurnId: one }));
  expect(copy.turns.map(({ id }) => id)).toEqual([one]);
  const [turn = ""] = await said(client, copy.id, "what word did I tell you to remember?");
  expect(JSON.stringify(client.items(turn))).toContain("otter");
  expect(opened(await client.ask("thread/fork", { threadId, lastTurnId: three })).turns.map(({ id }) => id)).toEqual([one, two, three]);
  expect(await client.ask("thread/fork", { threadId, lastTurnId: "none" })).toMatchObject({
    error: { code: -32_600, message: expect.stringContaining("none") },
  });
  expect(await client.finish()).toBe(0);
});

it("a thread goes back to before a turn, and is removed for good", async () => {
  const home = scratch();
  const client = await greetedClient({ home });
  const threadId = await client.thread();
  const [one = "", two = ""] = await said(client, threadId, "remember the word otter", "remember the word heron");
  expect(await client.ask("thread/revert", { threadId, beforeTurnId: "none" })).toMatchObject({ error: { code: -32_600 } });
  expect(await client.ask("thread/revert", { threadId, beforeTurnId: two })).toMatchObject({ result: { thread: { id: threadId } } });
  expect(await client.next("thread/reverted")).toMatchObject({ params: { threadId } });
  expect((await client.ask("thread/turns/list", { threadId })).result).toMatchObject({ data: [{ id: one }] });
  const [turn = ""] = await said(client, threadId, "what word did I tell you to remember?");
  expect(JSON.stringify(client.items(turn))).toContain("otter");
  expect(await client.ask("thread/delete", { threadId })).toMatchObject({ result: {} });
  expect(await client.next("thread/deleted")).toMatchObject({ params: { threadId } });
  expect(await client.ask("thread/delete", { threadId })).toMatchObject({ error: { code: -32_600 } });
  expect(await listed(client)).toEqual([]);
  expect(await client.finish()).toBe(0);
});
