/** The rehearsal model in the real engine, with the real tools: the example scripts, and plain orders. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Agent } from "../../../core/agent.js";
import { plainText } from "../../../core/content.js";
import type { Event, EventOf } from "../../../core/event.js";
import { createEngine } from "../../engine.js";
import { openRehearsal } from "./index.js";

const SCRIPTS = new URL("../../../../examples/scripts/", import.meta.url).pathname;

let folder: string;
let agent: Agent;
let events: AsyncIterator<Event>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rehearsal-"));
});
afterEach(async () => {
  await agent.close();
  await rm(folder, { recursive: true });
});

async function start(script?: string): Promise<void> {
  agent = createEngine({
    defaults: { cwd: folder, mode: "yolo" },
    openModel: () => openRehearsal(script === undefined ? {} : { script: join(SCRIPTS, script) }),
    env: process.env,
    version: "0",
  });
  events = agent.events[Symbol.asyncIterator]();
  await agent.send({ type: "session.open", open: "new", session: "s", config: {} });
}

/** One prompt, played to the end of its turn. */
async function prompt(text: string) {
  await agent.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text }] });
  const seen: Event[] = [];
  for (;;) {
    const next = await events.next();
    if (next.done === true) throw new Error("the agent closed");
    seen.push(next.value);
    if (next.value.type === "turn.ended") return { seen, end: next.value, said: of(seen, "text.done").map((event) => event.text) };
  }
}

function of<T extends Event["type"]>(seen: readonly Event[], type: T): EventOf<T>[] {
  return seen.filter((event): event is EventOf<T> => event.type === type);
}

test("examples/scripts/hello.yaml", async () => {
  await writeFile(join(folder, "notes.txt"), "buy milk\n");
  await start("hello.yaml");
  const { seen, said, end } = await prompt("What is in my notes?");
  expect(of(seen, "thinking.done").map((event) => event.text)).toEqual(["The user wants to know what is in the notes."]);
  expect(of(seen, "tool.requested").map((event) => event.call.args)).toEqual([{ file_path: "notes.txt" }]);
  expect(said).toEqual(["Let me look.", "Your notes say: buy milk."]);
  expect(end).toMatchObject({ outcome: "completed", finish: "stop" });
});

test("examples/scripts/approvals.yaml", async () => {
  await start("approvals.yaml");
  for (const round of ["first", "second"]) {
    const { seen, said } = await prompt(round);
    const calls = of(seen, "tool.requested").map(({ call }) => call);
    expect(calls.map(({ name }) => name)).toEqual(["Write", "Bash"]);
    // An id that was used before is replaced: calls of a session are told apart by it.
    expect(calls.some(({ id }) => id === "write_a")).toBe(round === "first");
    expect(of(seen, "tool.ended").map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(of(seen, "usage")[0]?.usage).toEqual({ input: 120, output: 30, cacheRead: 1000 });
    expect(said).toEqual(["Both calls are settled."]);
  }
  expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("hi\n");
});

test("examples/scripts/bad-day.yaml", async () => {
  await start("bad-day.yaml");
  const first = await prompt("go");
  expect(of(first.seen, "notice").filter((event) => event.kind === "retry")).toHaveLength(3);
  expect(of(first.seen, "tool.ended").map((event) => event.status)).toEqual(["failed"]);
  expect(of(first.seen, "text.delta").length).toBeGreaterThan(1000);
  expect(of(first.seen, "notice").filter((event) => event.kind === "length")).toHaveLength(1);
  expect(first.end).toMatchObject({ outcome: "failed", fault: { status: 401, message: "Invalid API key" } });
  expect((await prompt("say all is well")).said).toEqual(["all is well"]);
});

test("plain orders run the real tools", async () => {
  await start();
  await prompt("write 'hello world' to a.txt, then replace world with there in a.txt, then copy a.txt to b.txt");
  expect(await readFile(join(folder, "b.txt"), "utf8")).toBe("hello there");
  expect((await prompt("run `cat b.txt` and save the output to c.txt")).said.at(-1)).toBe("`cat b.txt`:\nhello there\nWrote c.txt.");
  expect(await readFile(join(folder, "c.txt"), "utf8")).toBe("hello there");
  expect((await prompt("search for there")).said.at(-1)).toMatch(/^3 matches for 'there':/);
  expect((await prompt("list the files")).said.at(-1)).toMatch(/^3 files /);
  await prompt("append \"it's more\" to 'a file.txt'");
  expect(await readFile(join(folder, "a file.txt"), "utf8")).toBe("it's more\n");
});

test("sub-agents obey the orders they are given", async () => {
  await writeFile(join(folder, "a.txt"), "alpha\n");
  await start();
  const { seen } = await prompt("ask two sub-agents: read a.txt; say beta");
  const [spawned] = of(seen, "tool.ended").filter((event) => event.under === undefined);
  const answer = plainText(spawned?.output ?? []);
  expect(answer).toContain("alpha");
  expect(answer).toContain("beta");
});

test("a hanging model is interrupted", async () => {
  await start();
  await agent.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say hi, then wait forever" }] });
  for (let event = await events.next(); ; event = await events.next()) {
    if (event.value.type === "text.delta") await agent.send({ type: "turn.interrupt", session: "s" });
    if (event.value.type !== "turn.ended") continue;
    expect(event.value.outcome).toBe("interrupted");
    return;
  }
});

test("a session without extensions tells a catalogue all the same, and only one", async () => {
  await start();
  const first = await prompt("say hi");
  const second = await prompt("say ho");
  const told = [...first.seen, ...second.seen].filter((event) => event.type === "catalog.updated");
  expect(told).toMatchObject([{ session: "s", whole: true, skills: [], subagents: [], mcpServers: [], commands: [] }]);
});
