/** The engine and its store, in one process: what a resumed session is, compared with what it was. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { Event, EventOf, EventType } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import type { Op } from "../../src/core/op.js";
import { createEngine } from "../../src/engine/engine.js";
import type { Message, ModelPart } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import { scratch } from "../support/processes.js";

const SECRET = "sk-very-secret-value";

const WORK: ModelPart[][] = [
  [
    { type: "thinking", text: "hm" },
    { type: "thinking.end", meta: { anthropic: { signature: "sig-1" } } },
    { type: "thinking.end", meta: { anthropic: { redactedData: "opaque" } } },
    { type: "text", text: "I write — naïvely — 日本語 \u2028 and \ud83d" },
    { type: "text", text: "\ude00." },
    { type: "text.end", meta: { openai: { itemId: "msg_1" } } },
    {
      type: "call",
      call: { id: "w", name: "Write", args: { file_path: "a.txt", content: "x\n" } },
      meta: { google: { thoughtSignature: "t" } },
    },
    { type: "call", call: { id: "x", name: "Nonsense", args: { constructor: 1, __proto: 2 } } },
    { type: "call", call: { id: "y", name: "Read", args: {}, raw: "{broken" } },
    { type: "usage", usage: { input: 3, output: 4, cacheRead: 1 } },
    { type: "finish", reason: "tool_calls" },
  ],
  [{ type: "text", text: "Done." }, { type: "text.end" }, { type: "finish", reason: "stop" }],
];

test("the model gets the very same conversation after a resume, with what its vendor wants back", async () => {
  const home = scratch();
  const first = new Run(home, WORK);
  await first.open();
  await first.send({ type: "session.seed", session: "s", text: "earlier on" });
  await first.turn("go, with an image", [{ type: "image", mime: "image/png", data: "AAAA" }]);
  await first.turn("and again");
  const live = first.requests.at(-1);
  await first.end();

  const second = new Run(home, [[{ type: "text", text: "hello" }]]);
  await second.open({ open: "resume", sessionId: "s" });
  await second.turn("next");
  const resumed = second.requests.at(-1) ?? [];
  expect(resumed.slice(0, live?.length)).toEqual(live);
  expect(resumed.slice(live?.length ?? 0)).toEqual([
    { role: "assistant", blocks: [{ type: "text", text: "(end)" }] },
    { role: "user", parts: [{ type: "text", text: "next" }] },
  ]);
  expect(second.of("notice")).toEqual([]);
  await second.end();
});

describe("a resumed session", () => {
  test("is what it was, except for what its opener says", async () => {
    const home = scratch();
    const first = new Run(home, []);
    await first.open({ config: { mode: "plan", system: "be brief", model: "m-1" } });
    await first.send({ type: "session.configure", session: "s", patch: { thinking: "high" } });
    await first.end();
    const second = new Run(home, [], { mode: "yolo", system: "default" });
    const ready = await second.open({ open: "resume", sessionId: "s", config: { system: "be long" } });
    expect(ready).toMatchObject({ sessionId: "s", config: { mode: "plan", thinking: "high", model: "m-1", system: "be long" } });
    await second.end();
    // What the opener said is what it is from then on.
    const third = new Run(home, [], {});
    expect(await third.open({ open: "resume", sessionId: "s" })).toMatchObject({ config: { mode: "plan", system: "be long" } });
    await third.end();
  });

  test("has the tools of the host that opens it, not of the one that is gone", async () => {
    const home = scratch();
    const first = new Run(home, []);
    await first.open({ config: { hostTools: [{ name: "Note" }], allowedTools: ["Read", "Note"] } });
    await first.end();
    const again = new Run(home, []);
    const same = { config: { hostTools: [{ name: "Note" }] } };
    expect(await again.open({ open: "resume", sessionId: "s", ...same })).toMatchObject({ config: { allowedTools: ["Read", "Note"] } });
    await again.end();
    const second = new Run(home, []);
    const { config } = await second.open({ open: "resume", sessionId: "s" });
    expect(config).not.toHaveProperty("hostTools");
    expect(config).toMatchObject({ allowedTools: ["Read"] });
    await second.end();
    const third = new Run(home, []);
    const given = { config: { hostTools: [{ name: "Other" }] } };
    expect(await third.open({ open: "resume", sessionId: "s", ...given })).toMatchObject(given);
    await third.end();
  });

  test("takes another model with that model's provider", async () => {
    const home = scratch();
    const first = new Run(home, []);
    await first.open({ config: { provider: "anthropic", model: "claude-a" } });
    await first.end();
    const second = new Run(home, []);
    await second.open({ open: "resume", sessionId: "s", config: { model: "claude-b" } });
    expect(second.asked).toMatchObject({ provider: "anthropic", model: "claude-b" });
    await second.end();
    const third = new Run(home, []);
    await third.open({ open: "resume", sessionId: "s", config: { model: "gpt-5" } });
    expect(third.asked).toMatchObject({ model: "gpt-5" });
    expect(third.asked).not.toHaveProperty("provider");
    await third.end();
    const fourth = new Run(home, []);
    await fourth.open({ open: "resume", sessionId: "s", config: { provider: "xai" } });
    expect(fourth.asked).not.toHaveProperty("model");
    await fourth.end();
  });

  test("counts on at the next multiple of 2^20, each time, also when nothing happens", async () => {
    const home = scratch();
    const seqs: number[][] = [];
    for (const open of ["new", "resume", "resume", "resume"] as const) {
      const run = new Run(home, []);
      await run.open({ open, sessionId: "s" });
      if (seqs.length === 1) await run.turn("hello");
      await run.end();
      seqs.push(run.events.filter(({ session }) => session === "s").map(({ seq }) => seq ?? -1));
    }
    expect(seqs.map((run) => run[0])).toEqual([0, 2 ** 20, 2 * 2 ** 20, 3 * 2 ** 20]);
    for (const run of seqs) expect(run).toEqual(run.toSorted((one, other) => one - other));
  });

  test("replays what came after a place, marked, announced by number, and in a legal stream", async () => {
    const home = scratch();
    const first = new Run(home, WORK);
    await first.open();
    await first.turn("one");
    await first.turn("two");
    await first.end();
    const second = new Run(home, []);
    const ready = await second.open({ open: "resume", sessionId: "s", session: "handle", after: { seq: -1 } });
    const replayed = second.events.filter((event) => event.replay === true);
    expect(ready.replay).toBe(replayed.length);
    expect(second.events.slice(0, 1 + replayed.length)).toEqual([ready, ...replayed]);
    expect(replayed.every((event) => event.session === "handle")).toBe(true);
    expect(replayed.filter((event) => event.type === "user.message").map((event) => event.parts[0])).toEqual([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]);
    const told = first.events.filter((event) => /^(turn|tool\.(req|start|ended))/.test(event.type));
    for (const event of told) expect(replayed).toContainEqual({ ...event, session: "handle", replay: true });
    expect(second.wrong).toEqual([]);
    await second.end();
    const started = first.events.find((event) => event.type === "tool.started");
    const inside = new Run(home, []);
    await inside.open({ open: "resume", sessionId: "s", session: "handle", after: { seq: started?.seq ?? 0 } });
    expect(inside.events[1]).toMatchObject({ type: "tool.ended", replay: true });
    expect(inside.events.filter((event) => event.replay === true)).toEqual(
      replayed.filter((event) => (event.seq ?? 0) > (started?.seq ?? 0)),
    );
    await inside.end();
    const last = first.events.findLast((event) => event.type === "turn.ended");
    const third = new Run(home, []);
    expect(await third.open({ open: "resume", sessionId: "s", after: { seq: last?.seq ?? 0 } })).toMatchObject({ replay: 0 });
    await third.end();
    const fourth = new Run(home, []);
    expect(await fourth.open({ open: "resume", sessionId: "s" })).not.toHaveProperty("replay");
    expect(fourth.events.filter((event) => event.replay === true)).toEqual([]);
    await fourth.end();
  });

  test("shows what was steered in, where it was heard", async () => {
    const home = scratch();
    const first = new Run(home, [[{ type: "text", text: "one" }], [{ type: "text", text: "two" }]]);
    await first.open();
    first.whileAsked = () => first.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "mind the gap" }] });
    await first.turn("go");
    await first.end();
    const second = new Run(home, []);
    await second.open({ open: "resume", sessionId: "s", after: { seq: -1 } });
    const story = second.events.flatMap((event) => {
      if (event.type === "user.message") return event.parts.map((part) => (part.type === "text" ? `> ${part.text}` : ""));
      return event.type === "text.done" ? [event.text] : [];
    });
    expect(story).toEqual(["> go", "one", "> mind the gap", "two"]);
    await second.end();
  });

  test("can be opened again as soon as it was closed, in the same process too", async () => {
    const run = new Run(scratch(), []);
    await run.open();
    await run.turn("hello");
    await run.send({ type: "session.close", session: "s" });
    const ready = await run.open({ open: "resume", sessionId: "s" }, 2);
    expect(ready).toMatchObject({ sessionId: "s" });
    expect(run.events.map((event) => event.type).filter((type) => type.startsWith("session."))).toEqual([
      "session.ready",
      "session.ended",
      "session.ready",
    ]);
    expect(run.wrong).toEqual([]);
    await run.end();
  });

  test("is refused while another handle has it", async () => {
    const run = new Run(scratch(), []);
    await run.open();
    await run.send({ type: "session.open", id: "again", session: "other", open: "resume", sessionId: "s" });
    expect(run.of("reply").find((event) => event.parent === "again")?.fault?.message).toMatch(
      /^Session 's' is in use by process \d+ since/,
    );
    await run.end();
  });

  test("in a workspace that is gone is refused, and not kept locked", async () => {
    const home = scratch();
    const first = new Run(home, []);
    await first.open();
    await first.end();
    const second = new Run(home, []);
    await second.send({
      type: "session.open",
      id: "gone",
      session: "s",
      open: "resume",
      sessionId: "s",
      config: { cwd: "/nowhere/at/all" },
    });
    expect(second.of("reply").at(-1)).toMatchObject({ status: "error", parent: "gone" });
    expect(await second.open({ open: "resume", sessionId: "s" })).toMatchObject({ sessionId: "s" });
    await second.end();
  });
});

describe("a handle", () => {
  test("that an earlier connection had is no reason to refuse a new session", async () => {
    const home = scratch();
    const first = new Run(home, []);
    expect((await first.open()).sessionId).toBe("s");
    await first.end();
    const second = new Run(home, []);
    const { sessionId } = await second.open();
    expect(sessionId).toMatch(/^[0-9A-Z]{26}$/);
    await second.end();
  });

  test.each([
    ["nothing", ""],
    ["too much", "x".repeat(500)],
    ["half a character", "\ud800"],
    ["latest", "latest"],
  ])("of %s can be no id, but is a handle all the same", async (_, session) => {
    const run = new Run(scratch(), []);
    expect((await run.open({ session })).sessionId).toMatch(/^[0-9A-Z]{26}$/);
    await run.end();
  });

  test("but an id that was asked for is given or refused", async () => {
    const home = scratch();
    const first = new Run(home, []);
    await first.open({ sessionId: "mine" });
    await first.send({ type: "session.open", id: "second", session: "t", open: "new", sessionId: "mine" });
    expect(first.of("reply").at(-1)).toMatchObject({ status: "error", fault: { message: "Session ID 'mine' already exists" } });
    await first.end();
  });
});

test("stored sessions are listed before any is open", async () => {
  const home = scratch();
  const first = new Run(home, []);
  await first.open();
  await first.turn("hello there");
  await first.end();
  const second = new Run(home, []);
  await second.send({ type: "session.list", id: "l" });
  expect(second.of("reply").at(-1)?.data).toMatchObject({ sessions: [], stored: [{ id: "s", firstPrompt: "hello there" }] });
  await second.end();
});

test("a secret is in nothing that is kept, and the conversation goes on without it", async () => {
  const home = scratch();
  const leak: ModelPart[] = [
    { type: "text", text: `here: ${SECRET.slice(0, 9)}` },
    { type: "text", text: SECRET.slice(9) },
    { type: "text.end", meta: { note: SECRET } },
    { type: "call", call: { id: "w", name: "Write", args: { file_path: "a.txt", content: SECRET } } },
  ];
  const run = new Run(home, [leak, [{ type: "text", text: "ok" }]]);
  await run.open({ config: { appendSystem: SECRET } });
  await run.turn(`my key is ${SECRET}`);
  await run.end();
  const log = readFileSync(join(home, "sessions", "s", "log.jsonl"), "utf8");
  expect(log).not.toContain(SECRET);
  expect(log).toContain("[redacted]");
  expect(readFileSync(join(run.cwd, "a.txt"), "utf8")).toBe(SECRET);
});

test("a long session is opened from its snapshot, and is the same", async () => {
  const home = scratch();
  const long: ModelPart[] = [{ type: "text", text: "much ".repeat(80_000) }];
  const first = new Run(home, [long, long, long]);
  await first.open();
  for (const prompt of ["one", "two", "three"]) await first.turn(prompt);
  await first.turn("four");
  await first.end();
  const file = join(home, "sessions", "s", "snapshot.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ offset: expect.any(Number), session: { id: "s" } });
  const requests: Message[][] = [];
  for (const spoil of [() => {}, () => writeFileSync(file, "{")]) {
    spoil();
    const run = new Run(home, []);
    await run.open({ open: "resume", sessionId: "s" });
    await run.turn("same");
    requests.push((run.requests.at(-1) ?? []).slice(0, 8));
    await run.end();
  }
  expect(requests[0]).toHaveLength(8);
  expect(requests[0]).toEqual(requests[1]);
});

// --- an engine with a scripted model that writes down what it is asked ---

type OpenOp = Extract<Op, { type: "session.open" }>;

class Run {
  readonly events: Event[] = [];
  readonly wrong: string[] = [];
  /** The conversations that the model was given. */
  readonly requests: Message[][] = [];
  readonly cwd = scratch();
  /** The settings that the last model was opened with. */
  asked: SessionConfig = {};
  whileAsked: (() => Promise<void>) | undefined;
  readonly #agent: Agent;
  readonly #grammar = new Grammar();
  readonly #reading: Promise<void>;
  #watchers: (() => void)[] = [];

  constructor(home: string, responses: readonly ModelPart[][], defaults: SessionConfig = {}) {
    const rest = [...responses];
    this.#agent = createEngine({
      defaults: { mode: "yolo", ...defaults, cwd: this.cwd },
      env: { A_TOKEN: SECRET },
      secrets: [SECRET],
      openModel: async (config) => {
        this.asked = config;
        return {
          provider: config.provider ?? "p",
          id: config.model ?? "m",
          thinking: true,
          images: true,
          stream: (request) => this.#respond(request.messages, rest.shift()),
        };
      },
      openStore: async (redact) => jsonlStore(home, { keep: 99, redact }),
    });
    this.#reading = this.#read();
  }

  /** An op with an id is over when its answer is there. */
  async send(op: Op): Promise<void> {
    await this.#tell(op);
    while (op.id !== undefined && !this.events.some((event) => event.parent === op.id)) {
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
    await this.#heard();
  }

  async open(op: Partial<OpenOp> = {}, nth = 1): Promise<EventOf<"session.ready">> {
    await this.#tell({ session: "s", open: "new", ...op, type: "session.open" });
    const ready = await this.#nth("session.ready", nth);
    await this.#heard();
    return ready;
  }

  async turn(text: string, more: { type: "image"; mime: string; data: string }[] = []): Promise<void> {
    const ended = this.#own("turn.ended").length;
    await this.#tell({ type: "turn.prompt", parts: [{ type: "text", text }, ...more] });
    await this.#nth("turn.ended", ended + 1);
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type);
  }

  async end(): Promise<void> {
    await this.#agent.close();
    await this.#reading;
    expect(this.wrong).toEqual([]);
  }

  async #tell(op: Op): Promise<void> {
    this.#grammar.op(op);
    await this.#agent.send(op);
  }

  /** What an op brought is in the queue by now; let the reader have it. */
  async #heard(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  async *#respond(messages: readonly Message[], parts: ModelPart[] = [{ type: "text", text: "(end)" }]): AsyncGenerator<ModelPart[]> {
    this.requests.push(structuredClone([...messages]));
    await this.whileAsked?.();
    this.whileAsked = undefined;
    for (const part of parts) yield [part];
    if (!parts.some(({ type }) => type === "finish")) yield [{ type: "finish", reason: "stop" }];
  }

  async #read(): Promise<void> {
    for await (const event of this.#agent.events) {
      this.events.push(event);
      this.wrong.push(...this.#grammar.event(event));
      for (const wake of this.#watchers.splice(0)) wake();
    }
    this.wrong.push(...this.#grammar.end());
  }

  #own<T extends EventType>(type: T): EventOf<T>[] {
    return this.of(type).filter((event) => event.replay !== true);
  }

  async #nth<T extends EventType>(type: T, nth: number): Promise<EventOf<T>> {
    for (;;) {
      const found = this.#own(type)[nth - 1];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }
}
