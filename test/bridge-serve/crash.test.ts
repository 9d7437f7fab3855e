/** `kill -9` at every point: what was accepted is answered, what was told arrives, and no turn runs twice in silence. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseEntry, type Entry } from "../../src/bridge/serve/entry.js";
import { Ledger } from "../../src/bridge/serve/ledger.js";
import { until } from "../support/processes.js";
import { site, type Bridge, type Site } from "./harness.js";
import { post, receiver, type Receiver } from "./webhook-client.js";

/** Bridges that make up for the same journal side by side. */
const AT_ONCE = 3;
const CUT_OFF = "was cut off and is not run again by itself";

describe("killed", () => {
  test("between reply and delivery: delivered after the restart, under the same id, marked; the agent runs once", async () => {
    const { here, hook, say, restart } = await open();
    hook.answer = () => new Promise(() => {});
    await say("say the reply", "m1");
    const first = await hook.sees("the reply");
    await restart();
    await until(() => hook.got.length === 2, "the second delivery");
    expect(hook.got[1]).toEqual({ ...first, repeated: true });
    expect(here.runs()).toHaveLength(1);
    await settled(here);
    await restart();
    await say("say next", "m2");
    await hook.sees("next");
    expect(hook.got).toHaveLength(3);
  });

  test("while a turn runs: the user is told, it is not run again, its words arrive, and the session is kept", async () => {
    const { here, hook, say, restart } = await open();
    await say("session s1; say one", "m1");
    await hook.sees("one");
    await say(`partial so far; touch ${here.path("runs")}; await ${here.path("never")}`, "m2");
    await say("say waiting", "m3");
    await hook.sees("so far");
    await until(() => existsSync(here.path("runs")), "the turn");
    await restart();
    expect(await hook.sees(CUT_OFF)).toMatchObject({ kind: "notice", inReplyTo: "m2" });
    expect(await hook.sees("waiting")).toMatchObject({ kind: "reply", inReplyTo: "m3" });
    expect(hook.texts()).toEqual(["one", "so far", expect.stringContaining(CUT_OFF), "waiting"]);
    expect(here.runs().map(({ message, session }) => [message.slice(0, 11), session])).toEqual([
      ["session s1;", ""],
      ["partial so ", "s1"],
      ["say waiting", "s1"],
    ]);
  });

  test("right after the message was accepted: it is answered once, and accepted once", async () => {
    const { here, hook, say, restart } = await open();
    for (const id of ["m1", "m2", "m3"]) {
      expect((await say(`say ${id} done`, id)).status).toBe(200);
      await restart();
      expect((await say(`say ${id} done`, id)).body.duplicate).toBe(true);
      await until(() => hook.got.some(({ inReplyTo, kind }) => inReplyTo === id && kind !== "partial"), `an answer to ${id}`);
    }
    await settled(here);
    expect(new Set(here.runs().map(({ message }) => message)).size).toBe(here.runs().length);
  });

  test("while a permission is asked: the turn is cut off, and a late answer does nothing", async () => {
    const { hook, say, restart } = await open({ profile: "asking.yaml" });
    await say("rm -rf build", "m1");
    const { text } = await hook.sees("Permission [");
    await restart();
    await hook.sees(CUT_OFF);
    await say(`/approve ${/\[(\w+)\]/.exec(text)?.[1]}`, "m2");
    await hook.sees("There is no request");
  });
});

describe("down for days, with answers that were not delivered", () => {
  const told = (id: number, chat: string): Entry => ({
    kind: "told",
    id: `t${id}`,
    at: Date.now() - 3 * 24 * 3_600_000,
    platform: "hook",
    chat,
    type: "reply",
    text: `answer ${id}`,
  });

  test("they are tried anew for as long as any", async () => {
    const { hook } = await opened([told(1, "c"), told(2, "c")], (count) => (count === 1 ? 503 : 200));
    await hook.sees("answer 2");
    expect(hook.got.map(({ text }) => text)).toEqual(["answer 1", "answer 1", "answer 2"]);
  });

  test("a chat with too many of them takes no more messages, and another does", async () => {
    const backlog = Array.from({ length: 1000 }, (_, index) => told(index, "c"));
    const { here, bridge, say } = await opened(backlog, () => 503);
    expect(await say("say hi", "m1")).toMatchObject({ status: 429, body: { why: "full" } });
    expect((await say("say hi", "m2", "d")).status).toBe(200);
    await bridge.kill("SIGKILL");
    await here.gone();
  });

  async function opened(entries: readonly Entry[], status: (count: number) => number) {
    const here = site();
    const hook = await receiver();
    hook.answer = (_, count) => status(count);
    mkdirSync(here.path("state"));
    writeFileSync(here.path("state/journal.jsonl"), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    const settings = { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, allow: ["ann"] };
    const bridge = await here.start({ limits: { shutdownSeconds: 1 }, platforms: { hook: settings } }).up();
    return { here, bridge, hook, say: (text: string, id: string, chat = "c") => post(bridge.url, { id, chat, from: "ann", text }) };
  }
});

test("again and again in the midst of traffic: every accepted message is answered, and none is run twice", async () => {
  const { here, hook, say, restart } = await open();
  const accepted: string[] = [];
  for (let round = 0; round < 8; round++) {
    const before = here.journal().length;
    const posts = Array.from({ length: 5 }, async (_, index) => {
      const id = `m${round}.${index}`;
      const { status } = await say(`partial ${id} begins; say ${id} ends`, id, `chat ${index % 3}`).catch(() => ({ status: 0 }));
      if (status === 200) accepted.push(id);
    });
    // Each round a little later.
    await until(() => here.journal().length > before + 200 + round * 450, "the journal to grow");
    await Promise.all([restart(), ...posts]);
  }
  await settled(here);
  for (const id of accepted) {
    const answers = hook.got.filter(({ inReplyTo, kind }) => inReplyTo === id && kind !== "partial").map(({ text }) => text);
    expect(answers.length, id).toBeGreaterThan(0);
    expect(
      answers.every((text) => text === `${id} ends` || text.includes(CUT_OFF)),
      `${id}: ${answers.join()}`,
    ).toBe(true);
  }
  const runs = here.runs().map(({ message }) => message);
  expect(runs.filter((message, index) => runs.indexOf(message) !== index)).toEqual([]);
  expect(accepted.length).toBeGreaterThan(8);
}, 120_000);

test("from every line of the journal on, and from the middle of a line, all is made good", async () => {
  const lines = await recorded();
  expect(lines.length).toBeGreaterThan(15);
  const counts = [...lines.keys(), lines.length];
  while (counts.length > 0) {
    const some = counts.splice(0, AT_ONCE);
    await Promise.all(some.map((count) => makesGood(lines.slice(0, count), (lines[count] ?? "").slice(0, count * 7))));
  }
}, 180_000);

/** The journal of a bridge to which all sorts of things happened. */
async function recorded(): Promise<string[]> {
  const { here, hook, say, bridge } = await open();
  const go = here.path("go");
  await say(`partial p1; await ${go}; partial p2; say one`, "m1");
  await hook.sees("p1");
  await say("say two", "m2");
  await say("/new", "m3");
  await say("/sessions", "m4");
  await say("error three", "m5");
  writeFileSync(go, "");
  await hook.sees("three");
  await settled(here);
  const lines = here.journal().trimEnd().split("\n");
  await bridge().kill("SIGKILL");
  return lines;
}

async function makesGood(lines: readonly string[], torn: string): Promise<void> {
  const entries = lines.map((line) => parseEntry(line) ?? expect.fail(line));
  const before = folded(entries);
  const hook = await receiver();
  const here = site();
  mkdirSync(here.path("state"));
  writeFileSync(here.path("state/journal.jsonl"), lines.map((line) => `${line}\n`).join("") + torn);
  // The recorded turns wait for a file of another folder, which is there no more.
  const bridge = await here.start(configOf(hook, { profile: "quick.yaml" })).up();
  await settled(here);
  const at = `after ${lines.length} lines`;
  for (const { received, started } of before.messages.values()) {
    const answers = hook.got.filter(({ inReplyTo, kind }) => inReplyTo === received.key && kind !== "partial");
    expect(answers.length, `${at}: answers to ${received.text}`).toBeGreaterThan(0);
    expect(hook.ended.has(received.key ?? ""), `${at}: the end of ${received.text}`).toBe(true);
    if (started) expect(answers.at(-1)?.text, at).toContain(CUT_OFF);
  }
  for (const { told, attempted } of before.unsent.values()) {
    if (told.type === "end") continue;
    expect(
      hook.got.filter(({ id }) => id === told.id),
      `${at}: ${told.text}`,
    ).toMatchObject([{ text: told.text, repeated: attempted }]);
  }
  const unstarted = [...before.messages.values()].filter(({ started, received }) => !started && received.text !== "/new");
  expect(
    here.runs().map(({ message }) => message),
    at,
  ).toEqual(unstarted.map(({ received }) => received.text));
  await bridge.kill("SIGKILL");
  await here.gone();
}

interface Open {
  here: Site;
  hook: Receiver;
  bridge(): Bridge;
  say(text: string, id?: string, chat?: string): ReturnType<typeof post>;
  /** kill -9, and the same again. */
  restart(): Promise<void>;
}

async function open(more: Record<string, unknown> = {}): Promise<Open> {
  const here = site();
  const hook = await receiver();
  let bridge = await here.start(configOf(hook, more)).up();
  return {
    here,
    hook,
    bridge: () => bridge,
    say: (text, id = randomUUID(), chat = "c") => post(bridge.url, { id, chat, from: "ann", text }),
    async restart() {
      await bridge.kill("SIGKILL");
      // Nothing that it started outlives it.
      await here.gone();
      hook.answer = () => 200;
      bridge = await here.start(configOf(hook, more)).up();
    },
  };
}

function configOf(hook: Receiver, more: Record<string, unknown>): Record<string, unknown> {
  const settings = { type: "webhook", listen: 0, secretEnv: "HOOK_SECRET", callbackUrl: hook.url, allow: ["ann"], ...more };
  return { platforms: { hook: settings } };
}

/** When the journal says that nothing is left to do. */
async function settled(here: Site): Promise<void> {
  await until(() => {
    const { messages, unsent } = folded(
      here
        .journal()
        .split("\n")
        .flatMap((line) => parseEntry(line) ?? []),
    );
    return messages.size + unsent.size === 0;
  }, "nothing to be left to do");
}

function folded(entries: readonly Entry[]): Ledger {
  const ledger = new Ledger();
  for (const entry of entries) ledger.apply(entry);
  return ledger;
}
