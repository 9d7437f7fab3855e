/**
 * The same kills over every dialect, seen by a host that drives the command through the SDK: the turn that was killed has one end, what
 * the host had heard is kept, no tool runs twice, and the session goes on.
 */
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event } from "../../../src/core/event.js";
import { Grammar } from "../../../src/core/grammar.js";
import { dialectIds, loadDialect } from "../../../src/dialects/index.js";
import { plainText } from "../../../src/core/content.js";
import { jsonlStore } from "../../../src/engine/store/jsonl/store.js";
import { drive } from "../../../src/host/drive.js";
import { type HostSession, openSession, type Opening } from "../../../src/host/session.js";
import { agents } from "../../matrix/agents.js";
import { environment, PARLEY, processesWith, scratch, script, until } from "../../process/harness.js";
import { diceOf, isLong, report, SEED } from "../volume.js";

const PRELOAD = join(import.meta.dirname, "steps.cjs");
/** Steps as `steps.cjs` names them, and how often the work takes each at least. */
const STEPS: readonly (readonly [step: string, times: number])[] = [
  ["lock link", 1],
  ["lock remove", 1],
  ["log opened", 1],
  ["log turn.started", 1],
  ["log message", 4],
  ["log text.done", 2],
  ["log tool.requested", 3],
  ["log tool.started", 3],
  ["tool spawn", 3],
  ["log tool.ended", 3],
  ["log usage", 2],
  ["log sync", 2],
  ["log turn.ended", 1],
];
const MOMENTS = ["before", "after"];
const ROUNDS = isLong ? 50 : 1;

const bash = (id: string) => ({ tool: "Bash", args: { command: `echo ${id} >> ran.txt` }, id });
const WORK = [{ say: "I begin. ", calls: [bash("a"), bash("b")] }, { say: "Now the rest. ", calls: [bash("c")] }, { say: "The end." }];

describe.each(dialectIds.filter((id) => agents[id] !== undefined))("killed while a host drives it over %s", (id) => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))("round %i", async (round) => {
    const dice = diceOf(SEED * 1000 + round + id.length);
    const [step, times] = STEPS[dice() % STEPS.length] ?? ["log message", 1];
    const kill = `${step}|${1 + (dice() % times)}|${MOMENTS[dice() % 2] ?? ""}`;
    const stage = new Stage(id);

    const session = await stage.open(WORK, { PARLEY_STEPS_KILL: kill }).catch(() => undefined);
    const first = await session?.run("do it all").catch(() => undefined);
    await session?.close();
    await stage.settled();
    const [stored] = stage.stored();
    report(`kills over ${id}`, { [first?.outcome === "completed" ? "not reached" : "hit"]: 1 });
    if (session === undefined || stored === undefined) return;

    await stage.check(stored);
    const ran = stage.ran();
    const sessionId = session.sessionId ?? stored;
    const again = await stage.open([{ say: "Going on." }], {}, { open: "resume", sessionId });
    const result = await again.run("continue");
    expect(result).toMatchObject({ outcome: "completed", text: "Going on." });
    await again.close();
    expect(stage.ran()).toEqual(ran);
    await stage.settled();
  });
});

/** One session of one agent over several processes, and what its host heard. */
class Stage {
  readonly #id: string;
  readonly #home = scratch();
  readonly #cwd = scratch();
  readonly #mark = `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;
  readonly #heard: Event[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  async open(responses: unknown[], more: Record<string, string>, opening: Opening = {}): Promise<HostSession> {
    // A resumed session has the model that it had.
    const model = join(this.#home, "script.yaml");
    cpSync(script(responses), model);
    const command = [process.execPath, PARLEY, ...(agents[this.#id] ?? []), "--model", model];
    const own = { HOME: this.#home, PARLEY_HOME: this.#home, PARLEY_TEST_MARK: this.#mark, NODE_OPTIONS: `--require ${PRELOAD}`, ...more };
    const agent = drive(await loadDialect(this.#id), command, { env: environment(own) });
    const grammar = new Grammar();
    return openSession(agent, {
      ...opening,
      config: { cwd: this.#cwd, model, provider: "rehearsal" },
      approve: () => "allow",
      onEvent: (event) => {
        this.#heard.push(event);
        expect(grammar.event(event)).toEqual([]);
      },
    });
  }

  stored(): string[] {
    const folder = join(this.#home, "sessions");
    return existsSync(folder) ? readdirSync(folder).filter((name) => hasLines(join(folder, name, "log.jsonl"))) : [];
  }

  ran(): string[] {
    const file = join(this.#cwd, "ran.txt");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  }

  async settled(): Promise<void> {
    await until(() => processesWith(this.#mark).length === 0);
  }

  async check(stored: string): Promise<void> {
    const { session, log } = await jsonlStore(this.#home, { keep: 99, redact: (value) => value }).open(stored);
    await log.close();
    const said = session.messages
      .flatMap((message) => (message.role === "assistant" ? message.blocks : []))
      .map((block) => JSON.stringify(block));
    // A block is whole when a call followed it; the reader ends the others where the process died.
    const whole = this.#heard.flatMap((event, at) =>
      event.type === "text.done" && this.#heard.slice(at).some(({ type }) => type === "tool.ended") ? [event.text.trim()] : [],
    );
    for (const text of whole) expect(said.join("\n")).toContain(text);
    const ran = this.ran();
    expect(new Set(ran).size).toBe(ran.length);
    for (const { results } of session.messages.flatMap((message) => (message.role === "tool" ? [message] : [])))
      for (const { call, parts } of results) if (plainText(parts).includes("did not run")) expect(ran).not.toContain(call);
  }
}

/** A log without its first line is no session. */
function hasLines(log: string): boolean {
  return existsSync(log) && readFileSync(log, "utf8").includes("\n");
}
