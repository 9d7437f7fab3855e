/** The built command and its disk: what is written when, what happens when it cannot be, and `parley sessions`. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EventType } from "../../src/core/event.js";
import { environment, NativeHost, PARLEY, run, scratch, script, start, until } from "../process/harness.js";

const bash = (command: string, id = "b") => ({ call: { tool: "Bash", args: { command }, id } });

/** Deltas are written in groups; replies and what opens or closes a session are not part of its story. */
const KEPT: ReadonlySet<EventType> = new Set<EventType>([
  "turn.started",
  "turn.ended",
  "text.done",
  "thinking.done",
  "tool.requested",
  "tool.started",
  "tool.ended",
  "approval.requested",
  "usage",
  "notice",
  "session.updated",
]);

describe("what is told", () => {
  test("is in the log when the host hears it", async () => {
    const home = scratch();
    const host = start({
      env: { PARLEY_HOME: home },
      responses: [
        {
          think: "hm",
          say: { text: "so ", pieces: 50 },
          calls: [bash("echo 1").call, { tool: "Read", args: { file_path: "x" }, id: "r" }, { tool: "Nonsense", id: "n" }],
        },
        { say: "Next.", call: { tool: "Spawn", args: { tasks: [{ name: "c", prompt: "go" }] } } },
        { say: "A child." },
        { say: "The end." },
      ],
      then: "repeat",
    });
    let heard = 0;
    const missing: string[] = [];
    host.child.stdout.on("data", () => {
      const log = existsSync(logOf(home)) ? seqsIn(home) : new Set();
      for (; heard < host.events.length; heard++) {
        const event = host.events[heard];
        if (event !== undefined && KEPT.has(event.type) && !log.has(event.seq)) missing.push(`${event.type} ${event.seq ?? ""}`);
        if (event?.type === "approval.requested") for (const { id } of event.calls) host.allow(id);
      }
    });
    await host.open();
    for (let turn = 1; turn <= 5; turn++) {
      host.prompt(`turn ${turn}`);
      host.send({ type: "session.configure", session: "s", patch: { thinking: "low" } });
      await host.turnEnded(turn);
    }
    expect(await host.finish()).toBe(0);
    expect(host.events.filter(({ type }) => KEPT.has(type)).length).toBeGreaterThan(80);
    expect(missing).toEqual([]);
  });

  test("of a tool's start is in the log before the tool runs", async () => {
    const home = scratch();
    // A command whose words name a file of PARLEY_HOME is asked about in every mode.
    const host = start({
      cwd: scratch({ "count.sh": `grep -c '"tool.started"' '${logOf(home)}'\n` }),
      env: { PARLEY_HOME: home },
      args: ["--auto-approve"],
      responses: [bash("sh count.sh"), { say: "ok" }],
    });
    await host.open();
    host.prompt("go");
    await host.turnEnded();
    expect(host.ofType("tool.ended")).toMatchObject([{ status: "ok", output: [{ text: expect.stringMatching(/\n1$/) }] }]);
    expect(await host.finish()).toBe(0);
  });

  test("and streamed is in the log within a moment, long before it is whole", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ steps: [{ say: "half a " }, { wait: "forever" }] }] });
    await host.open();
    host.prompt("go");
    await until(() => existsSync(logOf(home)) && readFileSync(logOf(home), "utf8").includes('"partial"'));
    expect(readFileSync(logOf(home), "utf8")).toContain('"half a "');
    host.send({ type: "turn.interrupt", session: "s" });
    expect(await host.finish()).toBe(0);
  });
});

describe("a session ended in order", () => {
  test.each(["EOF", "SIGTERM"])("by %s leaves no lock, and nothing to recover", async (how) => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, args: ["--auto-approve"], responses: [bash("sleep 300")] });
    await host.open();
    host.prompt("go");
    await host.next("tool.started");
    if (how === "EOF") {
      host.send({ type: "turn.interrupt", session: "s" });
      expect(await host.finish()).toBe(0);
    } else {
      host.child.kill("SIGTERM");
      await host.exited;
    }
    expect(readdirSync(join(home, "sessions", "s"))).toEqual(["log.jsonl"]);
    const again = await resumed(home);
    expect(again.ofType("notice")).toEqual([]);
    expect(await again.finish()).toBe(0);
  });

  test("is found when its home has moved", async () => {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: join(home, "old") }, responses: [{ say: "hello" }] });
    await host.open();
    host.prompt("hi");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    renameSync(join(home, "old"), join(home, "new"));
    const again = await resumed(join(home, "new"), [{ expect: { messages: 3 }, say: "again" }]);
    again.prompt("and now?");
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
  });
});

test("of several processes that resume a crashed session at once, one gets it and the others are told who", async () => {
  const home = scratch();
  const host = start({ env: { PARLEY_HOME: home }, args: ["--auto-approve"], responses: [bash("sleep 300")] });
  await host.open();
  host.prompt("go");
  await host.next("tool.started");
  host.child.kill("SIGKILL");
  await host.exited;
  const hosts = Array.from({ length: 4 }, () => start({ env: { PARLEY_HOME: home } }));
  for (const one of hosts)
    one.send({ type: "session.open", id: "o", session: "s", open: "resume", sessionId: "s", config: { model: "rehearsal" } });
  await until(() => hosts.every((one) => one.events.length > 0));
  const winners = hosts.filter((one) => one.events[0]?.type === "session.ready");
  expect(winners).toHaveLength(1);
  for (const one of hosts.filter((other) => !winners.includes(other))) {
    const { fault } = await one.next("reply");
    expect(fault?.message).toMatch(new RegExp(`^Session 's' is in use by process ${winners[0]?.child.pid ?? 0} since|several processes`));
  }
  for (const one of hosts) expect(await one.finish()).toBe(0);
  const ends = readFileSync(logOf(home), "utf8")
    .split("\n")
    .filter((line) => line.includes('"turn.ended"'));
  expect(ends).toHaveLength(1);
});

test("a session that another process took over, or whose folder is gone, is not written any more, and its host is told", async () => {
  for (const loss of ["taken over", "removed"]) {
    const home = scratch();
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "one" }], then: "repeat" });
    await host.open();
    host.prompt("first");
    await host.turnEnded();
    // As a successor does it that took us for dead: a machine that slept, a clock that jumped.
    writeFileSync(join(home, "sessions", "s", "theirs"), "{}");
    if (loss === "taken over") renameSync(join(home, "sessions", "s", "theirs"), join(home, "sessions", "s", "lock"));
    else rmSync(join(home, "sessions"), { recursive: true });
    const size = loss === "taken over" ? readFileSync(logOf(home)).length : 0;
    host.prompt("second");
    await host.turnEnded(2);
    expect(host.ofType("notice").map(({ text }) => text)).toEqual([
      expect.stringMatching(/can no longer be saved: another process has it, or it was removed/),
    ]);
    expect(await host.finish()).toBe(0);
    if (loss === "taken over")
      expect([readFileSync(logOf(home)).length, readFileSync(join(home, "sessions", "s", "lock"), "utf8")]).toEqual([size, "{}"]);
  }
});

describe("a home that cannot be written", () => {
  test.each([
    ["below /proc", () => "/proc/parley/home"],
    ["that is a file", () => join(scratch({ file: "" }), "file")],
    ["on a full disk", fullHome],
  ])("%s refuses the session, and says what to do about it", async (_, home) => {
    const host = start({ env: { PARLEY_HOME: home() } });
    host.send({ type: "session.open", session: "s", open: "new" });
    const { status, fault } = await host.next("reply");
    expect([status, fault?.code]).toEqual(["error", "session"]);
    expect(fault?.message).toMatch(/^This session cannot be saved, so it is not opened: E.*; set PARLEY_HOME to .*--no-session/);
    expect(await host.finish()).toBe(0);
    expect(host.ofType("session.ready")).toEqual([]);
  });

  test("refuses it in the other dialects' own forms", async () => {
    const args = (...more: string[]): string[] => [...more, "--provider", "rehearsal"];
    const env = { PARLEY_HOME: "/proc/parley/home" };
    const message = expect.stringMatching(/^This session cannot be saved/);
    for (const dialect of ["aionrs", "wayland"]) {
      const { code, stdout } = await run(args("--json-stream", "--dialect", dialect), { env });
      expect([code, JSON.parse(stdout)]).toMatchObject([1, { type: "error", error: { message, retryable: false } }]);
    }
    expect(await run(args("-p", "hi"), { env })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^parley: This session cannot be saved/),
    });
  });

  test("does not refuse a session that need not be saved", async () => {
    const env = { PARLEY_HOME: "/proc/parley/home" };
    expect(await run(["-p", "say hello", "--provider", "rehearsal", "--no-session"], { env })).toMatchObject({
      code: 0,
      stdout: "hello\n",
    });
  });

  test("refuses to go on with a session, which stays as it was", async () => {
    const home = scratch();
    const first = start({ env: { PARLEY_HOME: home }, responses: [{ say: "hello" }] });
    await first.open();
    first.prompt("hi");
    await first.turnEnded();
    expect(await first.finish()).toBe(0);
    const before = readFileSync(logOf(home));
    const args = ["serve", "--dialect", "native", "--provider", "rehearsal"];
    // A file may be as long as the log is, in KiB: its next line does not fit.
    const command = ["-c", `ulimit -f ${Math.floor(before.length / 1024)}; exec "$@"`, "bash", process.execPath, PARLEY, ...args];
    const host = new NativeHost(spawn("bash", command, { cwd: scratch(), env: environment({ PARLEY_HOME: home }) }));
    host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s" });
    const { status, fault } = await host.next("reply");
    expect([status, fault?.message]).toEqual(["error", expect.stringMatching(/^This session cannot be saved, so it is not opened: EFBIG/)]);
    expect(await host.finish()).toBe(0);
    expect(readFileSync(logOf(home))).toEqual(before);
    const again = await resumed(home);
    expect(again.ofType("notice")).toEqual([]);
    expect(await again.finish()).toBe(0);
  });

  test("any more, because the disk is full, costs one warning; what was saved is whole, and a resume tells what is missing", async () => {
    const home = scratch();
    const responses = [
      { say: { text: "words and words ", pieces: 60 }, call: { tool: "Bash", args: { command: "echo ran >> ran.txt" } } },
      { say: "done" },
    ];
    const cwd = scratch();
    const args = ["serve", "--dialect", "native", "--provider", "rehearsal", "--auto-approve", "--model", script(responses, "repeat")];
    // Files may have 16 KiB, and no more: a write beyond that fails as on a full disk.
    const child = spawn("bash", ["-c", 'ulimit -f 16; exec "$@"', "bash", process.execPath, PARLEY, ...args], {
      cwd,
      env: environment({ PARLEY_HOME: home }),
    });
    const host = new NativeHost(child);
    await host.open();
    for (let turn = 1; turn <= 8; turn++) {
      host.prompt(`turn ${turn}`);
      expect(await host.turnEnded(turn)).toMatchObject({ outcome: "completed" });
    }
    expect(host.ofType("notice")).toMatchObject([
      { level: "warning", kind: "store", text: expect.stringMatching(/^This session can no longer be saved: /) },
    ]);
    expect(await host.finish()).toBe(0);
    expect(readFileSync(join(cwd, "ran.txt"), "utf8").split("\n")).toHaveLength(9);
    const bytes = readFileSync(logOf(home));
    expect(bytes.length).toBeLessThanOrEqual(16 * 1024);
    expect(bytes.at(-1)).toBe(0x0a);
    const again = await resumed(home);
    const texts = () =>
      again
        .ofType("notice")
        .map(({ text }) => text)
        .join("\n");
    await until(() => /could not be saved then|in the middle of a turn/.test(texts()));
    expect(texts()).not.toContain("No call was running");
    again.prompt("hello");
    expect(await again.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await again.finish()).toBe(0);
  });
});

test("a call that ran when there was no room left even for saying so is not said not to have run", async () => {
  const cwd = scratch();
  const model = script([bash("echo ran >> ran.txt"), { say: "done" }]);
  const turn = async (home: string, name: string, kibibytes: number): Promise<Buffer> => {
    const args = ["serve", "--dialect", "native", "--provider", "rehearsal", "--model", model];
    const command = ["-c", `ulimit -f ${kibibytes}; exec "$@"`, "bash", process.execPath, PARLEY, ...args];
    const host = new NativeHost(spawn("bash", command, { cwd, env: environment({ PARLEY_HOME: home }) }));
    host.send({ type: "session.open", session: "s", open: "new", name });
    host.prompt("go");
    await host.next("approval.requested");
    host.allow("b");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(await host.finish()).toBe(0);
    return readFileSync(logOf(home));
  };
  const whole = await turn(scratch(), "n", 1024);
  // Cut so that the start of the call does not fit, nor the words that something is lost.
  const start = whole.lastIndexOf("\n", whole.indexOf('"tool.started"')) + 1;
  const kibibytes = Math.ceil((start + 20) / 1024);
  const home = scratch();
  const cut = await turn(home, `n${"x".repeat(kibibytes * 1024 - 20 - start)}`, kibibytes);
  expect(cut.toString("utf8", cut.length - 3)).toBe("\n-\n");
  const again = await resumed(home);
  const { text, data } = await again.next("notice", ({ kind }) => kind === "recovered");
  expect(text).toMatch(/Whether these calls took effect is unknown.*echo ran/);
  expect(data).toMatchObject({ unknown: [{ name: "Bash" }] });
  expect(await again.finish()).toBe(0);
});

describe("with sessions switched off", () => {
  test("by --no-session nothing at all is written", async () => {
    const home = join(scratch(), "home");
    const host = start({ env: { PARLEY_HOME: home }, args: ["--no-session"], responses: [{ say: "hello" }] });
    expect((await host.open()).sessionId).toBeUndefined();
    host.prompt("hi");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  test("by the config nothing but the config is there, and nothing can be resumed", async () => {
    const home = scratch({ "config.yaml": "sessions: { enabled: false }\n" });
    const host = start({ env: { PARLEY_HOME: home }, responses: [{ say: "hello" }] });
    await host.open();
    host.prompt("hi");
    await host.turnEnded();
    host.send({ type: "session.open", session: "t", open: "resume", sessionId: "s" });
    expect(await host.next("reply")).toMatchObject({
      status: "error",
      fault: { message: "Sessions are switched off, so none can be resumed" },
    });
    expect(await host.finish()).toBe(0);
    expect(readdirSync(home)).toEqual(["config.yaml"]);
  });
});

describe("parley sessions", () => {
  test("lists, shows and removes", async () => {
    const home = scratch();
    const env = { PARLEY_HOME: home };
    expect(await run(["sessions"], { env })).toMatchObject({ code: 0, stdout: "No session is stored.\n" });
    const host = start({ env, args: ["--auto-approve"], responses: [{ say: "Let me.", ...bash("echo hello") }, { say: "Done so." }] });
    await host.open();
    host.prompt("greet\u001b[31m \u202eme\nnow");
    await host.turnEnded();
    expect((await run(["sessions", "rm", "s"], { env })).stderr).toMatch(/^parley: Session 's' is in use by process \d+ since/);
    expect(await host.finish()).toBe(0);
    const list = await run(["sessions", "list"], { env });
    expect(list.stdout).toMatch(/^s {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}\/.* {2}greet\ufffd\[31m \ufffdme now\n$/);
    expect(JSON.parse((await run(["sessions", "--json"], { env })).stdout)).toMatchObject({
      id: "s",
      firstPrompt: "greet\u001b[31m \u202eme now",
    });
    const shown = (await run(["sessions", "show", "s"], { env })).stdout;
    for (const piece of ["> greet", "Let me.", "echo hello", "hello", "Done so."]) expect(shown).toContain(piece);
    expect(await run(["sessions", "rm", "s"], { env })).toMatchObject({ code: 0, stdout: "Session 's' is removed.\n" });
    expect(readdirSync(join(home, "sessions"))).toEqual([]);
    expect(await run(["sessions", "show", "s"], { env })).toMatchObject({
      code: 1,
      stderr: "parley: Session 's' not found; 'parley sessions' lists what is stored\n",
    });
    expect((await run(["sessions", "burn", "s"], { env })).code).toBe(2);
    expect((await run(["sessions", "rm"], { env })).code).toBe(2);
  });

  test("lists three hundred, and reads only their beginnings", async () => {
    const home = scratch();
    for (let number = 0; number < 300; number++) {
      const folder = join(home, "sessions", `s${number}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "log.jsonl"), `${JSON.stringify({ kind: "opened", at: 1, id: `s${number}`, cwd: "/w", config: {} })}\n`);
      writeFileSync(
        join(folder, "log.jsonl"),
        `${JSON.stringify({ kind: "event", event: { type: "user.message", parts: [{ type: "text", text: "hi" }] } })}\n`,
        { flag: "a" },
      );
      truncateSync(join(folder, "log.jsonl"), 2 ** 34);
    }
    const { code, stdout } = await run(["sessions"], { env: { PARLEY_HOME: home } });
    expect([code, stdout.split("\n").length]).toEqual([0, 301]);
  });
});

// --- helpers ---

function logOf(home: string): string {
  return join(home, "sessions", "s", "log.jsonl");
}

function seqsIn(home: string): Set<number | undefined> {
  const lines = readFileSync(logOf(home), "utf8").split("\n").slice(0, -1);
  return new Set(lines.map((line) => JSON.parse(line).event?.seq));
}

async function resumed(home: string, responses: unknown[] = [{ say: "hello again" }]): Promise<NativeHost> {
  const host = start({ env: { PARLEY_HOME: home } });
  host.send({ type: "session.open", session: "s", open: "resume", sessionId: "s", config: { model: script(responses) } });
  await host.next("session.ready");
  return host;
}

/** Every write to this session's log fails with ENOSPC. */
function fullHome(): string {
  const home = scratch();
  mkdirSync(join(home, "sessions", "s"), { recursive: true });
  symlinkSync("/dev/full", logOf(home));
  return home;
}
