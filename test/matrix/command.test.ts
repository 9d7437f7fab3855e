/** `parley relay` as a command: its exit codes, and what it says when the agent is not well. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Event } from "../../src/core/event.js";
import { environment, NativeHost, PARLEY, run, scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { fixture } from "../support/processes.js";
import { agents, driving } from "./agents.js";
import { hosts } from "./hosts.js";
import { PER_TURN, somePairs } from "./pairs.js";

const NODE = process.execPath;
const NATIVE = [NODE, PARLEY, ...(agents["native"] ?? [])];
const AIONRS = [NODE, PARLEY, ...(agents["aionrs"] ?? [])];
const HELLO = lines(
  { type: "session.open", session: "s", id: "o", open: "new" },
  { type: "turn.prompt", session: "s", turn: "t", parts: [{ type: "text", text: "say hi" }] },
);

function lines(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

function relay(
  as: string,
  drive: string,
  command: string[],
  options: { flags?: string[]; input?: string; home?: string; cwd?: string } = {},
) {
  const { flags = [], input = HELLO, home = scratch(), cwd = scratch() } = options;
  return run(["relay", "--as", as, "--drive", drive, ...flags, "--", ...command], { input, cwd, env: { PARLEY_HOME: home } });
}

function events(stdout: string): Event[] {
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => v.parse(Event, JSON.parse(line)));
}

describe("--check", () => {
  it("tells each breach of the grammar on stderr and exits with 3", async () => {
    const { code, stderr, stdout } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "twice"], { flags: ["--check"] });
    expect(code).toBe(3);
    expect(stderr).toBe("parley: grammar: rule 2: turn.ended of turn t, which has ended\n");
    expect(events(stdout).at(-1)?.type).toBe("closed");
  });

  it("finds nothing wrong with a yes that comes before the wire asks, as it does about one call at a time", async () => {
    const agent = [NODE, PARLEY, ...(agents["qwen-shipped"] ?? [])];
    const args = [PARLEY, "relay", "--as", "native", "--drive", "qwen-shipped", "--check", "--", ...agent];
    const host = new NativeHost(spawn(NODE, args, { cwd: scratch({ "a.txt": "A", "b.txt": "B" }), env: environment() }));
    await host.open();
    host.prompt("read a.txt and b.txt");
    const [first] = (await host.next("approval.requested")).calls;
    const other = host.ofType("tool.requested").find(({ call }) => call.id !== first?.id)?.call;
    for (const call of [other, first]) host.allow(call?.id ?? "");
    await host.turnEnded();
    expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "ok"]);
    expect(await host.finish()).toBe(0);
    expect(host.stderr).toBe("");
  });

  it("is off unless asked for", async () => {
    const { code, stderr } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "twice"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("--report", () => {
  it("tells on stderr what was carried, and how", async () => {
    const { code, stderr, stdout } = await relay("native", "aionrs", AIONRS, {
      flags: ["--report"],
      input: HELLO + lines({ type: "ping", session: "s" }),
    });
    expect(code).toBe(0);
    expect(stdout).not.toContain("exact");
    expect(stderr).toMatch(/^ops, native host to aionrs agent:\n/);
    expect(stderr).toMatch(/ {2}ping +1 {2}not on the wire: answered by the link\n/);
    expect(stderr).toMatch(/ {2}session\.ended +1 {2}made up by the link; exact\n/);
  });

  it("json is for machines", async () => {
    const { code, stderr } = await relay("native", "native", NATIVE, { flags: ["--report", "json"] });
    expect(code).toBe(0);
    expect(JSON.parse(stderr)).toMatchObject({
      as: "native",
      drive: "native",
      ops: expect.arrayContaining([{ type: "turn.prompt", count: 1, how: "exact" }]),
      events: expect.arrayContaining([{ type: "turn.ended", count: 1, how: "exact" }]),
    });
  });

  it("of the command is the command's own", async () => {
    const { stdout } = await relay("native", "native", [
      NODE,
      "-e",
      "console.error(process.argv.slice(1).join()); process.exit(4)",
      "--",
      "--report",
      "--check",
    ]);
    expect(events(stdout).at(-1)).toMatchObject({ type: "closed", code: 4, reason: expect.stringContaining("--report,--check") });
  });
});

describe.each(somePairs.filter(([, drive]) => !PER_TURN.includes(drive)))("a %s host hears why its %s agent", (as, drive) => {
  const input = lines(...(hosts[as]?.("s").open({}) ?? []));

  it.each([
    ["is not there", () => ["/nowhere/agent"], /'\/nowhere\/agent' was not found/],
    ["may not be executed", forbidden, /may not be executed/],
    ["leaves at once, with words", () => [NODE, fixture("last-words.mjs"), "7"], /exited with code 7: the key is missing/],
  ] as const)("%s", async (_name, command, why) => {
    const { code, stdout, stderr } = await relay(as, drive, [...command()], { flags: [...driving(drive)], input });
    expect(stdout).toMatch(why);
    expect(stderr).toMatch(why);
    expect(code).not.toBe(0);
  });

  it("leaves at once, without a word", async () => {
    expect((await relay(as, drive, [NODE, "-e", "", "--"], { flags: [...driving(drive)], input })).stdout).toMatch(/The agent is gone/);
  });
});

function forbidden(): string[] {
  const file = join(scratch(), "agent");
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o600);
  return [file];
}

describe("an agent", () => {
  it("that is gone is the answer to whatever its session is asked behind that", async () => {
    const agent = [NODE, fixture("qwen-shipped.mjs"), "0.24", "ready"];
    const host = new NativeHost(
      spawn(NODE, [PARLEY, "relay", "--as", "native", "--drive", "qwen-shipped", "--", ...agent], { cwd: scratch(), env: environment() }),
    );
    await host.open();
    host.prompt("die");
    await host.next("session.ended");
    host.send({ type: "turn.prompt", session: "s", id: "late", parts: [{ type: "text", text: "hello" }] });
    expect(await host.next("reply", ({ parent }) => parent === "late")).toMatchObject({
      to: "turn.prompt",
      status: "error",
      fault: { message: expect.stringContaining("53") },
    });
    await host.finish();
  });

  it("that writes garbage is told of, and goes on", async () => {
    const { code, stdout } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "garbage"]);
    expect(code).toBe(0);
    const errors = events(stdout).flatMap((event) => (event.type === "error" ? [event.fault.message] : []));
    expect(errors).toEqual([expect.stringContaining("Welcome!"), expect.stringContaining("[1,2")]);
    expect(events(stdout).filter((event) => event.type === "turn.ended")).toHaveLength(1);
  });

  it("that exits with 0 in the middle of a turn has failed, and so has the relay", async () => {
    const { code, stdout, stderr } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "leaves"]);
    const why = "The agent exited with code 0 in the middle of a turn";
    expect({ code, stderr }).toEqual({ code: 1, stderr: `parley: ${why}\n` });
    const told = events(stdout);
    expect(told.find(({ type }) => type === "turn.ended")).toMatchObject({ outcome: "failed" });
    expect(told.at(-1)).toMatchObject({ type: "closed", reason: why });
  });

  it("that does not leave at the end of input is ended", async () => {
    const { stdout } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "silent"], { input: "" });
    expect(events(stdout)).toMatchObject([{ type: "closed", signal: "SIGTERM" }]);
  });

  it("gets the relay's flags, and what its command says itself is not said twice", async () => {
    const show = [NODE, "-e", "console.error(process.argv.slice(1).join(' ')); process.exit(4)", "--", "--model=theirs"];
    const { stderr } = await relay("native", "aionrs", show, { flags: ["--model", "ours", "--max-tokens", "5"] });
    expect(stderr).toContain("--model=theirs --json-stream --max-tokens 5\n");
  });

  it("gets what the host says rather than the relay's flags", async () => {
    const open = { type: "session.open", session: "s", open: "new", config: { model: "host's" } };
    const show = [NODE, "-e", "console.error(process.argv.slice(1).join(' ')); process.exit(4)", "--"];
    const { stderr } = await relay("native", "aionrs", show, { flags: ["--model", "ours", "--provider", "local"], input: lines(open) });
    expect(stderr).toContain("--provider local --model host's\n");
  });

  it("cannot be told everything, and its host hears so after it is ready", async () => {
    const { stdout } = await relay("aionrs", "aionrs", AIONRS, { flags: ["--thinking", "high"], input: "" });
    const said = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(said).toMatchObject([{ type: "ready" }, { type: "info", message: expect.stringContaining("thinking") }]);
  });
});

describe.each(Object.keys(agents).filter((drive) => !drive.startsWith("agentproc")))("a host of aionrs before an agent of %s", (drive) => {
  it("is not warned of a default that the agent cannot be told, and is of a list of its own", async () => {
    const agent = [NODE, PARLEY, ...(agents[drive] ?? [])];
    const input = lines({ type: "message", msg_id: "m", input: "say hello" });
    const silent = await relay("aionrs", drive, agent, { flags: [...driving(drive)], input });
    expect(silent.stdout).toContain("stream_end");
    expect(silent.stdout).not.toContain("approveTools");
    const told = await relay("aionrs", drive, agent, { flags: [...driving(drive), "--approve-tools", "Glob"], input });
    expect(told.stdout.includes("approveTools")).toBe(!["claude", "codex", "native", "qwen-shipped"].includes(drive));
  });
});

it("a host of aionrs is told what a call of Qwen Code does in the agent's own words", async () => {
  const agent = [NODE, PARLEY, ...(agents["qwen-shipped"] ?? [])];
  const input = lines({ type: "message", msg_id: "m", input: "run `touch made.txt`" });
  const { stdout } = await relay("aionrs", "qwen-shipped", agent, { input });
  expect(stdout).toMatch(/"type":"tool_request".*"description":"[^"]*touch made\.txt/);
});

describe("what runs unasked", () => {
  const READ = lines({ type: "message", msg_id: "m", input: "read a.txt" });
  const WRITE = lines({ type: "message", msg_id: "m", input: "write 1 to b.txt" });

  it.each([
    ["nothing, as its wire promises", [], NATIVE, READ, true],
    ["what the relay's flag names", ["--approve-tools", "Read"], NATIVE, READ, false],
    ["everything, where the agent's command says so", [], [...NATIVE, "--auto-approve"], WRITE, false],
    ["not everything, where the relay says a mode", ["--approval-mode", "default"], [...NATIVE, "--auto-approve"], WRITE, true],
  ])("for an aionrs host is %s", async (_name, flags, command, input, asks) => {
    const cwd = scratch();
    writeFileSync(join(cwd, "a.txt"), "alpha\n");
    const { stdout } = await relay("aionrs", "native", command, { flags, input, cwd });
    expect(stdout).toContain("stream_end");
    expect(stdout.includes("tool_request")).toBe(asks);
    expect(stdout.includes("tool_running")).toBe(!asks);
  });

  it("needs no word where both wires promise the same", async () => {
    const { stdout } = await relay("aionrs", "aionrs", AIONRS, { input: "" });
    expect(stdout.split("\n").filter(Boolean)).toHaveLength(1);
  });
});

describe("a session", () => {
  it("of a handle that is used again keeps its name", async () => {
    const home = scratch();
    const first = events((await relay("native", "aionrs", AIONRS, { home })).stdout);
    const second = events((await relay("native", "aionrs", AIONRS, { home })).stdout);
    const [one, other] = [first, second].map((all) => all.find((event) => event.type === "session.ready")?.sessionId);
    expect(one).toBe("s");
    expect(other).not.toBe(one);
    const resume = lines({ type: "session.open", session: "r", open: "resume", sessionId: other });
    expect(events((await relay("native", "aionrs", AIONRS, { home, input: resume })).stdout)[0]).toMatchObject({
      type: "session.ready",
      sessionId: other,
    });
    expect(readdirSync(join(home, "relay"))).toHaveLength(2);
  });

  it("that nobody knows is asked for under the name given, and 'latest' is not one", async () => {
    const home = scratch();
    const cwd = scratch();
    const unknown = lines({ type: "session.open", session: "r", id: "o", open: "resume", sessionId: "nobody" });
    expect((await relay("native", "aionrs", AIONRS, { home, cwd, input: unknown })).stdout).toMatch(/Session 'nobody' not found/);
    const [ready] = events((await relay("native", "aionrs", AIONRS, { home, cwd })).stdout);
    const latest = await relay("aionrs", "aionrs", AIONRS, { home, cwd, flags: ["--resume", "latest"], input: "" });
    const { session_id } = v.parse(v.object({ session_id: v.string() }), JSON.parse(latest.stdout));
    expect(ready).toMatchObject({ type: "session.ready", sessionId: "s" });
    expect(session_id).not.toMatch(/^(?:latest|s)$/);
    expect(readdirSync(join(home, "relay"))).toHaveLength(1);
  });

  it("is shown by the agent's own name when ours cannot be kept", async () => {
    const home = scratch();
    writeFileSync(join(home, "relay"), "in the way");
    const { code, stdout, stderr } = await relay("native", "native", [NODE, fixture("fake-native.mjs"), "well"], { home });
    expect(code).toBe(0);
    expect(events(stdout)[0]).toMatchObject({ type: "session.ready", sessionId: "mine" });
    expect(stderr).toContain("the name of this session cannot be kept");
  });
});

describe("without a COMMAND", () => {
  it("a relay drives the program that its dialect is named after, which the host's words are not", async () => {
    const bin = await launchers();
    const args = ["relay", "--as", "ante", "--drive", "aionrs", "serve", "--stdio", "--provider", "rehearsal"];
    const input = lines({ id: "op_1", op: "Shutdown" });
    const env = { PATH: `${bin}:${environment()["PATH"] ?? ""}` };
    const spoken = await run(args, { input, env });
    expect([spoken.code, spoken.stdout]).toEqual([0, expect.stringContaining("Goodbye")]);
    const driven = await run(["relay", "--as", "native", "--drive", "aionrs", "--provider", "rehearsal"], { input: HELLO, env });
    expect([driven.code, events(driven.stdout).find(({ type }) => type === "turn.ended")]).toMatchObject([0, { outcome: "completed" }]);
  });
});

describe("wrong usage", () => {
  it.each([
    ["no command", ["--as", "native", "--drive", "native"], /Which agent\?/],
    ["no --as", ["--drive", "native", "--", "x"], /--as is missing/],
    ["no --drive", ["--as", "native", "--", "x"], /--drive is missing/],
    ["an unknown dialect", ["--as", "klingon", "--drive", "native", "--", "x"], /Unknown dialect 'klingon'. Known: .*native/],
    ["an unknown flag", ["--as", "native", "--drive", "native", "--chek", "--", "x"], /did you mean '--check'/],
    ["an unknown report", ["--as", "native", "--drive", "native", "--report=xml", "--", "x"], /--report is text or json, not 'xml'/],
    [
      "a flag that is no number",
      ["--as", "native", "--drive", "native", "--max-tokens", "many", "--", "x"],
      /--max-tokens must be a whole number/,
    ],
    ["a session for a host that opens its own", ["--as", "native", "--drive", "native", "--resume", "x", "--", "x"], /--resume/],
    ["a key, which the agent must be given itself", ["--as", "native", "--drive", "native", "--api-key", "k", "--", "x"], /--api-key/],
  ])("%s is told, with exit code 2", async (_name, args, why) => {
    const { code, stderr } = await run(["relay", ...args]);
    expect(stderr).toMatch(why);
    expect(code).toBe(2);
  });

  it("of the configuration is told in the host's own words", async () => {
    const home = scratch();
    writeFileSync(join(home, "config.yaml"), "modle: x\n");
    const { code, stdout, stderr } = await relay("aionrs", "native", NATIVE, { home, input: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      type: "error",
      msg_id: null,
      error: { code: "config_error", message: expect.stringContaining("modle") },
    });
    expect(stderr).toContain("modle");
    expect(code).toBe(1);
  });
});

describe("signals", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s ends the relay in order with %i", async (signal, code) => {
    const host = new NativeHost(
      spawn(NODE, [PARLEY, "relay", "--as", "native", "--drive", "aionrs", "--", ...AIONRS], { cwd: scratch(), env: environment() }),
    );
    await host.open();
    host.prompt("wait forever");
    await host.next("turn.started");
    host.child.kill(signal);
    expect(await host.exited).toEqual({ code, signal: null });
    expect(host.ofType("turn.ended")).toMatchObject([{ outcome: "interrupted" }]);
    expect(host.events.at(-1)?.type).toBe("closed");
  });
});

describe("the folder of a session", () => {
  it("is where its agent runs", async () => {
    const cwd = join(scratch(), "deep");
    mkdirSync(cwd);
    const input = lines(
      { type: "session.open", session: "s", open: "new", config: { cwd, mode: "yolo" } },
      { type: "turn.prompt", session: "s", parts: [{ type: "text", text: "write 'x' to here.txt" }] },
    );
    expect((await relay("native", "aionrs", AIONRS, { input })).code).toBe(0);
    expect(existsSync(join(cwd, "here.txt"))).toBe(true);
  });

  it("that is missing is told of", async () => {
    const input = lines({ type: "session.open", session: "s", id: "o", open: "new", config: { cwd: "/nowhere/at/all" } });
    const { code, stdout } = await relay("native", "aionrs", AIONRS, { input });
    expect(events(stdout)[0]).toMatchObject({
      type: "reply",
      to: "session.open",
      parent: "o",
      status: "error",
      fault: { message: expect.stringContaining("/nowhere/at/all") },
    });
    expect(code).toBe(1);
  });
});
