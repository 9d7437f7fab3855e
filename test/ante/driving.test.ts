/** Driving a real daemon: whatever it leaves out, says in the words of a later revision or takes with it, the stream stays grammatical. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { EventOf, EventType } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";
import { ante } from "../../src/dialects/ante/index.js";
import { connect } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";
import { environment, PARLEY, scratch } from "../process/harness.js";
import { fixture } from "../support/processes.js";
import { Listener } from "../support/wires.js";

class Driver {
  readonly agent: Agent;
  readonly #listener: Listener;

  constructor(command: string[], env = environment()) {
    this.agent = connect(ante, ({ argv, cwd = scratch() }) =>
      spawnTransport({ argv: [...command, ...argv], env, cwd }, { framing: "json" }),
    );
    this.#listener = new Listener(this.agent);
    onTestFinished(async () => {
      await this.agent.close();
      await this.#listener.done;
      expect(this.#listener.violations).toEqual([]);
      expect(this.#listener.types.at(-1)).toBe("closed");
    });
  }

  send(op: Op): void {
    void this.agent.send(op);
  }

  open(config: SessionConfig = {}, more: Partial<Extract<Op, { type: "session.open" }>> = {}): void {
    const named = { model: "m1", provider: "anthropic", ...config };
    this.send({ type: "session.open", id: "open", session: "s", open: "new", config: named, ...more });
  }

  prompt(turn: string, text: string): void {
    this.send({ type: "turn.prompt", id: `op-${turn}`, session: "s", turn, parts: [{ type: "text", text }] });
  }

  of<T extends EventType>(type: T): EventOf<T>[] {
    return this.#listener.heard.all.filter((event): event is EventOf<T> => event.type === type);
  }

  async next<T extends EventType>(type: T, matches: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    for (;;) {
      const found = this.of(type).find(matches);
      if (found !== undefined) return found;
      if (this.#listener.heard.ended) throw new Error(`${type} never came: ${JSON.stringify(this.#listener.heard.all)}`);
      await this.#listener.heard.more();
    }
  }

  ended(turn: string): Promise<EventOf<"turn.ended">> {
    return this.next("turn.ended", (event) => event.turn === turn);
  }

  text(turn: string): string {
    return this.of("text.done")
      .filter((event) => event.turn === turn)
      .map((event) => event.text)
      .join("|");
  }
}

const real = (revision: string, start = "ready"): Driver => new Driver([process.execPath, fixture("ante.mjs"), revision, start]);

describe.each(["seed", "newer"])("a real daemon (%s)", (revision) => {
  it("a conversation: ready, lists, blocks, usage, ends", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "hello");
    driver.prompt("t2", "again");
    await driver.ended("t2");
    expect(await driver.next("session.ready")).toMatchObject({
      parent: "open",
      sessionId: "01J5A3B7C9D0E1F2G3H4J5K6M7",
      config: { model: "m1", provider: "anthropic", cwd: expect.any(String) },
    });
    expect(driver.of("catalog.updated")).toMatchObject([
      { whole: false, mcpServers: [] },
      { whole: true, mcpServers: [{ name: "m", status: "ready" }] },
    ]);
    expect(driver.of("notice").map(({ text, block }) => [text, block])).toEqual([["Warming up 1 MCP servers", "mcp-warmup"]]);
    expect([driver.text("t1"), driver.text("t2")]).toEqual(["m1: hello", "m1: again"]);
    expect(driver.of("turn.ended")).toMatchObject([{ outcome: "completed", parent: "op-t1", usage: { input: 10, output: 5 } }, {}]);
    expect(driver.of("other").map(({ name }) => name)).toEqual(revision === "newer" ? ["Ambient", "Ambient"] : []);
    expect(driver.of("error")).toEqual([]);
  });

  it("a batch is answered once all of it is decided; calls that were allowed begin then", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "ask");
    const { calls } = await driver.next("approval.requested");
    expect(calls).toMatchObject([
      { id: "call_0", name: "Bash", args: { command: "ls" }, category: "exec" },
      { id: "call_1", name: "Write", category: "edit" },
    ]);
    driver.send({ type: "approval.answer", session: "s", answers: [{ call: "call_1", decision: "deny", reason: "no" }] });
    driver.send({ type: "approval.answer", session: "s", answers: [{ call: "call_0", decision: "allow" }] });
    await driver.ended("t1");
    expect(driver.of("tool.ended").map(({ call, status }) => [call, status])).toEqual([
      ["call_0", "ok"],
      ["call_1", "denied"],
    ]);
    expect(driver.of("tool.started").map(({ call }) => call)).toEqual(["call_0"]);
  });

  it("a turn that fails says how, and whether to try again", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "fail");
    expect(await driver.ended("t1")).toMatchObject({
      outcome: "failed",
      reason: "Overloaded",
      fault: { retryable: revision === "newer" },
    });
  });

  it("an interrupt, also right behind the prompt; a question that nobody can answer is interrupted by itself", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "hang");
    driver.send({ type: "turn.interrupt", session: "s", turn: "t1" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted", reason: "turn cancelled" });
    driver.prompt("t2", "question");
    expect(await driver.ended("t2")).toMatchObject({ outcome: "interrupted" });
    expect(driver.of("error")[0]?.fault.message).toContain("TurnPause");
  });

  it("a sub-agent's turn within one is progress of its call", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "delegate");
    await driver.ended("t1");
    expect(driver.of("tool.progress")).toMatchObject([{ call: "call_a", text: "from below" }]);
    expect([driver.of("turn.started").length, driver.text("t1")]).toEqual([1, "m1: delegate"]);
  });

  it("changes the model with whatever else is known of it, and steers", async () => {
    const driver = real(revision);
    driver.open({ temperature: 0.5 });
    await driver.next("session.updated");
    driver.send({ type: "session.configure", id: "c", session: "s", patch: { model: "m2" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "c")).toMatchObject({ config: { model: "m2" } });
    driver.prompt("t1", "hang");
    await driver.next("turn.started");
    driver.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "left" }] });
    expect((await driver.next("notice", ({ text }) => text.startsWith("steered"))).turn).toBe("t1");
  });

  it("is resumed; what was said before is told to whoever wants to hear it, as a replay", async () => {
    const [deaf, curious] = [real(revision), real(revision)];
    const sessionId = "01J5A3B7C9D0E1F2G3H4J5K6M7";
    deaf.send({ type: "session.open", id: "open", session: "s", open: "resume", sessionId });
    curious.send({ type: "session.open", id: "open", session: "s", open: "resume", sessionId, after: { seq: -1 } });
    for (const driver of [deaf, curious]) {
      driver.prompt("t1", "now");
      await driver.ended("t1");
      expect(driver.text("t1")).toBe("kept: now");
    }
    expect(deaf.of("user.message")).toEqual([]);
    expect(curious.of("user.message")).toMatchObject([{ replay: true, parts: [{ text: "earlier" }] }]);
    expect(curious.of("turn.ended").map(({ replay, outcome }) => [replay, outcome])).toEqual([
      [true, "completed"],
      [undefined, "completed"],
    ]);
  });

  it("that dies in a turn ends it, and all that waits", async () => {
    const driver = real(revision);
    driver.open();
    driver.prompt("t1", "die");
    driver.prompt("t2", "never");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed" });
    expect(await driver.next("reply", ({ parent }) => parent === "op-t2")).toMatchObject({ status: "error" });
    await driver.next("session.ended");
  });
});

it.each([
  ["refuse", /no subscription/],
  ["an unknown session", /No such file or directory/],
])("what does not begin is answered with the reason: %s", async (start, why) => {
  const driver = real("seed", start);
  if (start === "refuse") driver.open();
  else driver.send({ type: "session.open", id: "open", session: "s", open: "resume", sessionId: "nobody" });
  driver.prompt("t1", "hello");
  expect(await driver.next("reply", ({ parent }) => parent === "open")).toMatchObject({
    status: "error",
    fault: { message: expect.stringMatching(why) },
  });
  expect(await driver.next("reply", ({ parent }) => parent === "op-t1")).toMatchObject({ status: "error" });
});

it("lines that are no records are told of, and it goes on", async () => {
  const driver = real("seed", "chatty");
  driver.open();
  driver.prompt("t1", "hello");
  await driver.ended("t1");
  expect(driver.of("error")).toMatchObject([{ fault: { message: expect.stringContaining("Welcome to Ante!") } }]);
});

it("our own daemon: a turn, and a mode that Ante has no word for", async () => {
  const driver = new Driver([process.execPath, PARLEY]);
  driver.open({ provider: "rehearsal", model: "rehearsal", mode: "auto_edit" });
  driver.prompt("t1", "write 'x' to a.txt");
  expect(await driver.ended("t1")).toMatchObject({ outcome: "completed" });
  expect([driver.of("approval.requested"), driver.of("tool.ended")]).toMatchObject([[], [{ status: "ok" }]]);
  driver.prompt("t2", "run `true`");
  expect((await driver.next("approval.requested")).calls).toMatchObject([{ name: "Bash" }]);
  driver.send({ type: "session.configure", id: "c", session: "s", patch: { mode: "yolo" } });
  driver.send({
    type: "approval.answer",
    session: "s",
    answers: driver.of("approval.requested")[0]?.calls.map(({ id }) => ({ call: id, decision: "allow" as const })) ?? [],
  });
  await driver.ended("t2");
  driver.prompt("t3", "run `true`");
  await driver.ended("t3");
  expect(driver.of("approval.requested")).toHaveLength(1);
});
