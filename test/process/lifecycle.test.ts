/** How the process lives and ends: EOF, signals, a broken pipe, kill -9, slow hosts; and that nothing is left behind. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { idle, rss } from "../support/load.js";
import { environment, type NativeHost, PARLEY, processesWith, scratch, script, start, until } from "./harness.js";

const bash = (command: string, id = "b") => ({ call: { tool: "Bash", args: { command }, id } });
const mark = () => `parley-mark-${process.pid}-${Math.random().toString(36).slice(2)}`;

/** A command that starts three processes without our environment, in sessions of their own, one of them with another title. */
function hidden() {
  const tag = mark();
  // Its command line is all that the test knows it by.
  const sleep = `sh -c 'while :; do sleep 1; done' ${tag}`;
  const titled = `"${process.execPath}" -e "process.title = '${tag}'; setInterval(() => {}, 1000)"`;
  const starts = [`env -i setsid ${sleep}`, `(env -i PATH="$PATH" setsid ${sleep} <&- &)`, `(env -i setsid ${titled} &)`];
  const isIt = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").replace(/\0+$/, "").endsWith(tag);
    } catch {
      return false;
    }
  };
  const alive = (): number[] => processesWith(tag).filter(isIt);
  onTestFinished(() => {
    for (const pid of alive()) process.kill(pid, "SIGKILL");
  });
  return {
    hide: `${starts.map((command) => `${command} >/dev/null 2>&1 &`).join(" ")} true`,
    alive: () => alive().length,
  };
}

function watchersOf(host: NativeHost): number[] {
  const { pid } = host.child;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return processesWith("parley-watcher").filter((id) => children.includes(id));
}

describe("the end of input", () => {
  it("lets running and queued turns end, then leaves with 0", async () => {
    const host = start({ responses: [bash("sleep 0.2; echo late"), { say: "one" }, { say: "two" }], args: ["--auto-approve"] });
    await host.open();
    host.prompt("1");
    host.prompt("2");
    await host.next("tool.started");
    expect(await host.finish()).toBe(0);
    expect(host.ofType("turn.ended").map((event) => event.outcome)).toEqual(["completed", "completed"]);
    expect(host.text()).toBe("one\ntwo");
  });

  it("without a session is a quiet end", async () => {
    const host = start();
    expect(await host.finish()).toBe(0);
    expect(host.lines).toHaveLength(1);
  });

  it("counts a last line without LF", async () => {
    const host = start();
    host.raw('{"type":"ping","id":"p"}');
    host.child.stdin.end();
    await host.exited;
    expect(host.ofType("reply")).toMatchObject([{ to: "ping", status: "ok", parent: "p" }]);
  });
});

describe("signals", () => {
  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s interrupts the turn, ends its children and exits with %i", async (signal, code) => {
    const tag = mark();
    const host = start({ responses: [bash(`export MARK=${tag}; trap '' HUP; echo up; sleep 300 & sleep 300`)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    host.prompt("queued", { turn: "queued" });
    await host.next("tool.progress");
    host.child.kill(signal);
    expect(await host.exited).toEqual({ code, signal: null });
    expect(host.ofType("turn.ended").map((event) => event.outcome)).toEqual(["interrupted", "interrupted"]);
    expect(host.events.slice(-2).map((event) => event.type)).toEqual(["session.ended", "closed"]);
    await until(() => processesWith(tag).length === 0);
  });
});

describe("a second signal", () => {
  it("leaves at once, and what was said by then is out", async () => {
    const host = start({ responses: [bash("echo up; sleep 300")], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    // Both are there when it wakes up, and so it hears them in one turn of its loop.
    host.child.kill("SIGSTOP");
    host.child.kill("SIGTERM");
    host.child.kill("SIGINT");
    host.child.kill("SIGCONT");
    expect((await host.exited).signal).toBeNull();
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["cancelled"]);
  });
});

describe("kill -9", () => {
  it("leaves no orphan behind, whatever the command did to hide", async () => {
    const tag = mark();
    const hide = `export MARK=${tag}; nohup sleep 300 & setsid sleep 301 & (trap '' TERM; sleep 302; sleep 300) & echo up; sleep 303`;
    const host = start({ responses: [bash(hide)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    await until(() => processesWith(tag).length >= 4);
    host.child.kill("SIGKILL");
    expect(await host.exited).toMatchObject({ signal: "SIGKILL" });
    await until(() => processesWith(tag).length === 0);
  });

  it.runIf(process.platform === "linux")("leaves none of those behind that have nothing of ours in their environment", async () => {
    const { hide, alive } = hidden();
    const host = start({ responses: [bash(`${hide}; echo up; sleep 303`)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    await until(() => alive() === 3);
    host.child.kill("SIGKILL");
    expect(await host.exited).toMatchObject({ signal: "SIGKILL" });
    await until(() => alive() === 0);
  });

  it.runIf(process.platform === "linux")("though the watcher was killed before", async () => {
    const { hide, alive } = hidden();
    const host = start({ responses: [bash(`${hide}; echo up; sleep 303`)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    await until(() => alive() === 3);
    const [first] = watchersOf(host);
    process.kill(first ?? 0, "SIGKILL");
    await until(() => watchersOf(host).some((pid) => pid !== first));
    host.child.kill("SIGKILL");
    await until(() => alive() === 0);
  });
});

describe.runIf(process.platform === "linux")("what left its group and emptied its environment", () => {
  it("ends with its session, and not with another one", async () => {
    const [one, other] = [hidden(), hidden()];
    const host = start({ args: ["--auto-approve"] });
    for (const [session, { hide, alive }] of Object.entries({ one, other })) {
      await host.open({}, session);
      host.prompt(`run \`${hide}\``, { session });
      await host.next("turn.ended", (event) => event.session === session);
      await until(() => alive() === 3);
    }
    host.send({ type: "session.close", session: "one" });
    await host.next("session.ended", (event) => event.session === "one");
    expect([one.alive(), other.alive()]).toEqual([0, 3]);
    expect(await host.finish()).toBe(0);
    await until(() => other.alive() === 0);
  });

  it("ends with an interrupted turn", async () => {
    const { hide, alive } = hidden();
    const host = start({ responses: [bash(`${hide}; echo up; sleep 303`)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    await until(() => alive() === 3);
    host.send({ type: "turn.interrupt", session: "s" });
    await until(() => alive() === 0);
    expect(await host.finish()).toBe(0);
  });
});

describe("a background command", () => {
  it("outlives its turn, writes its log, and ends with the session", async () => {
    const tag = mark();
    const host = start({
      responses: [
        { call: { tool: "Bash", args: { command: `export MARK=${tag}; echo started; sleep 300`, background: true } } },
        { say: "ok" },
      ],
      args: ["--auto-approve"],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    await until(() => processesWith(tag).length > 0);
    const log = /(\/\S+\.log)/.exec(JSON.stringify(host.ofType("tool.ended")[0]?.output))?.[1] ?? "";
    await until(() => existsSync(log) && readFileSync(log, "utf8").includes("started"));
    expect(await host.finish()).toBe(0);
    await until(() => processesWith(tag).length === 0);
    rmSync(join(log, ".."), { recursive: true, force: true });
  });
});

describe("a host that stops reading", () => {
  it("and signals is not waited for", async () => {
    const host = start({ responses: [{ say: { text: "0123456789abcdef ", pieces: 200_000 } }] });
    await host.open();
    host.child.stdout.pause();
    host.prompt("go");
    await idle(host.child.pid);
    const exit = new Promise((resolve) => host.child.once("exit", (code) => resolve(code)));
    host.child.kill("SIGTERM");
    expect(await exit).toBe(143);
    host.child.stdout.resume();
  });

  it("holds the producer back in bounded memory and then gets everything", async () => {
    const count = 200_000;
    const host = start({ responses: [{ say: { text: "0123456789abcdef ", pieces: count } }] });
    await host.open();
    host.child.stdout.pause();
    host.prompt("go");
    await idle(host.child.pid);
    expect(rss(host.child.pid)).toBeLessThan(200 * 1024 * 1024);
    host.send({ type: "ping", id: "p" });
    host.child.stdout.resume();
    await host.turnEnded();
    expect(host.ofType("text.delta")).toHaveLength(count);
    expect(host.ofType("reply")).toMatchObject([{ parent: "p" }]);
    expect(await host.finish()).toBe(0);
  });

  it("can still interrupt", async () => {
    const host = start({ responses: [{ say: { text: "0123456789abcdef ", pieces: 200_000 } }] });
    await host.open();
    host.child.stdout.pause();
    host.prompt("go");
    await idle(host.child.pid);
    host.send({ type: "turn.interrupt", session: "s" });
    host.child.stdout.resume();
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(host.ofType("text.delta").length).toBeLessThan(200_000);
  });

  it("and floods with pings is still interrupted, in bounded memory", async () => {
    const host = start({ responses: [{ say: { text: "0123456789abcdef ", pieces: 3_000_000 } }] });
    await host.open();
    host.child.stdout.pause();
    host.prompt("go");
    for (let n = 0; n < 100_000; n++) host.raw(`{"type":"ping","id":"p${n}"}\n`);
    host.send({ type: "turn.interrupt", session: "s", id: "i" });
    for (let n = 0; n < 20_000; n++)
      host.raw(`{"type":"approval.answer","session":"s","answers":[{"call":"${"x".repeat(1000)}${n}","decision":"allow"}]}\n`);
    host.child.stdout.resume();
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(rss(host.child.pid)).toBeLessThan(250 * 1024 * 1024);
    expect(await host.finish()).toBe(0);
  });

  it("and is gone altogether ends the agent at once, quietly", async () => {
    const tag = mark();
    const host = start({ responses: [bash(`export MARK=${tag}; while true; do echo x; sleep 0.02; done`)], args: ["--auto-approve"] });
    await host.open();
    host.prompt("go");
    await host.next("tool.progress");
    host.child.stdout.destroy();
    await host.exited;
    expect(host.stderr).toBe("");
    await until(() => processesWith(tag).length === 0);
  });
});

describe("a reader that comes late", () => {
  it("loses nothing at exit, however much was written", async () => {
    const file = script([{ say: { text: "line of output\n", pieces: 50_000 } }]);
    const child = spawn(process.execPath, [PARLEY, "-p", "go", "--provider", "rehearsal", "--model", file], {
      cwd: scratch(),
      env: environment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve) => child.stdout.once("readable", resolve));
    let size = 0;
    for await (const chunk of child.stdout) size += Buffer.isBuffer(chunk) ? chunk.length : 0;
    expect(size).toBe(50_000 * "line of output\n".length);
  });
});

describe("sessions", () => {
  it("run side by side, each with its own order", async () => {
    const host = start();
    await host.open({}, "a");
    await host.open({}, "b");
    host.prompt("wait forever", { session: "a" });
    await host.next("turn.started", (event) => event.session === "a");
    host.prompt("say hello", { session: "b" });
    expect(await host.next("turn.ended", (event) => event.session === "b")).toMatchObject({ outcome: "completed" });
    host.send({ type: "session.list", id: "l" });
    expect(await host.next("reply", (event) => event.parent === "l")).toMatchObject({
      data: { sessions: [{ session: "a" }, { session: "b" }] },
    });
    host.send({ type: "session.close", session: "a" });
    expect(await host.next("session.ended", (event) => event.session === "a")).toBeDefined();
    expect(host.ofType("turn.ended").find((event) => event.session === "a")).toMatchObject({ outcome: "interrupted" });
    host.prompt("say still here", { session: "b" });
    await host.turnEnded(3);
    expect(await host.finish()).toBe(0);
  });

  it("know what was said before, and prior context given in time", async () => {
    const host = start();
    await host.open();
    host.send({ type: "session.seed", session: "s", id: "seed", text: "The user's favourite number is 4711." });
    expect(await host.next("reply", (event) => event.parent === "seed")).toMatchObject({ status: "ok" });
    host.prompt("Remember the word heron.");
    await host.turnEnded();
    host.prompt("What word did I ask you to remember?");
    await host.turnEnded(2);
    expect(host.text()).toMatch(/heron/i);
    host.send({ type: "session.seed", session: "s", id: "late", text: "x" });
    expect(await host.next("reply", (event) => event.parent === "late")).toMatchObject({ status: "error" });
  });
});

describe("everything at once", () => {
  it("a stop right behind a change and a prompt still finds its turn", async () => {
    const host = start({ responses: [{ steps: [{ say: "x" }, { wait: "forever" }] }] });
    await host.open();
    host.raw(
      [
        { type: "session.configure", session: "s", patch: { mode: "yolo", rules: [{ deny: "Bash(rm *)" }] } },
        { type: "turn.prompt", session: "s", turn: "t", parts: [{ type: "text", text: "go" }] },
        { type: "turn.interrupt", session: "s", turn: "t" },
        { type: "turn.prompt", session: "s", turn: "u", parts: [{ type: "text", text: "go" }] },
        { type: "turn.interrupt", session: "s", turn: "u" },
      ]
        .map((op) => `${JSON.stringify(op)}\n`)
        .join(""),
    );
    await host.turnEnded(2);
    expect(host.ofType("turn.ended").map(({ turn, outcome }) => [turn, outcome])).toEqual([
      ["t", "interrupted"],
      ["u", "interrupted"],
    ]);
  });

  it("a shutdown at once reaches a session that is still opening, and its prompt", async () => {
    const host = start({ responses: [{ steps: [{ say: "x" }, { wait: "forever" }] }] });
    host.raw(
      [
        { type: "session.open", session: "s", open: "new" },
        { type: "turn.prompt", session: "s", turn: "t", parts: [{ type: "text", text: "go" }] },
        { type: "shutdown", when: "now" },
      ]
        .map((op) => `${JSON.stringify(op)}\n`)
        .join(""),
    );
    expect((await host.exited).code).toBe(0);
    expect(host.ofType("turn.ended").map(({ outcome }) => outcome)).toEqual(["interrupted"]);
    expect(host.events.at(-1)?.type).toBe("closed");
  });
});

describe("an op that takes long", () => {
  it("holds nobody else up: an interrupt and a ping pass a session that is still closing", async () => {
    const host = start({ args: ["--auto-approve"] });
    await host.open({}, "slow");
    await host.open({}, "other");
    host.prompt("run `trap '' TERM; sleep 300 >/dev/null 2>&1 &`", { session: "slow" });
    await host.next("turn.ended", (event) => event.session === "slow");
    host.prompt("wait forever", { session: "other" });
    await host.next("turn.started", (event) => event.session === "other");
    host.send(
      { type: "session.close", session: "slow" },
      { type: "session.open", session: "slow", id: "again", open: "resume", sessionId: "slow" },
    );
    host.send({ type: "turn.interrupt", session: "other" }, { type: "ping", id: "p" });
    await host.next("reply", (event) => event.parent === "p");
    await host.next("turn.ended", (event) => event.session === "other");
    expect(host.ofType("session.ready").filter((event) => event.parent === "again")).toEqual([]);
    await host.next("session.ready", (event) => event.parent === "again");
    expect(await host.finish()).toBe(0);
  });

  it("like loading files is left at once", async () => {
    const cwd = scratch({ "big.txt": "x".repeat(10 * 1024 * 1024) });
    const host = start({ cwd, responses: [{ say: "no" }] });
    await host.open();
    const file = { type: "file" as const, path: "big.txt" };
    host.send({ type: "turn.prompt", session: "s", parts: Array.from({ length: 300 }, () => file) });
    await host.next("turn.started");
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.turnEnded()).toMatchObject({ outcome: "interrupted" });
    expect(await host.finish()).toBe(0);
  });
});

describe("bad input", () => {
  const lines: [string, string | Buffer, RegExp][] = [
    ["malformed JSON", "not json\n", /not JSON/],
    ["an unknown type", '{"type":"foo"}\n', /Unknown op type: foo/],
    ["no type", '{"id":"x"}\n', /no string field "type"/],
    ["an array", "[]\n", /an array/],
    ["null", "null\n", /null/],
    ["a string", '"s"\n', /a string/],
    ["a missing field", '{"type":"turn.prompt"}\n', /parts/],
    ["a wrong field", '{"type":"turn.prompt","parts":[{"type":"text"}]}\n', /parts\.0\.text/],
    ["an unknown enum value", '{"type":"session.open","session":"x","open":"sideways"}\n', /open/],
    ["broken UTF-8", Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]), /UTF-8/],
    ["a line over the cap", Buffer.concat([Buffer.alloc(17 * 1024 * 1024, 0x61), Buffer.from("\n")]), /longer than 16777216 bytes/],
    ["an unknown session", '{"type":"turn.prompt","session":"nope","parts":[]}\n', /no session 'nope'/],
    [
      "a stored session that is not there",
      '{"type":"session.open","session":"x","open":"resume","sessionId":"gone"}\n',
      /Session 'gone' not found/,
    ],
  ];

  it("is answered by what is wrong, line by line, and the session lives on", async () => {
    const host = start({ responses: [{ say: "fine" }] });
    await host.open();
    for (const [index, [name, line, expected]] of lines.entries()) {
      host.raw(line);
      const reply = await host.next("reply", (event) => host.ofType("reply").indexOf(event) === index);
      expect(reply.fault?.message, name).toMatch(expected);
      expect(reply.status).toBe("error");
    }
    host.raw('\n  \r\n{"type":"ping","id":"crlf"}\r\n');
    await host.next("reply", (event) => event.parent === "crlf");
    expect(host.ofType("reply")).toHaveLength(lines.length + 1);
    host.prompt("still there?");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
  });

  it("in a script, a config or a home is a clear error", async () => {
    const home = scratch();
    writeFileSync(join(home, "config.yaml"), "provider: anthropic\nmodle: x\n");
    const broken = start({ env: { PARLEY_HOME: home } });
    expect((await broken.exited).code).toBe(1);
    expect(broken.stderr).toMatch(/config\.yaml:2:1.*modle.*model/s);
    const unwritable = start({ env: { PARLEY_HOME: "/proc/nowhere" } });
    unwritable.send({ type: "session.open", session: "s", id: "o", open: "new" });
    expect(await unwritable.next("reply", (event) => event.parent === "o")).toMatchObject({
      fault: { message: expect.stringMatching(/cannot be saved.*--no-session/s) },
    });
    const unkept = start({ args: ["--no-session"], env: { PARLEY_HOME: "/proc/nowhere" }, responses: [{ say: "works" }] });
    await unkept.open();
    unkept.prompt("go");
    expect((await unkept.turnEnded()).outcome).toBe("completed");
    const script = join(home, "bad.yaml");
    writeFileSync(script, "responses:\n  - sya: hello\n");
    const host = start({ args: ["--model", script] });
    host.send({ type: "session.open", session: "s", id: "o", open: "new" });
    expect(await host.next("reply", (event) => event.parent === "o")).toMatchObject({
      fault: { message: expect.stringMatching(/bad\.yaml:2:5.*sya.*say/s) },
    });
  });

  it("chunked anyhow means the same", async () => {
    const host = start();
    const text = `${JSON.stringify({ type: "session.open", session: "s", open: "new" })}\r\n\n${JSON.stringify({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: "say \u2028 ünïcödé 🦜" }] })}\n`;
    for (const byte of Buffer.from(text)) {
      host.raw(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(host.text()).toContain("ünïcödé 🦜");
  });

  it("without ripgrep, searching still works", async () => {
    const cwd = scratch({ "a.txt": "needle\n", "b.txt": "hay\n" });
    const host = start({
      cwd,
      env: { PARLEY_RIPGREP: "none" },
      responses: [
        {
          calls: [
            { tool: "Grep", args: { pattern: "needle" } },
            { tool: "Glob", args: { pattern: "*.txt" } },
          ],
        },
        { say: "ok" },
      ],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("tool.ended").map((event) => event.status)).toEqual(["ok", "ok"]);
    expect(JSON.stringify(host.ofType("tool.ended"))).toContain("a.txt");
  });
});
