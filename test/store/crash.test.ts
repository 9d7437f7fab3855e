/**
 * The command is killed with -9 in the middle of its work and resumed: nothing that its host had heard is lost, no tool runs twice, and
 * a call whose end nobody knows is told. When it is killed is drawn from the seed in each test's name, and counted in events.
 */
import { appendFileSync, cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { plainText } from "../../src/core/content.js";
import { Event, type EventOf, type EventType } from "../../src/core/event.js";
import type { Message } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import type { StoredSession } from "../../src/engine/store/store.js";
import { launch } from "../aionrs/host.js";
import { type NativeHost, processesWith, run, scratch, script, start, until } from "../process/harness.js";

const SEEDS = Array.from({ length: 28 }, (_, index) => index + 1);

describe("killed at a random moment and resumed", () => {
  test.each(SEEDS)("seed %i", async (seed) => {
    const dice = diceOf(seed);
    const story = new Story();
    const first = story.start(workScript("one"));
    await first.open(CONFIG);
    first.prompt("do it all");
    await killAfter(first, 1 + (dice() % 50), dice() % 12);
    await story.check(first);
    await story.goOn();
  });

  test.each([101, 102, 103])("five times in a row, seed %i", async (seed) => {
    const dice = diceOf(seed);
    const story = new Story();
    const first = story.start(workScript("one"));
    await first.open(CONFIG);
    first.prompt("do it all, one");
    await killAfter(first, 1 + (dice() % 50), dice() % 12);
    await story.check(first);
    for (const name of ["two", "three", "four", "five"]) {
      const host = await story.resume(workScript(name));
      host.prompt(`do it all, ${name}`);
      await killAfter(host, 1 + (dice() % 50), dice() % 12);
      await story.check(host);
    }
    await story.goOn();
    const turns = story.heard.filter((event) => event.type === "turn.started").map((event) => event.turn);
    expect(new Set(turns).size).toBe(turns.length);
  });

  test("in the middle of a long stream: what was written of it is kept", async () => {
    const story = new Story();
    const host = story.start([{ say: { text: "word ", pieces: 400_000 } }]);
    await host.open(CONFIG);
    host.prompt("talk");
    const log = join(story.home, "sessions", "s", "log.jsonl");
    await until(() => existsSync(log) && readFileSync(log, "utf8").includes('"partial"'));
    await kill(host);
    const { messages } = await story.peek();
    expect(messages.at(-1)).toMatchObject({ role: "assistant", blocks: [{ type: "text", text: expect.stringMatching(/^(word )+/) }] });
    await story.check(host);
    const text = textOf(messages.at(-1));
    const { stdout } = await run(["sessions", "show", "s"], { env: { PARLEY_HOME: story.home } });
    expect(stdout).not.toContain(text);
    await story.goOn();
    expect((await run(["sessions", "show", "s"], { env: { PARLEY_HOME: story.home } })).stdout).toContain(text);
  });
});

test("a call that ran is named to the host and to the model, and one that waited did not run", async () => {
  const story = new Story();
  const host = story.start([{ say: "Two things.", calls: [bash("first", "sleep 300"), bash("second")] }, { say: "never" }]);
  await host.open(CONFIG);
  host.prompt("go");
  await host.next("tool.started");
  await until(() => story.ran("first") === 1);
  await kill(host);
  const { crash, messages } = await story.peek();
  expect(crash?.unknown).toMatchObject([{ id: "first", name: "Bash" }]);
  expect(resultsOf(messages).map((result) => [result.call, plainText(result.parts)])).toEqual([
    ["first", expect.stringContaining("whether it took effect is unknown")],
    ["second", expect.stringContaining("did not run")],
  ]);
  await story.check(host);
  const again = await story.resume([{ expect: { toolResult: "/is unknown[^]*did not run/" }, say: "I see." }]);
  const notice = await again.next("notice");
  expect(notice).toMatchObject({ kind: "recovered", level: "warning", data: { unknown: [{ id: "first" }] } });
  expect(notice.text).toContain("first");
  expect(notice.text).not.toContain("second");
  again.prompt("continue");
  await completed(again, "I see.");
  expect(await again.finish()).toBe(0);
  expect([story.ran("first"), story.ran("second")]).toEqual([1, 0]);
});

test("an approval that nobody answered is asked no more, and its call did not run", async () => {
  const story = new Story();
  const host = story.start([{ calls: [bash("gated")] }]);
  await host.open({ ...CONFIG, mode: "default" });
  host.prompt("go");
  await host.next("approval.requested");
  await kill(host);
  await story.check(host);
  const again = await story.resume([{ expect: { toolResult: "did not run" }, say: "ok" }]);
  expect(await again.next("notice")).toMatchObject({ kind: "recovered", data: { unknown: [] } });
  again.allow("gated");
  expect(await again.next("reply")).toMatchObject({ status: "error" });
  again.prompt("continue");
  await completed(again, "ok");
  expect(await again.finish()).toBe(0);
  expect(story.ran("gated")).toBe(0);
});

test("what was steered in and heard is not lost", async () => {
  const story = new Story();
  const host = story.start([{ calls: [bash("long", "sleep 300")] }]);
  await host.open(CONFIG);
  host.prompt("go");
  await host.next("tool.started");
  host.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "mind the gap" }] });
  expect(await host.next("reply", (event) => event.to === "turn.steer")).toMatchObject({ status: "ok" });
  await kill(host);
  expect(textOf((await story.peek()).messages.at(-1))).toBe("mind the gap");
  await story.check(host);
  await story.goOn();
});

test("over aionrs the recovered call is told as info, and the conversation goes on", async () => {
  const story = new Story();
  const { env, cwd } = story.options();
  const agent = launch({ env, cwd, responses: [{ calls: [bash("slow", "sleep 300")] }], args: ["--session-id", "s", "--auto-approve"] });
  await agent.next("ready");
  agent.message("m1");
  await agent.next("tool_running");
  await until(() => story.ran("slow") === 1);
  agent.child.kill("SIGKILL");
  await agent.exited;
  await story.settled();
  const again = launch({ env, cwd, responses: [{ expect: { toolResult: "is unknown" }, say: "I see." }], args: ["--resume", "s"] });
  expect(await again.next("ready")).toMatchObject({ session_id: "s" });
  expect(await again.next("info")).toMatchObject({ msg_id: "", message: expect.stringMatching(/unknown.*slow/) });
  again.message("m2", "continue");
  await again.next("stream_end");
  expect(again.text("m2")).toBe("I see.");
  again.child.stdin.end();
  expect((await again.exited).code).toBe(0);
  expect(story.ran("slow")).toBe(1);
});

// --- the story of one session over several processes ---

const CONFIG: SessionConfig = { mode: "yolo", hostTools: [{ name: "Note" }] };

/** A turn with everything: thinking, long streams, calls one after the other and side by side, tools of the host, a sub-agent. */
function workScript(name: string): unknown[] {
  const host = (id: string) => ({ tool: "Note", args: { id: `${name}-${id}` }, id: `${name}-${id}` });
  return [
    {
      think: "Let me see what there is.",
      say: { text: "I begin. ", pieces: 60 },
      calls: [bash(`${name}-a`), host("b"), host("c"), bash(`${name}-d`, "sleep 0.05")],
    },
    {
      say: "Now the rest.",
      calls: [host("e"), { tool: "Read", args: { file_path: "nothing.txt" }, id: `${name}-read` }, bash(`${name}-f`)],
    },
    {
      say: { text: "Nearly. ", pieces: 40 },
      call: { tool: "Spawn", args: { tasks: [{ name: "child", prompt: "help" }] }, id: `${name}-spawn` },
    },
    { calls: [bash(`${name}-g`)] },
    { say: "The child is done." },
    { say: { text: "The end. ", pieces: 30 } },
  ];
}

/** A command that leaves one line each time that it runs. */
function bash(id: string, then = "true") {
  return { tool: "Bash", args: { command: `echo ${id} >> ran.txt; ${then}` }, id };
}

class Story {
  readonly home = scratch();
  readonly cwd = scratch();
  readonly heard: Event[] = [];
  /** Calls of any run whose end nobody knows. */
  readonly #unknown = new Set<string>();
  readonly #mark = `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;

  options() {
    return { cwd: this.cwd, env: { PARLEY_HOME: this.home, PARLEY_TEST_MARK: this.#mark } };
  }

  start(responses: unknown[]): NativeHost {
    const host = start({ ...this.options(), responses });
    // The tools of the host note that they ran, and take a moment to say so.
    host.child.stdout.on("data", () => {
      for (const request of host.ofType("host.request").slice(answered)) {
        answered++;
        const { name, args } = v.parse(HostCall, request.data);
        appendFileSync(join(this.cwd, "ran.txt"), `${args.id}\n`);
        setTimeout(
          () => host.send({ type: "host.answer", session: "s", request: request.request, ok: true, data: `${name} ${args.id}` }),
          5,
        );
      }
    });
    let answered = 0;
    return host;
  }

  async resume(responses: unknown[]): Promise<NativeHost> {
    const host = this.start(responses);
    const config = { ...CONFIG, model: script(responses) };
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", after: { seq: -1 }, config });
    const ready = await host.next("session.ready");
    const replay = Number(ready.replay);
    await until(() => host.events.length > replay);
    const replayed = host.events.filter((event) => event.replay === true);
    expect(replayed).toHaveLength(replay);
    expect(host.events.slice(1, replay + 1)).toEqual(replayed);
    expect((ready.seq ?? 0) >= nextMultiple(this.heard)).toBe(true);
    return host;
  }

  /** How often a tool ran. */
  ran(id: string): number {
    const file = join(this.cwd, "ran.txt");
    return existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter((line) => line === id).length
      : 0;
  }

  /** What a resume would find, found in a copy, so that nothing is mended yet. */
  async peek(): Promise<StoredSession> {
    const copy = scratch();
    cpSync(this.home, copy, { recursive: true });
    const { session, log } = await jsonlStore(copy, { keep: 99, redact: (value) => value }).open("s");
    await log.close();
    return session;
  }

  async settled(): Promise<void> {
    await until(() => processesWith(this.#mark).length === 0);
  }

  /** After a kill: what the host had heard is all there, and what ran is told truly. */
  async check(host: NativeHost): Promise<void> {
    await this.settled();
    this.heard.push(...host.events.filter((event) => event.replay !== true));
    const session = await this.peek();
    const shown = await this.shown();
    const said = session.messages.flatMap((message) => (message.role === "tool" ? [] : [textOf(message)])).join("\n");
    for (const event of this.heard) {
      if (!ACKNOWLEDGED.has(event.type)) continue;
      expect(shown.get(event.seq ?? -1), `seq ${event.seq ?? ""} in the log`).toEqual(shownAs(event));
      if (event.type === "text.done" && event.under === undefined) expect(said).toContain(event.text);
      if (event.type === "turn.started") expect(said).toContain(promptOf(event, [...shown.values()]));
    }
    this.#checkCalls(host, session, [...shown.values()]);
  }

  /** The end of it: what is left open is told, "continue" runs nothing again, and the log is whole. */
  async goOn(): Promise<void> {
    const { messages, crash } = await this.peek();
    const before = this.#lines();
    const host = await this.resume([{ expect: { messages: messages.length + 1, lastUser: "continue" }, say: "Going on." }]);
    if (crash !== undefined) expect((await host.next("notice", (event) => event.replay !== true)).data).toEqual({ unknown: crash.unknown });
    host.prompt("continue");
    await completed(host, "Going on.");
    expect(await host.finish()).toBe(0);
    expect(host.ofType("notice").filter((event) => event.replay !== true)).toHaveLength(crash === undefined ? 0 : 1);
    expect(this.#lines()).toEqual(before);
    for (const line of before) expect(this.ran(line)).toBe(1);
    const after = await this.peek();
    expect(after.crash).toBeUndefined();
    expect(after.messages.slice(0, messages.length)).toEqual(messages);
    expect(after.messages.slice(messages.length)).toMatchObject([{ role: "user" }, { role: "assistant" }]);
    await this.settled();
  }

  #lines(): string[] {
    const file = join(this.cwd, "ran.txt");
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  }

  async shown(): Promise<Map<number, Event>> {
    const { stdout, code } = await run(["sessions", "show", "s", "--json"], { env: { PARLEY_HOME: this.home } });
    // A session whose first line was never written is none; then nobody can have heard of it.
    if (code !== 0) expect(this.heard.some((event) => ACKNOWLEDGED.has(event.type))).toBe(false);
    const events = stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => v.parse(Event, JSON.parse(line)));
    const seqs = events.map((event) => event.seq ?? -1);
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(new Set(seqs).size).toBe(seqs.length);
    return new Map(events.map((event) => [event.seq ?? -1, event]));
  }

  #checkCalls(host: NativeHost, session: StoredSession, shown: readonly Event[]): void {
    const unknown = this.#unknown;
    for (const { id } of session.crash?.unknown ?? []) unknown.add(id);
    const ended = new Set(shown.flatMap((event) => (event.type === "tool.ended" ? [event.call] : [])));
    for (const { call } of host.ofType("tool.started")) expect(unknown.has(call) || ended.has(call), `the fate of ${call}`).toBe(true);
    for (const { call, parts } of resultsOf(session.messages)) {
      if (plainText(parts).includes("did not run")) expect(this.ran(call), `${call} did not run`).toBe(0);
      else if (!unknown.has(call) && !/read|spawn/.test(call)) expect(this.ran(call), `${call} ran`).toBe(1);
      expect(this.ran(call)).toBeLessThan(2);
    }
  }
}

/** The first turn since the resume ends well, with these words. */
async function completed(host: NativeHost, text: string): Promise<void> {
  const ended = await host.next("turn.ended", (event) => event.replay !== true);
  expect(ended).toMatchObject({ outcome: "completed" });
  expect(
    host
      .ofType("text.done")
      .filter((event) => event.turn === ended.turn)
      .map((event) => event.text),
  ).toEqual([text]);
}

const HostCall = v.object({ name: v.string(), args: v.object({ id: v.string() }) });

const ACKNOWLEDGED: ReadonlySet<EventType> = new Set<EventType>([
  "turn.started",
  "turn.ended",
  "text.done",
  "thinking.done",
  "tool.requested",
  "tool.started",
  "tool.ended",
]);

function shownAs(event: Event): Event {
  const { streamed: _, ...whole } = { streamed: undefined, ...event };
  return whole;
}

function promptOf({ turn }: EventOf<"turn.started">, shown: readonly Event[]): string {
  const asked = shown.find((event) => event.type === "user.message" && event.turn === turn);
  return asked?.type === "user.message" ? plainText(asked.parts) : "a prompt that nobody kept";
}

function textOf(message: Message | undefined): string {
  if (message?.role === "user") return plainText(message.parts);
  return message?.role === "assistant" ? message.blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n") : "";
}

function resultsOf(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === "tool" ? message.results : []));
}

function nextMultiple(events: readonly Event[]): number {
  return (Math.floor(Math.max(0, ...events.map((event) => event.seq ?? 0)) / 2 ** 20) + 1) * 2 ** 20;
}

/** Kills it once so many whole events, and then so many more of any kind, have been heard; or when its turn ends before. */
async function killAfter(host: NativeHost, whole: number, more: number): Promise<void> {
  const isDue = (): boolean => {
    const own = host.events.filter((event) => event.replay !== true);
    let count = 0;
    const at = own.findIndex((event) => !/\.(delta|progress)$/.test(event.type) && ++count >= whole);
    return (at !== -1 && own.length > at + more) || own.some((event) => event.type === "turn.ended");
  };
  if (!isDue()) {
    await new Promise<void>((resolve) => {
      host.child.stdout.on("data", () => {
        if (isDue()) resolve();
      });
      host.child.once("exit", () => resolve());
    });
  }
  await kill(host);
}

async function kill(host: NativeHost): Promise<void> {
  host.child.kill("SIGKILL");
  await host.exited;
}

/** mulberry32: small, and the same everywhere. */
function diceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
