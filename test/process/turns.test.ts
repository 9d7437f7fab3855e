/** Turns over the native dialect: text, tools, queueing, steering, interrupt, failure. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processesWith, scratch, start, until } from "./harness.js";

describe("a turn", () => {
  it("streams text between its start and its one end, and the next one remembers", async () => {
    const host = start({
      responses: [
        { think: "Hm.", say: { pieces: ["Hel", "lo"] }, usage: { input: 10, output: 2 } },
        { expect: { messages: 3 }, say: "Again." },
      ],
    });
    const ready = await host.open();
    expect(ready.config).toMatchObject({ provider: "rehearsal", mode: "default" });
    host.prompt("hi", { turn: "t1", id: "op1" });
    const ended = await host.turnEnded();
    expect(ended).toMatchObject({ turn: "t1", parent: "op1", outcome: "completed", finish: "stop", usage: { input: 10, output: 2 } });
    expect(host.ofType("text.delta").map((event) => event.text)).toEqual(["Hel", "lo"]);
    expect(host.ofType("thinking.done").map((event) => event.text)).toEqual(["Hm."]);
    host.prompt("and now?");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
  });

  it("reads, writes and runs what a prompt asks for, whatever the names and contents", async () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}\.(txt|md|json)$/);
    const content = fc.stringMatching(/^[A-Za-z0-9 ,.;:!?+*/=-]{1,60}$/).filter((text) => text.trim() === text);
    await fc.assert(
      fc.asyncProperty(name, content, async (file, text) => {
        const cwd = scratch();
        const host = start({ cwd, args: ["--auto-approve"] });
        await host.open();
        host.prompt(`Write "${text}" to ${file}, then read ${file}, then run \`cat ${file}\`.`);
        const ended = await host.turnEnded();
        expect(ended.outcome).toBe("completed");
        expect(readFileSync(join(cwd, file), "utf8").trimEnd()).toBe(text);
        expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["ok", "ok", "ok"]);
        expect(JSON.stringify(host.ofType("tool.ended").at(-1)?.output)).toContain(JSON.stringify(text).slice(1, -1));
        expect(await host.finish()).toBe(0);
      }),
      { numRuns: 8 },
    );
  });

  it("tells a failing tool, an unknown one and broken arguments to the model, and goes on", async () => {
    const host = start({
      responses: [
        {
          calls: [
            { tool: "Read", args: { file_path: "missing.txt" }, id: "missing" },
            { tool: "Nonsense", args: {}, id: "unknown" },
            { tool: "Read", args: "{broken", id: "broken" },
            { tool: "Read", args: { path: 1 }, id: "wrong" },
          ],
        },
        { expect: { toolResult: "Unknown tool: Nonsense" }, say: "ok" },
      ],
    });
    await host.open();
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
    const ended = host.ofType("tool.ended");
    expect(ended.map((event) => event.status)).toEqual(["failed", "failed", "failed", "failed"]);
    const said = (call: string): string => JSON.stringify(ended.find((event) => event.call === call)?.output);
    expect(said("missing")).toContain("missing.txt");
    expect(said("broken")).toContain("not a JSON object");
    expect(said("wrong")).toContain("file_path");
    expect(host.ofType("tool.started")).toHaveLength(1);
  });

  it("stops after --max-turns model calls and says so", async () => {
    const host = start({ responses: [{ call: { tool: "Glob", args: { pattern: "*" } } }], then: "repeat", args: ["--max-turns", "3"] });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed", finish: "max_turns" });
    expect(host.ofType("tool.ended")).toHaveLength(3);
    expect(host.ofType("notice").map((event) => event.kind)).toEqual(["max_turns"]);
  });

  it("keeps a word from the steering host, and starts no turn when idle", async () => {
    const cwd = scratch();
    const waits = { call: { tool: "Bash", args: { command: "while [ ! -e go ]; do sleep 0.01; done" } } };
    writeFileSync(join(cwd, "b.txt"), "its words");
    const lastUser = "/^look at b\\n+Attached file b\\.txt:\\nits words$/";
    const host = start({ cwd, responses: [waits, { expect: { lastUser }, say: "b it is" }], args: ["--auto-approve"] });
    await host.open();
    host.send({ type: "turn.steer", session: "s", id: "early", parts: [{ type: "text", text: "x" }] });
    expect(await host.next("reply", (event) => event.parent === "early")).toMatchObject({ status: "noop" });
    host.prompt("go");
    await host.next("tool.started");
    host.send({
      type: "turn.steer",
      session: "s",
      id: "steer",
      parts: [
        { type: "text", text: "look at b" },
        { type: "file", path: "b.txt" },
      ],
    });
    expect(await host.next("reply", (event) => event.parent === "steer")).toMatchObject({ status: "ok" });
    writeFileSync(join(cwd, "go"), "");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(host.text()).toContain("b it is");
  });

  it("makes the next prompt of what was steered in too late", async () => {
    const host = start({
      responses: [{ steps: [{ say: "one" }, { wait: 300 }, { say: "." }] }, { expect: { lastUser: "too late" }, say: "two" }],
    });
    await host.open({ maxTurns: 1 });
    host.prompt("go");
    await host.next("text.delta");
    host.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "too late" }] });
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    expect(host.text()).toBe("one.\ntwo");
  });

  it("queues prompts in order, 64 at most, and refuses the next with an error", async () => {
    const host = start({ responses: [{ steps: [{ wait: 50 }, { say: "done" }] }], then: "repeat" });
    await host.open();
    for (let n = 0; n < 70; n++) host.prompt(`p${n}`, { id: `op${n}`, turn: `t${n}` });
    const refused = await host.next("reply", (event) => event.parent === "op69");
    expect(refused).toMatchObject({ status: "error", fault: { code: "limit" } });
    await host.next("turn.ended", (event) => event.turn === "t64");
    const turns = host.ofType("turn.ended").map((event) => event.turn);
    expect(turns).toEqual(Array.from({ length: 65 }, (_, n) => `t${n}`));
    expect(host.ofType("reply").filter((event) => event.fault?.code === "limit")).toHaveLength(5);
    expect(await host.finish()).toBe(0);
  });
});

describe("interrupt", () => {
  it("ends a streaming turn at once, with what was said, and the session lives on", async () => {
    const host = start({ responses: [{ steps: [{ say: "partial" }, { wait: "forever" }] }, { say: "next" }] });
    await host.open();
    host.prompt("go");
    await host.next("text.delta");
    host.send({ type: "turn.interrupt", session: "s", id: "i", reason: "enough" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted", reason: "enough" });
    expect(host.ofType("text.done").map((event) => event.text)).toEqual(["partial"]);
    expect(await host.next("reply", (event) => event.parent === "i")).toMatchObject({ status: "ok" });
    host.prompt("again");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    host.send({ type: "turn.interrupt", session: "s", id: "idle" });
    expect(await host.next("reply", (event) => event.parent === "idle")).toMatchObject({ status: "noop" });
  });

  it("ends a running command and everything that it started, even what ignores TERM", async () => {
    const mark = `parley-mark-${process.pid}-${Date.now()}`;
    const command = `trap '' TERM; export MARK=${mark}; (trap '' TERM; sleep 300; sleep 300) & setsid sleep 301 & echo up; sleep 300; sleep 300`;
    const host = start({ responses: [{ call: { tool: "Bash", args: { command } } }], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress", (event) => event.text?.includes("up") === true);
    expect(processesWith(mark).length).toBeGreaterThan(1);
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "cancelled" }]);
    await until(() => processesWith(mark).length === 0);
    expect(await host.finish()).toBe(0);
  });

  it("takes a queued turn out by its name, which still gets its end", async () => {
    const host = start({ responses: [{ steps: [{ say: "one" }, { wait: "forever" }] }, { say: "three" }] });
    await host.open();
    host.prompt("1", { turn: "t1" });
    host.prompt("2", { turn: "t2" });
    host.prompt("3", { turn: "t3" });
    await host.next("text.delta");
    host.send({ type: "turn.interrupt", session: "s", turn: "t2" }, { type: "turn.interrupt", session: "s", turn: "t1" });
    await host.next("turn.ended", (event) => event.turn === "t3");
    expect(host.ofType("turn.ended").map(({ turn, outcome }) => [turn, outcome])).toEqual([
      ["t1", "interrupted"],
      ["t2", "interrupted"],
      ["t3", "completed"],
    ]);
  });
});

describe("a failing provider", () => {
  it("is tried again, and each try is told with its number", async () => {
    const host = start({ responses: [{ fail: { status: 429, message: "Slow down.", retryAfter: 0, times: 2 }, say: "at last" }] });
    await host.open();
    host.prompt("go");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(host.ofType("notice").map((event) => event.text)).toEqual([
      expect.stringContaining("(1/10)"),
      expect.stringContaining("(2/10)"),
    ]);
    expect(host.text()).toBe("at last");
  });

  it("fails the turn after eleven tries, as retryable, and the next turn works", async () => {
    const host = start({
      responses: [{ fail: { status: 429, message: "Slow down.", retryAfter: 0, times: 11 }, say: "well" }],
      then: "repeat",
    });
    await host.open();
    host.prompt("go");
    const ended = await host.turnEnded();
    expect(ended).toMatchObject({ outcome: "failed", fault: { code: "provider", status: 429, retryable: true } });
    expect(host.ofType("error")).toHaveLength(1);
    host.prompt("again");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
  });

  it("is not tried again for a wrong key; what came before a cut is dropped, and the model asked again", async () => {
    const host = start({ responses: [{ fail: { status: 401, message: "bad key" } }, { say: "half", cut: true }, { say: "whole" }] });
    await host.open();
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "failed", fault: { status: 401, retryable: false } });
    host.prompt("again");
    expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
    expect(host.ofType("notice")).toMatchObject([{ kind: "retry", data: { dropped: true } }]);
    expect(host.ofType("text.done").map((event) => event.text)).toEqual(["half", "whole"]);
  });
});

describe("parallel calls", () => {
  it("run side by side, while writes to one file keep their order", async () => {
    const cwd = scratch();
    const writes = Array.from({ length: 6 }, (_, n) => ({ tool: "Write", args: { file_path: "same.txt", content: `${n}` } }));
    const host = start({ cwd, responses: [{ calls: writes }, { say: "ok" }], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    expect(readFileSync(join(cwd, "same.txt"), "utf8")).toBe("5");
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(Array(6).fill("ok"));
  });

  it("keep shell commands apart from each other", async () => {
    const command = "test ! -e lock && touch lock && sleep 0.05 && rm lock";
    const host = start({
      responses: [{ calls: Array(4).fill({ tool: "Bash", args: { command } }) }, { say: "ok" }],
      args: ["--auto-approve"],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["ok", "ok", "ok", "ok"]);
  });
});

describe("sub-agents", () => {
  it("work with a history of their own under the parent's call, approvals and budget", async () => {
    const cwd = scratch({ "a.txt": "alpha", "b.txt": "beta" });
    const host = start({ cwd, args: ["--approve-tools", "Spawn,Read"] });
    await host.open();
    host.prompt('Use Spawn {"tasks":[{"name":"one","prompt":"read a.txt"},{"name":"two","prompt":"write \'x\' to c.txt"}]}');
    const asked = await host.next("approval.requested");
    expect(asked.under).toBeDefined();
    expect(asked.calls[0]).toMatchObject({ name: "Write" });
    host.deny(asked.calls[0]?.id ?? "", "not you");
    const ended = await host.turnEnded();
    expect(ended.outcome).toBe("completed");
    const spawn = host.ofType("tool.ended").find((event) => event.under === undefined);
    expect(JSON.stringify(spawn?.output)).toContain("alpha");
    expect(JSON.stringify(spawn?.output)).toContain("not you");
    expect(existsSync(join(cwd, "c.txt"))).toBe(false);
    expect(host.ofType("tool.progress").some((event) => event.call === spawn?.call)).toBe(true);
    expect(await host.finish()).toBe(0);
  });
});
