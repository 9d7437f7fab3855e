/** Driving a server that speaks as Codex does: whatever it asks is answered, and the stream stays grammatical, whatever dies. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { Agent } from "../../src/core/agent.js";
import type { SessionConfig } from "../../src/core/config.js";
import type { EventOf, EventType } from "../../src/core/event.js";
import type { Op, OpOf } from "../../src/core/op.js";
import { codex } from "../../src/dialects/codex/index.js";
import { drive } from "../../src/host/drive.js";
import { environment, scratch } from "../process/harness.js";
import { fixture } from "../support/processes.js";
import { Listener } from "../support/wires.js";

class Driver {
  readonly agent: Agent;
  readonly #listener: Listener;

  constructor(start: string[] = []) {
    // Every command line of Codex that people give: its name alone, or with its command.
    this.agent = drive(codex, [process.execPath, fixture("codex.mjs"), ...start], { env: environment(), onStderr: () => {} });
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

  open(config: SessionConfig = {}, more: Partial<OpOf<"session.open">> = {}): void {
    this.send({ type: "session.open", id: "open", session: "s", open: "new", config: { cwd: scratch(), ...config }, ...more });
  }

  prompt(turn: string, text: string, more: Partial<OpOf<"turn.prompt">> = {}): void {
    this.send({ type: "turn.prompt", id: `op-${turn}`, session: "s", turn, parts: [{ type: "text", text }], ...more });
  }

  allow(call: string): void {
    this.send({ type: "approval.answer", id: `allow-${call}`, session: "s", answers: [{ call, decision: "allow" }] });
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

  reply(op: string): Promise<EventOf<"reply">> {
    return this.next("reply", (event) => event.parent === op);
  }

  text(turn: string): string {
    return this.of("text.done")
      .filter((event) => event.turn === turn && event.under === undefined)
      .map((event) => event.text)
      .join("|");
  }
}

/** A driver whose session is open. */
function driving(config?: SessionConfig, start?: string[]): Driver {
  const driver = new Driver(start);
  driver.open(config);
  return driver;
}

describe("a session", () => {
  it("is a thread that asks, and tells what the server says of itself", async () => {
    const driver = driving({ model: "gpt-x" });
    driver.prompt("t1", "hello");
    const ended = await driver.ended("t1");
    expect(await driver.next("session.ready")).toMatchObject({
      parent: "open",
      sessionId: "thread-1",
      version: "0.166.0",
      config: { model: "gpt-x", provider: "openai", mode: "default" },
    });
    expect(driver.of("notice").map(({ text }) => text)).toEqual([
      "Codex could not find bubblewrap on PATH.",
      "policy untrusted, sandbox workspace-write",
    ]);
    // What the thread has used in all is none of the turn's business.
    expect(ended).toMatchObject({ outcome: "completed", parent: "op-t1", usage: { input: 8, cacheRead: 3, output: 5, reasoning: 2 } });
    expect(driver.of("usage")).toMatchObject([{ context: { used: 18, limit: 258_400 } }]);
    expect(driver.text("t1")).toBe("m: hello");
  });

  it("is started by the command alone, or by the command with `app-server`", async () => {
    const driver = driving({}, ["app-server"]);
    driver.prompt("t1", "hello");
    await driver.ended("t1");
    expect(driver.text("t1")).toBe("m: hello");
  });

  it.each([
    ["yolo", "policy never, sandbox danger-full-access"],
    ["auto_edit", "policy untrusted, sandbox workspace-write"],
    ["plan", "policy untrusted, sandbox read-only"],
  ] as const)("in the mode %s is told so", async (mode, text) => {
    const driver = driving({ mode });
    expect((await driver.next("notice", (notice) => notice.text.startsWith("policy"))).text).toBe(text);
  });

  it("is resumed with what was said before, for a host that wants it", async () => {
    const driver = new Driver();
    driver.open({}, { open: "resume", sessionId: "thread-0", after: { seq: -1 } });
    driver.prompt("t1", "now");
    expect(await driver.next("session.ready")).toMatchObject({ sessionId: "thread-0", replay: 4 });
    await driver.ended("t1");
    expect(driver.of("user.message")).toMatchObject([{ replay: true, parts: [{ text: "before" }] }]);
    expect(driver.of("text.done").map(({ text, replay }) => [text, replay])).toEqual([
      ["it was said", true],
      ["m: now", undefined],
    ]);
  });

  it("is resumed by the word for the last one, and forked", async () => {
    const driver = new Driver();
    driver.open({}, { open: "resume", sessionId: "latest" });
    expect(await driver.next("session.ready")).toMatchObject({ sessionId: "thread-0" });
    const copy = new Driver();
    copy.open({}, { open: "resume", sessionId: "thread-0", fork: true });
    expect(await copy.next("session.ready")).toMatchObject({ sessionId: "copy-of-thread-0" });
  });

  it("that cannot be opened is refused with the server's reason, and so is what waited for it", async () => {
    const driver = driving({}, ["no-thread"]);
    driver.prompt("t1", "hello");
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { message: "model provider `nobody` not found" } });
    expect(await driver.reply("op-t1")).toMatchObject({ status: "error" });
    const gone = new Driver();
    gone.open({}, { open: "resume", sessionId: "gone" });
    expect(await gone.reply("open")).toMatchObject({ status: "error", fault: { message: "no rollout found for thread id gone" } });
  });

  it("of a server that lets nobody in is refused, and the server is ended", async () => {
    const driver = driving({}, ["refuse"]);
    expect(await driver.reply("open")).toMatchObject({ fault: { message: expect.stringContaining("this client is too old") } });
    await driver.next("closed");
  });

  it("of a server that talks to people first is driven all the same", async () => {
    const driver = driving({}, ["chatty"]);
    driver.prompt("t1", "hello");
    await driver.ended("t1");
    expect(driver.of("error")).toMatchObject([{ fault: { code: "protocol", message: expect.stringContaining("Welcome to Codex!") } }]);
  });

  it("that restricts what the wire cannot say is refused", async () => {
    const driver = driving({ allowedTools: ["Read"] });
    expect(await driver.reply("open")).toMatchObject({ status: "error", fault: { message: expect.stringContaining("allowedTools") } });
  });

  it("changes its model, takes a seed, is listed, and is closed while others go on", async () => {
    const driver = driving();
    driver.send({ type: "session.open", id: "open2", session: "s2", open: "new" });
    driver.send({ type: "session.configure", id: "set", session: "s", patch: { model: "other" } });
    expect(await driver.next("session.updated", ({ parent }) => parent === "set")).toMatchObject({ config: { model: "other" } });
    driver.send({ type: "session.seed", id: "seed", session: "s", text: "before" });
    expect(await driver.reply("seed")).toMatchObject({ status: "ok" });
    driver.send({ type: "session.list", id: "list" });
    expect(await driver.reply("list")).toMatchObject({ data: { stored: [{ id: "thread-0", firstPrompt: "before", cwd: "/ws" }] } });
    driver.send({ type: "other", id: "models", session: "s", name: "model/list", data: {} });
    expect(await driver.reply("models")).toMatchObject({ status: "ok", data: { data: [{ id: "m" }] } });
    driver.send({ type: "session.close", id: "close", session: "s2" });
    await driver.next("session.ended", ({ session }) => session === "s2");
    driver.prompt("t1", "still here");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "completed" });
  });
});

describe("what is asked", () => {
  it("a command that is allowed begins then, and has run", async () => {
    const driver = driving();
    driver.prompt("t1", "shell touch a");
    const { calls } = await driver.next("approval.requested");
    expect(calls).toMatchObject([{ id: "call-turn-1", name: "Bash", args: { command: "touch a" }, category: "exec" }]);
    expect(driver.of("tool.started")).toEqual([]);
    driver.allow("call-turn-1");
    await driver.ended("t1");
    expect(driver.of("tool.started")).toHaveLength(1);
    expect(driver.of("tool.progress")).toMatchObject([{ text: "out\n" }]);
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ type: "terminal", text: "out\n", exitCode: 0 }] }]);
    expect(driver.text("t1")).toBe("it ran");
  });

  it("a command that is denied never begins", async () => {
    const driver = driving();
    driver.prompt("t1", "shell touch a");
    await driver.next("approval.requested");
    driver.send({ type: "approval.answer", session: "s", answers: [{ call: "call-turn-1", decision: "deny", reason: "no" }] });
    await driver.ended("t1");
    expect(driver.of("tool.started")).toEqual([]);
    expect(driver.of("tool.ended")).toMatchObject([{ status: "denied", reason: "no" }]);
  });

  it("a call whose arguments the host changed is denied: the wire cannot carry them", async () => {
    const driver = driving();
    driver.prompt("t1", "shell touch a");
    await driver.next("approval.requested");
    const answers = [{ call: "call-turn-1", decision: "allow" as const, args: { command: "touch b" } }];
    driver.send({ type: "approval.answer", session: "s", answers });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "denied", reason: expect.stringContaining("arguments") }]);
  });

  it("a new file is a Write of its content, which the mode auto_edit lets through, and plan mode does not", async () => {
    const driver = driving({ mode: "auto_edit" });
    driver.prompt("t1", "patch");
    await driver.ended("t1");
    expect(driver.of("approval.requested")).toEqual([]);
    expect(driver.of("tool.requested")).toMatchObject([
      { call: { name: "Write", args: { file_path: "/ws/new.txt", content: "hello\n" }, category: "edit" } },
    ]);
    expect(driver.text("t1")).toBe("patch accept");
    driver.send({ type: "session.configure", id: "set", session: "s", patch: { mode: "plan" } });
    await driver.next("session.updated", ({ parent }) => parent === "set");
    driver.prompt("t2", "patch");
    await driver.ended("t2");
    expect(driver.text("t2")).toBe("patch decline");
    driver.prompt("t3", "plan");
    await driver.ended("t3");
    expect(driver.text("t3")).toBe("planned in plan mode");
    expect(driver.of("tool.ended").at(-1)).toMatchObject({
      status: "ok",
      output: [{ type: "todo", items: [{ text: "a", status: "completed" }, { text: "b" }] }],
    });
  });

  it("an approved tool, a wider permission and a tool of a server are asked about as calls", async () => {
    const driver = driving({ approveTools: ["Bash"] });
    driver.prompt("t1", "shell ls");
    await driver.ended("t1");
    expect(driver.of("approval.requested")).toEqual([]);
    driver.prompt("t2", "permit");
    driver.allow((await driver.next("approval.requested")).calls[0]?.id ?? "");
    await driver.ended("t2");
    expect(driver.text("t2")).toBe('{"permissions":{"network":{"enabled":true}},"scope":"turn"}');
    driver.prompt("t3", "mcp");
    const { calls } = await driver.next("approval.requested", ({ turn }) => turn === "t3");
    expect(calls).toMatchObject([{ name: "mcp__s__echo", args: { t: "x" }, category: "mcp" }]);
    driver.allow(calls[0]?.id ?? "");
    const request = await driver.next("host.request");
    expect(request).toMatchObject({
      kind: "mcp",
      data: { server: "s", message: { method: "elicitation/create", params: { message: "Name?" } } },
    });
    driver.send({
      type: "host.answer",
      session: "s",
      request: request.request,
      ok: true,
      data: { action: "accept", content: { n: "bob" } },
    });
    await driver.ended("t3");
    expect(driver.text("t3")).toBe('{"action":"accept","content":{"n":"bob"},"_meta":null}');
  });

  it("the host's own tools and questions for people go to the host", async () => {
    const driver = driving({ hostTools: [{ name: "look_up", description: "d", parameters: { type: "object" } }] });
    driver.prompt("t1", "tool");
    const tool = await driver.next("host.request");
    expect(tool).toMatchObject({ kind: "tool", data: { name: "look_up", args: { q: "x" } }, call: "call-turn-1" });
    driver.send({ type: "host.answer", session: "s", request: tool.request, ok: true, data: "it is y" });
    await driver.ended("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "ok", output: [{ type: "text", text: "it is y" }] }]);
    driver.prompt("t2", "question");
    const question = await driver.next("host.request", ({ turn }) => turn === "t2");
    expect(question).toMatchObject({ kind: "question", data: { questions: [{ question: "Which?", header: "H" }] } });
    const data = { answers: [{ labels: [], text: "A" }] };
    driver.send({ type: "host.answer", session: "s", request: question.request, ok: true, data });
    await driver.ended("t2");
    expect(driver.text("t2")).toBe('{"answers":{"q1":{"answers":["A"]}}}');
  });

  it("a sub-agent's question comes up under the call that began it", async () => {
    const driver = driving();
    driver.prompt("t1", "spawn");
    const { calls, under } = await driver.next("approval.requested");
    expect([calls[0]?.args, under]).toEqual([{ command: "ls" }, "call-turn-1"]);
    driver.allow(calls[0]?.id ?? "");
    await driver.ended("t1");
    expect(driver.of("text.done").map(({ text, under: above }) => [text, above])).toEqual([
      ["the child says", "call-turn-1"],
      ["spawned", undefined],
    ]);
  });

  it("a question of no known kind is refused, and news of no known name is passed on", async () => {
    const driver = driving();
    driver.prompt("t1", "news");
    await driver.ended("t1");
    expect(driver.text("t1")).toBe("refused: 'attestation/generate' is not supported by this client");
    expect(driver.of("other").map(({ name }) => name)).toEqual(["model/verification", "item"]);
  });
});

describe("a turn", () => {
  it("shows what the model thinks, in the parts of its summary", async () => {
    const driver = driving();
    driver.prompt("t1", "think");
    await driver.ended("t1");
    expect(driver.of("thinking.done")).toMatchObject([{ text: "one\n\ntwo", streamed: true }]);
  });

  it("is interrupted while it streams, right behind its prompt, and with a question open", async () => {
    const driver = driving();
    driver.prompt("t1", "slow");
    await driver.next("text.delta");
    driver.send({ type: "turn.interrupt", id: "stop", session: "s", turn: "t1" });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "interrupted" });
    driver.prompt("t2", "slow");
    driver.send({ type: "turn.interrupt", id: "stop2", session: "s", turn: "t2" });
    expect(await driver.ended("t2")).toMatchObject({ outcome: "interrupted" });
    driver.prompt("t3", "hang");
    await driver.next("approval.requested");
    driver.send({ type: "turn.interrupt", id: "stop3", session: "s" });
    expect(await driver.ended("t3")).toMatchObject({ outcome: "interrupted" });
    expect(driver.of("tool.ended")).toMatchObject([{ status: "cancelled" }]);
    driver.send({ type: "turn.interrupt", id: "idle", session: "s" });
    expect(await driver.reply("idle")).toMatchObject({ status: "noop" });
  });

  it("takes more words, and a prompt behind it waits for its end", async () => {
    const driver = driving();
    driver.prompt("t1", "slow");
    driver.prompt("t2", "next");
    await driver.next("text.delta");
    driver.send({ type: "turn.steer", id: "steer", session: "s", parts: [{ type: "text", text: "more" }] });
    expect(await driver.reply("steer")).toMatchObject({ status: "ok" });
    await driver.next("text.done", ({ text }) => text.includes("steered: more"));
    driver.send({ type: "turn.interrupt", id: "stop", session: "s", turn: "t1" });
    await driver.ended("t2");
    expect(driver.text("t2")).toBe("m: next");
  });

  it("goes on over a retry, which is news, and fails with the last error", async () => {
    const driver = driving();
    driver.prompt("t1", "retry");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "completed" });
    expect(driver.of("notice").at(-1)).toMatchObject({ kind: "retry", text: "Reconnecting... 1/5: busy" });
    driver.prompt("t2", "fail");
    expect(await driver.ended("t2")).toMatchObject({
      outcome: "failed",
      fault: { code: "provider", status: 429, retryable: true, message: "slow down" },
    });
    expect(driver.of("error")).toHaveLength(1);
  });

  it("sums the conversation up on demand, and knows no other command", async () => {
    const driver = driving();
    driver.prompt("t1", "", { parts: [], command: { name: "compact" } });
    expect(await driver.ended("t1")).toMatchObject({ outcome: "completed", parent: "op-t1" });
    expect(driver.of("compaction").map(({ phase }) => phase)).toEqual(["started", "ended"]);
    driver.prompt("t2", "", { parts: [], command: { name: "theme" } });
    expect(await driver.reply("op-t2")).toMatchObject({ status: "error", fault: { message: expect.stringContaining("/theme") } });
  });

  it("ends with the server that dies in it, once and with the reason", async () => {
    const driver = driving();
    driver.prompt("t1", "hang die");
    await driver.next("approval.requested");
    driver.prompt("t2", "never");
    driver.allow("call-turn-1");
    expect(await driver.ended("t1")).toMatchObject({ outcome: "failed", reason: expect.stringContaining("SIGKILL") });
    await driver.next("closed");
    expect(driver.of("turn.ended").map(({ turn }) => turn)).toContain("t1");
    expect(driver.of("tool.ended")).toMatchObject([{ status: "cancelled" }]);
  });

  it("carries pictures and files in Codex's forms", async () => {
    const driver = driving();
    const parts = [
      { type: "image" as const, mime: "image/png", data: "AAAA" },
      { type: "file" as const, path: "/ws/a.txt" },
    ];
    driver.prompt("t1", "", { parts });
    await driver.ended("t1");
    expect(driver.text("t1")).toBe("m: image|mention");
  });
});
