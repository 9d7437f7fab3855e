/** The formats of one prompt: one object, or a line an event; and what a failure looks like in them. */
import { spawn } from "node:child_process";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { Event } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import { environment, PARLEY, run, scratch, script } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

const scripted = (...responses: unknown[]): string[] => ["--provider", "rehearsal", "--model", script(responses)];
const write = { call: { tool: "Write", args: { file_path: "a.txt", content: "x" } } };

/** The one object that a run printed. */
function objectIn(stdout: string): unknown {
  expect(stdout.split("\n")).toHaveLength(2);
  return JSON.parse(stdout);
}

describe("--json", () => {
  test("is one object: the answer as text, its session, what was used, and each call", async () => {
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    const args = scripted({ say: "Let me see.", call: { tool: "Read", args: { file_path: "notes.txt" } } }, write, { say: "Milk." });
    const { code, stdout } = await run(["-p", "go", "--json", ...args], { cwd });
    expect([code, objectIn(stdout)]).toEqual([
      0,
      {
        text: "Let me see.\nMilk.",
        outcome: "completed",
        finish: "stop",
        sessionId: expect.stringMatching(/^\w{26}$/),
        usage: expect.objectContaining({ input: expect.any(Number), output: expect.any(Number) }),
        calls: [
          { tool: "Read", status: "ok" },
          { tool: "Write", status: "denied" },
        ],
      },
    ]);
  });

  test("needs no -p, and takes a prompt from stdin", async () => {
    for (const ran of [await run(["say heron", "--json"]), await run(["--json"], { input: "say heron" })])
      expect([ran.code, objectIn(ran.stdout)]).toEqual([0, expect.objectContaining({ text: "heron", outcome: "completed" })]);
  });

  test("behaves without a key as -p does: the rehearsal model answers, and stderr says so", async () => {
    const plain = await run(["-p", "say heron"]);
    const json = await run(["-p", "say heron", "--json"]);
    expect([json.code, json.stderr]).toEqual([plain.code, plain.stderr]);
    expect(json.stderr).toContain("No key was found");
  });

  test("has the text of an answer that was dropped and asked for again once", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hal"], cut: "after" }, { text: ["Whole."] }]);
    const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
    const { stdout } = await run(["-p", "go", "--json", "--provider", "anthropic"], { env });
    expect(objectIn(stdout)).toMatchObject({ text: "Whole.", outcome: "completed" });
  });

  test.each([
    ["a key that is missing", ["--provider", "anthropic"], 1, "config", "ANTHROPIC_API_KEY"],
    ["a flag that nobody knows", ["--bogus"], 2, "usage", "--bogus"],
    ["two formats", ["--events"], 2, "usage", "exclude each other"],
    ["another program's format", ["--output-format", "stream-json"], 2, "usage", "exclude each other"],
    ["a session that is not there", ["--resume", "nobody"], 1, "session", "nobody"],
  ])("tells %s in the object, on stderr and by the exit code", async (_, args, exit, errorCode, why) => {
    const { code, stdout, stderr } = await run(["-p", "go", "--json", ...args]);
    expect([code, stderr]).toEqual([exit, expect.stringContaining(why)]);
    expect(objectIn(stdout)).toMatchObject({
      outcome: "failed",
      calls: [],
      error: { code: errorCode, message: expect.stringContaining(why) },
    });
  });

  test("tells a turn that failed in the object, on stderr and by the exit code", async () => {
    const { code, stdout, stderr } = await run(["-p", "go", "--json", ...scripted({ fail: { status: 401, message: "bad key" } })]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("bad key")]);
    expect(objectIn(stdout)).toMatchObject({ outcome: "failed", error: { code: "provider", message: expect.stringContaining("bad key") } });
  });

  test("tells a turn that stopped at a limit by its finish and the exit code", async () => {
    const { code, stdout } = await run(["-p", "go", "--json", ...scripted(write, write), "--max-turns", "1"]);
    expect([code, objectIn(stdout)]).toEqual([1, expect.objectContaining({ outcome: "completed", finish: "max_turns" })]);
  });

  test("is printed for a run that a signal interrupts, too", async () => {
    const read = { call: { tool: "Read", args: { file_path: "notes.txt" } } };
    const args = ["-p", "go", "--json", ...scripted(read, { steps: [{ say: "on and on" }, { wait: "forever" }] })];
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    const child = spawn(process.execPath, [PARLEY, ...args], { cwd, env: environment() });
    child.stdin.end();
    let stdout = "";
    child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
    await new Promise<void>((resolve) => child.stderr.on("data", (text: Buffer) => text.includes("buy milk") && resolve()));
    child.kill("SIGINT");
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(130);
    expect(objectIn(stdout)).toMatchObject({ outcome: "interrupted", calls: [{ tool: "Read", status: "ok" }] });
  });
});

describe("--events", () => {
  test("is every event as a line, in grammatical order, from the session's beginning to the agent's end", async () => {
    const cwd = scratch({ "notes.txt": "buy milk\n" });
    const { code, stdout } = await run(["-p", "read notes.txt", "--events"], { cwd });
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => v.parse(Event, JSON.parse(line)));
    const types = events.map(({ type }) => type);
    expect([code, types[0], types.at(-1)]).toEqual([0, "session.ready", "closed"]);
    for (const type of ["turn.started", "tool.requested", "tool.ended", "text.delta", "text.done", "usage", "turn.ended"])
      expect(types).toContain(type);
    const grammar = new Grammar();
    grammar.op({ type: "session.open", session: events[0]?.session ?? "", open: "new" });
    expect(events.flatMap((event) => grammar.event(event))).toEqual([]);
  });

  test.each([
    ["wrong usage as one fatal error", ["--bogus"], 2, { type: "error", fault: { code: "usage" }, fatal: true }],
    ["a missing key as the refusal of the session", ["--provider", "anthropic"], 1, { type: "reply", fault: { code: "config" } }],
  ])("tells %s, on stderr and by the exit code, too", async (_, args, exit, first) => {
    const { code, stdout, stderr } = await run(["-p", "go", "--events", ...args]);
    const [line = ""] = stdout.split("\n");
    const event: { fault: { message: string } } = JSON.parse(line);
    expect([code, event, stderr]).toEqual([
      exit,
      expect.objectContaining({ type: first.type }),
      expect.stringContaining(event.fault.message),
    ]);
    expect(event).toMatchObject(first);
  });
});

describe("calls on stderr", () => {
  const calls = (env: Record<string, string>) =>
    run(
      ["-p", "go", "--auto-approve", ...scripted({ call: { tool: "Bash", args: { command: "seq -f 'line %g' 50" } } }, { say: "Done." })],
      { env },
    );

  test("have the names of tools that rules know, and keep the ends of what they printed", async () => {
    const { stderr } = await calls({ LANG: "C.UTF-8" });
    expect(stderr).toContain("● Bash seq -f 'line %g' 50\n");
    expect(stderr).toMatch(/ 50\n {2}│ line 1\n[^]* line 6\n {2}… 38 more lines\n {2}│ line 45\n[^]* line 50\n$/);
  });

  test("have marks of ASCII where the locale is not UTF-8", async () => {
    const { stderr } = await calls({ LANG: "C" });
    expect(stderr).toContain("* Bash seq");
    // oxlint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/[^\u0000-\u007f]/);
  });
});
