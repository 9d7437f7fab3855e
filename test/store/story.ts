/** The story of one session over several processes, of which some are killed: what each host heard, and what must be true after a kill. */
import { appendFileSync, cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import { plainText } from "../../src/core/content.js";
import { Event, type EventOf, type EventType } from "../../src/core/event.js";
import type { Message } from "../../src/engine/models/model.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import type { StoredSession } from "../../src/engine/store/store.js";
import { type NativeHost, processesWith, run, scratch, script, start, type StartOptions, until } from "../process/harness.js";

export const CONFIG: SessionConfig = { mode: "yolo", hostTools: [{ name: "Note" }] };

/** A turn with everything: thinking, long streams, calls one after the other and side by side, tools of the host, a sub-agent. */
export function workScript(name: string): unknown[] {
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
export function bash(id: string, then = "true") {
  return { tool: "Bash", args: { command: `echo ${id} >> ran.txt; ${then}` }, id };
}

export class Story {
  readonly home = scratch();
  readonly cwd = scratch();
  readonly heard: Event[] = [];
  /** Calls of any run whose end nobody knows. */
  readonly #unknown = new Set<string>();
  readonly #mark = `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;

  get log(): string {
    return join(this.home, "sessions", "s", "log.jsonl");
  }

  options() {
    return { cwd: this.cwd, env: { PARLEY_HOME: this.home, PARLEY_TEST_MARK: this.#mark } };
  }

  /** `preloaded` is the preload of `torture/crash/steps.cjs`, and what it is told. */
  start(responses: unknown[], preloaded: Pick<StartOptions, "node" | "env"> = {}): NativeHost {
    const { cwd, env } = this.options();
    const host = start({ cwd, responses, node: preloaded.node ?? [], env: { ...env, ...preloaded.env } });
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
    await this.reopen(host, responses);
    return host;
  }

  /** Goes on with the session on a host of it, and checks what is replayed. */
  async reopen(host: NativeHost, responses: unknown[]): Promise<void> {
    const config = { ...CONFIG, model: script(responses) };
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", after: { seq: -1 }, config });
    const ready = await host.next("session.ready");
    const replay = Number(ready.replay);
    await until(() => host.events.length > replay);
    const replayed = host.events.filter((event) => event.replay === true);
    expect(replayed).toHaveLength(replay);
    expect(host.events.slice(1, replay + 1)).toEqual(replayed);
    expect((ready.seq ?? 0) >= nextMultiple(this.heard)).toBe(true);
  }

  /** Goes on with the session without a look at what is replayed. */
  async resumeAfter(responses: unknown[]): Promise<NativeHost> {
    const host = this.start(responses);
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config: { ...CONFIG, model: script(responses) } });
    await host.next("session.ready");
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
    const shown = await this.checkLog(host);
    const session = await this.peek();
    const said = session.messages.flatMap((message) => (message.role === "tool" ? [] : [textOf(message)])).join("\n");
    for (const event of this.heard) {
      if (event.type === "text.done" && event.under === undefined) expect(said).toContain(event.text);
      if (event.type === "turn.started") expect(said).toContain(promptOf(event, shown));
    }
    this.#checkCalls(host, session, shown);
  }

  /** After a kill: each event that the host had heard is in the log. Returns the events of the log. */
  async checkLog(host: NativeHost): Promise<Event[]> {
    await this.settled();
    this.heard.push(...host.events.filter((event) => event.replay !== true));
    const shown = await this.shown();
    for (const event of this.heard)
      if (ACKNOWLEDGED.has(event.type)) expect(shown.get(event.seq ?? -1), `seq ${event.seq ?? ""} in the log`).toEqual(shownAs(event));
    return [...shown.values()];
  }

  /** The end of it: what is left open is told, "continue" runs nothing again, and the log is whole. */
  async goOn(): Promise<void> {
    const { messages, crash } = await this.peek();
    const before = this.lines();
    const host = await this.resume([{ expect: { messages: messages.length + 1, lastUser: "continue" }, say: "Going on." }]);
    if (crash !== undefined) expect((await host.next("notice", (event) => event.replay !== true)).data).toEqual({ unknown: crash.unknown });
    host.prompt("continue");
    await completed(host, "Going on.");
    expect(await host.finish()).toBe(0);
    expect(host.ofType("notice").filter((event) => event.replay !== true)).toHaveLength(crash === undefined ? 0 : 1);
    expect(this.lines()).toEqual(before);
    for (const line of before) expect(this.ran(line)).toBe(1);
    const after = await this.peek();
    expect(after.crash).toBeUndefined();
    expect(after.messages.slice(0, messages.length)).toEqual(messages);
    expect(after.messages.slice(messages.length)).toMatchObject([{ role: "user" }, { role: "assistant" }]);
    await this.settled();
  }

  lines(): string[] {
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
export async function completed(host: NativeHost, text: string): Promise<void> {
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

export function textOf(message: Message | undefined): string {
  if (message?.role === "user") return plainText(message.parts);
  return message?.role === "assistant" ? message.blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n") : "";
}

export function resultsOf(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === "tool" ? message.results : []));
}

function nextMultiple(events: readonly Event[]): number {
  return (Math.floor(Math.max(0, ...events.map((event) => event.seq ?? 0)) / 2 ** 20) + 1) * 2 ** 20;
}
