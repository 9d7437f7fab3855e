import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, onTestFinished, test } from "vitest";
import { Event } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import { mintId } from "../../src/core/ids.js";
import { Op } from "../../src/core/op.js";
import { until } from "../../src/engine/tools/testing.js";
import { raw } from "../extensions/mcp-harness.js";
import { serveWs } from "../ante/ws-client.js";
import { PARLEY, run, scratch, script } from "../process/harness.js";
import { idle, rss } from "../support/load.js";
import { auditIn, LineHost, records } from "./line-host.js";

const SECRET = "walnut-secret-0123456789";
const REHEARSED = ["--provider", "rehearsal"];
const CALL = [{ call: { tool: "Bash", args: { command: "echo hello" } } }, { say: "done" }];

/** A conversation with a tool that is asked about, in the words of each wire. */
const WIRES: Record<string, { args: string[]; play(host: LineHost, model: string): Promise<void> }> = {
  native: {
    args: ["serve", "--dialect", "native"],
    async play(host) {
      host.send({ type: "session.open", session: "s", open: "new", id: "o1" });
      await host.heard('"catalog.updated"');
      host.send("this is no JSON");
      await host.heard("not JSON");
      host.send({ type: "turn.prompt", session: "s", turn: "t", id: "o2", parts: [{ type: "text", text: "go" }] });
      await host.heard('"approval.requested"');
      host.send({ type: "approval.answer", session: "s", id: "o3", answers: [{ call: "call_1", decision: "allow" }] });
      await host.heard('"turn.ended"');
    },
  },
  aionrs: {
    args: ["--json-stream"],
    async play(host) {
      await host.heard('"ready"');
      host.send({ type: "message", msg_id: "m1", content: "go" });
      await host.heard('"tool_request"');
      host.send({ type: "tool_approve", call_id: "call_1", scope: "once" });
      await host.heard('"stream_end"');
    },
  },
  ante: {
    args: ["serve", "--stdio"],
    async play(host, model) {
      const op = (fields: unknown): void => host.send({ op: fields, id: `op_${mintId()}` });
      op({ StartSession: { model, provider: "rehearsal", streaming: true } });
      await host.heard('"ExtensionRefreshed"');
      op({ UserInput: "go" });
      const pause = JSON.stringify(await host.heard('"TurnPause"'));
      const [, turn_id] = /"turn_id":"([^"]*)"/.exec(pause) ?? [];
      op({ ApprovalResponse: { turn_id, responses: [["call_1", "Accept"]] } });
      await host.heard('"TurnEnd"');
    },
  },
};

describe.each(Object.entries(WIRES))("over the pipe, %s", (_, { args, play }) => {
  test("holds every line of both directions, in order, for its owner alone, and is appended to", async () => {
    const file = join(scratch(), "audit.jsonl");
    const cwd = scratch();
    const model = script(CALL, "repeat");
    const command = [...args, ...REHEARSED, "--model", model, "--audit", file];
    const first = new LineHost(command, { cwd });
    await play(first, model);
    expect(await first.finish()).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const audit = auditIn(file);
    expect(audit[0]).toMatchObject({ start: { argv: command } });
    expect(records(audit, "out")).toEqual(first.records);
    expect(audit.slice(-1)).toMatchObject([{ dir: "out", end: true }]);
    expect(audit.filter((line) => "end" in line).map((line) => ("dir" in line ? line.dir : ""))).toEqual(["in", "out"]);
    const times = audit.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));

    const second = new LineHost(command, { cwd });
    await play(second, model);
    await second.finish();
    expect(auditIn(file).slice(0, audit.length)).toEqual(audit);
    expect(auditIn(file).filter((line) => "start" in line)).toHaveLength(2);
  });

  test("replays: its lines into a fresh process bring its lines out of it, up to times and ids", async () => {
    const file = join(scratch(), "audit.jsonl");
    const cwd = scratch();
    const model = script(CALL);
    const command = [...args, ...REHEARSED, "--model", model];
    const first = new LineHost([...command, "--audit", file], { cwd });
    await play(first, model);
    await first.finish();

    const again = new LineHost(command, { cwd });
    const before: unknown[] = [];
    for (const line of auditIn(file)) {
      if (!("dir" in line)) continue;
      if (line.dir === "out") {
        if ("rec" in line) before.push(line.rec);
        continue;
      }
      // As the host did: it knew what had come so far.
      await again.count(before.length);
      if ("rec" in line) again.send(translated(line.rec, before, again.records));
      else if ("line" in line) again.send(line.line);
      else again.child.stdin.end();
    }
    expect((await again.exited).code).toBe(0);
    expect(again.records.map((record) => nameless(record))).toEqual(before.map((record) => nameless(record)));
    expect(before.length).toBeGreaterThan(5);
  });
});

test("what is written down of our own vocabulary keeps to its grammar", async () => {
  const file = join(scratch(), "audit.jsonl");
  const model = script(CALL);
  const host = new LineHost(["serve", "--dialect", "native", ...REHEARSED, "--model", model, "--audit", file], { cwd: scratch() });
  await WIRES["native"]?.play(host, model);
  await host.finish();
  const grammar = new Grammar();
  const violations: string[] = [];
  for (const line of auditIn(file)) {
    if (!("rec" in line)) continue;
    if (line.dir === "in") grammar.op(v.parse(Op, line.rec));
    else violations.push(...grammar.event(v.parse(Event, line.rec)));
  }
  expect([...violations, ...grammar.end()]).toEqual([]);
});

const ID = /[0-7][0-9A-HJKMNP-TV-Z]{25}/gi;

/** With the ids that the agent has minted this time. */
function translated(record: unknown, before: readonly unknown[], now: readonly unknown[]): unknown {
  const [old, fresh] = [before, now].map((lines) => [...new Set(JSON.stringify(lines).match(ID))]);
  const text = JSON.stringify(record).replaceAll(ID, (id) => fresh?.[old?.indexOf(id) ?? -1] ?? id);
  return JSON.parse(text);
}

/** Without what no two runs share. */
function nameless(record: unknown): unknown {
  const text = JSON.stringify(record)
    .replaceAll(/"(at|seq|deadline)":\d+/g, '"$1":0')
    .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":""')
    .replaceAll(ID, "<id>");
  return JSON.parse(text);
}

describe("secrets", () => {
  test("of the environment, of servers and of fields stand in no line; the words around them do", async () => {
    const file = join(scratch(), "audit.jsonl");
    const model = script([{ say: { pieces: ["it is walnut-sec", "ret-0123", "456789, yes"] } }]);
    const host = new LineHost(
      ["serve", "--dialect", "native", ...REHEARSED, "--model", model, "--api-key", "squirrel-42-squirrel", "--audit", file],
      {
        cwd: scratch(),
        env: { SOME_API_KEY: SECRET },
      },
    );
    const mcpServers = { raw: { ...raw("none"), env: { MY_TOKEN: "marmalade-77-token" } } };
    host.send({ type: "session.open", session: "s", open: "new", config: { mcpServers }, ext: { x: { authToken: "hazel-99-hazel" } } });
    await host.heard('"session.ready"');
    host.send({ type: "turn.prompt", session: "s", parts: [{ type: "text", text: `keep ${SECRET} and hazel-99-hazel` }] });
    await host.heard('"turn.ended"');
    await host.finish();
    const text = readFileSync(file, "utf8");
    for (const secret of [SECRET, "walnut", "squirrel", "marmalade", "hazel"]) expect(text).not.toContain(secret);
    expect(text).toMatch(/keep .redacted. and .redacted./);
    expect(text).toContain(", yes");
  });

  test("that a driven agent splits over its deltas stand on neither wire's lines", async () => {
    const file = join(scratch(), "audit.jsonl");
    const model = script([{ say: { pieces: ["it is ", "walnut-", "secret-", "0123456789", ", yes"] } }]);
    // The agent does not know the secret; only the relay does.
    const agent = ["env", "-u", "SOME_API_KEY", process.execPath, PARLEY, "serve", "--dialect", "native", ...REHEARSED, "--model", model];
    const host = new LineHost(["relay", "--as", "aionrs", "--drive", "native", "--audit", file, "--", ...agent], {
      cwd: scratch(),
      env: { SOME_API_KEY: SECRET },
    });
    await host.heard('"ready"');
    host.send({ type: "message", msg_id: "m1", content: "go" });
    await host.heard('"stream_end"');
    expect(await host.finish()).toBe(0);
    const audit = auditIn(file);
    expect(audit[0]).toMatchObject({ start: { as: "aionrs", drive: "native" } });
    for (const [dir, conn] of [
      ["out", "host"],
      ["in", "agent-1"],
    ] as const) {
      const lines = records(audit, dir, conn);
      expect(lines.length).toBeGreaterThan(5);
      const said = lines.map((line) => /"text":"([^"]*)"/.exec(JSON.stringify(line))?.[1] ?? "").join("");
      expect(said).not.toMatch(/walnut|secret|0123456789/);
      expect(said).toContain("it is [redacted], yes");
    }
    expect(records(audit, "in", "host")).toEqual([{ type: "message", msg_id: "m1", content: "go" }]);
    expect(records(audit, "out", "agent-1").length).toBeGreaterThan(1);
  });
});

test("over WebSockets each line names its connection", async () => {
  const file = join(scratch(), "audit.jsonl");
  const server = await serveWs({ args: [...REHEARSED, "--audit", file] });
  const first = await server.session(["one"]);
  const second = await server.session(["two"]);
  for (const [client, word] of [
    [first, "one"],
    [second, "two"],
  ] as const) {
    client.send({ UserInput: word });
    await client.next("TurnEnd");
  }
  server.child.kill("SIGTERM");
  await server.exited;
  const audit = auditIn(file);
  for (const [conn, word, other] of [
    ["1", "one", "two"],
    ["2", "two", "one"],
  ] as const) {
    const out = JSON.stringify(records(audit, "out", conn));
    expect(out).toContain(`"${word}"`);
    expect(out).not.toContain(`"${other}"`);
    expect(records(audit, "in", conn).length).toBeGreaterThan(1);
  }
  expect(audit.filter((line) => "dir" in line && line.conn === undefined)).toEqual([]);
});

describe("a file that cannot be written", () => {
  const nowhere = join("/nowhere-at-all", "audit.jsonl");

  test("is the dialect's error at the start, and exit code 1", async () => {
    const { stdout, stderr, code } = await run(["--json-stream", ...REHEARSED, "--audit", nowhere], { input: "" });
    expect(JSON.parse(stdout)).toMatchObject({ type: "error", error: { code: "config_error", message: expect.stringContaining(nowhere) } });
    expect(stderr).toContain("its folder does not exist");
    expect(code).toBe(1);
  });

  test("is so for a relay, too, and no agent is started", async () => {
    const marker = join(scratch(), "started");
    const { stdout, code } = await run(["relay", "--as", "aionrs", "--drive", "native", "--audit", nowhere, "--", "touch", marker], {
      input: "",
    });
    expect(JSON.parse(stdout)).toMatchObject({ type: "error", error: { code: "config_error" } });
    expect(code).toBe(1);
    expect(existsSync(marker)).toBe(false);
  });

  test("is told on stderr where the protocol is on a socket", async () => {
    const { stderr, code } = await run(["serve", "--ws", "127.0.0.1:0", ...REHEARSED, "--audit", nowhere], { input: "" });
    expect(stderr).toContain(nowhere);
    expect(code).toBe(1);
  });

  test("does not go with what speaks no protocol", async () => {
    const { stderr, code } = await run(["-p", "say hi", "--audit", join(scratch(), "a")], { input: "" });
    expect(stderr).toContain("--tape goes with a protocol");
    expect(code).toBe(2);
  });
});

describe("a disk", () => {
  test("that is full costs lines of the audit, never the work, and is told once", async () => {
    const host = new LineHost(["--json-stream", ...REHEARSED, "--audit", "/dev/full"], { cwd: scratch() });
    await host.heard('"ready"');
    for (const word of ["one", "two"]) {
      host.send({ type: "message", msg_id: word, content: `say ${word}` });
      await host.heard(`"stream_end","msg_id":"${word}"`);
    }
    expect(await host.finish()).toBe(0);
    expect(host.stderr.match(/has gaps/g)).toHaveLength(1);
    expect(host.stderr).toContain("no space is left");
  });

  test("that is full for a while leaves a gap that says how much is missing", async () => {
    const file = join(scratch(), "audit.jsonl");
    const command = [process.execPath, PARLEY, "--json-stream", ...REHEARSED, "--no-session", "--audit", file];
    // No file may grow beyond 32 kilobytes.
    const argv = ["sh", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "sh", ...command];
    const host = new LineHost([], { cwd: scratch(), argv });
    await host.heard('"ready"');
    host.send({ type: "message", msg_id: "one", content: "stream 400 pieces" });
    await host.heard('"stream_end","msg_id":"one"');
    await until(() => host.stderr.includes("has gaps"));
    truncateSync(file, 0);
    host.send({ type: "message", msg_id: "two", content: "say two" });
    await host.heard('"stream_end","msg_id":"two"');
    expect(await host.finish()).toBe(0);
    const audit = auditIn(file);
    const gap = audit.find((line) => "gap" in line);
    expect(gap).toMatchObject({ why: expect.stringContaining("EFBIG") });
    expect(JSON.stringify(records(audit, "out"))).toContain('"two"');
    expect(host.stderr.match(/has gaps/g)).toHaveLength(1);
  });

  test("that is slow slows the wire: nothing is lost, and memory stays bounded", async () => {
    const file = join(scratch(), "fifo");
    execFileSync("mkfifo", [file]);
    // Somebody has it open, and does not read.
    const fifo = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const host = new LineHost(["--json-stream", ...REHEARSED, "--audit", file], { cwd: scratch() });
    await host.heard('"ready"');
    host.send({ type: "message", msg_id: "m", content: "stream 50000 pieces" });
    await host.count(100);
    await idle(host.child.pid);
    const held = host.lines.length;
    expect(held).toBeLessThan(40_000);
    expect(rss(host.child.pid)).toBeLessThan(400 * 2 ** 20);
    const copy = join(scratch(), "copy");
    const cat = spawn("sh", ["-c", 'exec cat "$0" > "$1"', file, copy]);
    const copied = new Promise((resolve) => cat.once("close", resolve));
    onTestFinished(() => void cat.kill("SIGKILL"));
    await host.heard('"stream_end"');
    expect(await host.finish()).toBe(0);
    closeSync(fifo);
    await copied;
    const text = readFileSync(copy, "utf8");
    const lines = text.split("\n").slice(0, -1);
    expect(lines.filter((line) => line.includes('"dir":"out","rec"'))).toHaveLength(host.lines.length);
    expect(host.lines.length).toBeGreaterThan(50_000);
  });
});
