/** Agents that speak a protocol of their own, under the same runner; and our own agent under our own bridge. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { fixture } from "../support/processes.js";
import { Bench, node, told } from "./harness.js";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
const OWN = { command: process.execPath, env: { PARLEY_HOME: "${PARLEY_HOME}" }, protocol: "0.4" };
const NATIVE = { ...OWN, dialect: "native", args: [PARLEY, "serve", "--dialect", "native", "--provider", "rehearsal"] };

describe.each([
  ["native", NATIVE],
  ["ante", { ...NATIVE, dialect: "ante", args: [PARLEY, "serve", "--stdio"], provider: "rehearsal", model: "rehearsal" }],
  ["aionrs", { ...NATIVE, dialect: "aionrs", args: [PARLEY, "--provider", "rehearsal"] }],
  ["qwen", { ...NATIVE, dialect: "qwen", args: [PARLEY, "--provider", "rehearsal"] }],
  ["qwen-shipped", { ...NATIVE, dialect: "qwen-shipped", args: [PARLEY, "--provider", "rehearsal"] }],
])("an agent of %s", (_, profile) => {
  test("answers in pieces, asks, does what it may, and goes on with its session", async () => {
    const bench = new Bench("", profile);
    const first = await bench.turn("say hello there");
    expect([first.partials.join(""), first.result.reply, first.result.exit_code]).toEqual(["hello there", "", 0]);
    const { session_id } = first.result;
    expect(session_id).not.toBe("");

    const order = "Run `echo gr''een`";
    const denied = await bench.turn(order);
    expect(denied.lines).toContainEqual(
      expect.objectContaining({ type: "permission_request", tool_name: "Bash", input: { command: "echo gr''een" } }),
    );
    expect(denied.partials.join("")).toMatch(/denied/);
    expect(denied.result).toMatchObject({ session_id, exit_code: 0 });
    expect(denied.stderr).not.toContain("a new one begins");

    const allowed = await bench.turn(order, { flags: ["--permission", "allow"] });
    expect(allowed.partials.join("")).toContain("green");
    expect(allowed.result).toMatchObject({ session_id, usage: { input: expect.any(Number) } });

    const other = await bench.turn("say hello", { flags: ["--new"] });
    expect(other.partials.join("")).toBe("hello");
    expect(other.result.session_id).not.toBe(session_id);
  });

  test("answers at once where its profile says so", async () => {
    const { partials, result } = await new Bench("", { ...profile, streaming: false }).turn("say hello there");
    expect([partials, result.reply]).toEqual([[], "hello there"]);
  });
});

test("an agent of another protocol is ended when its time is over, with its tools", async () => {
  const { result } = await new Bench("", { ...NATIVE, timeout_secs: 5, kill_grace_secs: 1 }).turn("Run `sleep 120`", {
    flags: ["--permission", "allow"],
  });
  expect(result).toMatchObject({ exit_code: 124, timed_out: true });
});

test("a session that the agent has lost begins anew", async () => {
  const bench = new Bench("", NATIVE);
  const first = await bench.turn("say hello");
  rmSync(join(bench.folder, "home/sessions"), { recursive: true });
  const second = await bench.turn("say hello");
  expect(second.result).toMatchObject({ exit_code: 0, error: "" });
  expect(second.result.session_id).not.toBe(first.result.session_id);
  expect(second.stderr).toContain("a new one begins");
});

test("a session that somebody else has right now is kept for the next turn", async () => {
  const bench = new Bench("", NATIVE);
  const { session_id } = (await bench.turn("say hello")).result;
  const other = spawn(process.execPath, NATIVE.args, { cwd: bench.folder, env: bench.env, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void other.kill("SIGKILL"));
  other.stdin.write(`${JSON.stringify({ type: "session.open", id: "o", session: session_id, sessionId: session_id, open: "resume" })}\n`);
  await once(other.stdout, "data");
  const during = bench.start(["run", "PROFILE", "--message", "say hello", "--json"]);
  expect((await told(during)).result).toMatchObject({ exit_code: 1, session_id, error: expect.stringContaining("is in use by") });
  other.stdin.end();
  await once(other, "exit");
  expect((await bench.turn("what did I say?")).result).toMatchObject({ exit_code: 0, session_id });
});

test("a session is kept when the agent is killed before it has gone on with it", async () => {
  const dies = node(`
    const say = (event) => console.log(JSON.stringify(event));
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { type, open, session, id, turn } = JSON.parse(line);
      if (open === "resume") process.kill(process.pid, "SIGKILL");
      else if (type === "session.open") say({ type: "session.ready", session, parent: id, sessionId: "s" + process.pid });
      else if (type === "turn.prompt") for (const type of ["turn.started", "turn.ended"]) say({ type, session, turn, parent: id, outcome: "completed" });
      else if (type === "shutdown") process.exit();
    });`);
  const bench = new Bench(dies, { dialect: "native" });
  const { session_id } = (await bench.turn()).result;
  expect(session_id).toMatch(/^s/);
  expect((await bench.turn()).result).toMatchObject({ exit_code: 137, signal: "SIGKILL", session_id });
});

test("a session survives a turn in which the agent cannot start", async () => {
  const bench = new Bench("", { ...NATIVE, args: [...NATIVE.args, "--max-turns={{MESSAGE}}"] });
  const first = await bench.turn("5");
  expect(first.result).toMatchObject({ exit_code: 0, session_id: expect.stringMatching(/./) });
  const { session_id } = first.result;
  const failed = await bench.turn("many");
  expect(failed.result).toMatchObject({ exit_code: 1, session_id, error: expect.stringContaining("--max-turns must be a whole number") });
  expect((await bench.turn("5")).result).toMatchObject({ exit_code: 0, session_id });
});

describe("an agent that dies", () => {
  const SAID = 'console.error("the token is hunter2")';
  const dies = (how: string): Bench => new Bench(node(`process.stdin.once("data", () => { ${SAID}; ${how}; });`), { dialect: "native" });

  test("before it is ready has its own exit code, and its stderr is not the user's business", async () => {
    const { result, stderr } = await dies("process.exit(3)").turn();
    expect(result).toMatchObject({ error: "The agent failed with exit code 3", exit_code: 3, process_exit_code: 3, signal: null });
    expect(stderr).toContain("hunter2");
  });

  test("by a signal has 128 and its number", async () => {
    const { result } = await dies('process.kill(process.pid, "SIGKILL")').turn();
    expect(result).toMatchObject({ error: "The agent was ended by SIGKILL", exit_code: 137, process_exit_code: null, signal: "SIGKILL" });
  });

  test("in the middle of a turn", async () => {
    const { result } = await new Bench("", NATIVE).turn("Run `echo hunter2 >&2; kill -9 $PPID`", { flags: ["--permission", "allow"] });
    expect(result).toMatchObject({ error: "The agent was ended by SIGKILL", exit_code: 137, signal: "SIGKILL" });
  });

  test("where the user wants no generic errors", async () => {
    const bench = new Bench(node(`${SAID}; process.exit(3)`), { dialect: "native", send_error_reply: false });
    expect((await bench.turn()).result).toMatchObject({ error: "", exit_code: 3 });
  });
});

test("an agent that cannot start says why", async () => {
  const { error, result } = await new Bench("", {
    ...OWN,
    dialect: "aionrs",
    args: [fixture("aionrs.mjs"), "0.1.36", "config-error"],
  }).turn();
  expect([error, result.exit_code]).toEqual([expect.stringContaining("ANTHROPIC_API_KEY not set"), 1]);
});

describe("our own agent under our own bridge", () => {
  const profile = { ...OWN, args: [PARLEY, "agentproc", "--provider", "rehearsal"], permission: true };

  test.each(["0.2", "0.3", "0.4", "auto"])("on wire %s", async (protocol) => {
    const bench = new Bench("", { ...profile, protocol });
    const first = await bench.turn("say hello there");
    expect([first.partials.join("") + first.result.reply, first.result.exit_code]).toEqual(["hello there", 0]);
    const second = await bench.turn("say hello there");
    expect(second.result.session_id).toBe(first.result.session_id);
  });

  test("asks over --json", async () => {
    const bench = new Bench("", profile);
    const program = bench.start(["run", "PROFILE", "--message", "Run `echo gr''een`", "--json"]);
    const ran = told(program);
    let heard = "";
    program.stdout.on("data", (text: Buffer) => {
      heard += text.toString();
      const asked = /"request_id":"([^"]+)"/.exec(heard)?.[1];
      if (asked !== undefined && program.stdin.writable)
        program.stdin.end(`${JSON.stringify({ type: "permission_response", request_id: asked, behavior: "allow" })}\n`);
    });
    const { partials, result } = await ran;
    expect(partials.join("") + result.reply).toContain("green");
    await bench.processes.gone();
  });
});
