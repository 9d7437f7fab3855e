/** AgentProc on either side of a relay: a bridge's host before agents of every dialect, and small real agents of every wire behind another host. */
import { existsSync, writeFileSync, chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agents, driving } from "../matrix/agents.js";
import { PARLEY, run, scratch, until } from "../process/harness.js";
import { BridgeTurn, type TurnOptions } from "./bridge.js";

const ASKING = Object.keys(agents).filter((drive) => drive !== "agentproc");

/** A relay that a bridge starts in place of an agent. */
function relayed(drive: string, options: Partial<TurnOptions> & { flags?: string[] } = {}): BridgeTurn {
  const { flags = [], ...turn } = options;
  const command = ["--", process.execPath, PARLEY, ...(agents[drive] ?? [])];
  return new BridgeTurn({
    wire: "0.1",
    ...turn,
    args: ["relay", "--as", "agentproc", "--drive", drive, "--check", ...driving(drive), ...flags, ...command],
  });
}

describe.each(Object.keys(agents))("a bridge before an agent of %s", (drive) => {
  test("has its answer, and its next turn knows the last", async () => {
    const [home, cwd] = [scratch(), scratch()];
    const first = await relayed(drive, { home, cwd, message: "remember the word heron" }).whole();
    expect(first).toMatchObject({
      code: 0,
      session: expect.stringMatching(/./),
      partials: expect.stringContaining("heron"),
      error: undefined,
    });
    const next = await relayed(drive, { home, cwd, sessionId: first.session, message: "what word did I tell you to remember?" }).whole();
    expect(next).toMatchObject({ code: 0, session: first.session, partials: expect.stringContaining("heron") });
  });

  test("hears a failure as an error line", async () => {
    const turn = relayed(drive, { message: "say one, then fail with a 401" });
    expect(await turn.whole()).toMatchObject({ code: 1, partials: "one", error: expect.stringContaining("Invalid API key") });
  });

  test("ends it with a signal, tool and all", async () => {
    const cwd = scratch();
    const turn = relayed(drive, { cwd, message: "run `touch running; sleep 300`", flags: ["--allow-unheard"] });
    await until(() => existsSync(join(cwd, "running")));
    turn.child.kill("SIGTERM");
    expect(await turn.whole()).toMatchObject({ code: 143, error: undefined });
  });
});

describe.each(ASKING)("approvals of an agent of %s", (drive) => {
  test("are denied where the bridge has no words for them, or allowed where the user says so", async () => {
    const cwd = scratch();
    const denied = await relayed(drive, { cwd, message: "write 'x' to a.txt" }).whole();
    expect(denied).toMatchObject({ code: 0, partials: expect.stringContaining("denied") });
    expect(existsSync(join(cwd, "a.txt"))).toBe(false);
    expect(await relayed(drive, { cwd, message: "write 'x' to a.txt", flags: ["--allow-unheard"] }).whole()).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });

  test.each(["0.2", "0.4"] as const)("are forwarded to a bridge of %s", async (wire) => {
    const cwd = scratch();
    const turn = relayed(drive, { wire, permission: true, cwd, message: "write 'x' to a.txt" });
    const { calls } = await turn.next("approval.requested");
    expect(calls).toMatchObject([{ name: "Write" }]);
    turn.answer(calls[0]?.id ?? "", "allow");
    expect(await turn.whole()).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  });
});

describe("an aionrs host before", () => {
  const seed = agent(`#!/bin/sh
echo "AGENT_SESSION:sess-\${AGENT_SESSION_ID:-new}"
printf 'AGENT_PARTIAL:"partial "\\n'
echo "$AGENT_PROTOCOL_VERSION $AGENT_SESSION_NAME: $AGENT_MESSAGE"
`);

  test("a script of the document: its session goes on, also in another relay, and an id of nobody's is refused", async () => {
    const home = scratch();
    const command = seed();
    const first = await host(["one", "two"], { home, command, flags: ["--wire", "0.1"] });
    expect(first).toMatchObject({ code: 0, texts: ["partial 0.1 default: one", "partial 0.1 default: two"] });
    const id = String(first.records[0]?.["session_id"]);
    const env = agent('#!/bin/sh\necho "id is $AGENT_SESSION_ID"\n')();
    expect(await host(["three"], { home, command: env, flags: ["--resume", id] })).toMatchObject({
      code: 0,
      texts: ["id is sess-sess-new"],
    });
    const unknown = await host(["four"], { home, command: env, flags: ["--resume", "nobody"] });
    expect(unknown.code).toBe(1);
    expect(unknown.records).toMatchObject([{ type: "error", error: { message: expect.stringContaining("'nobody'") } }]);
  });

  test("one that reads its input to the end, on wire 0.1", async () => {
    const command = agent("#!/bin/sh\ncat\necho eof\n")();
    expect(await host(["hi"], { command, flags: ["--wire", "0.1"] })).toMatchObject({ code: 0, texts: ["eof"] });
  });

  test("one that speaks before it reads its input to the end, on wire auto", async () => {
    const command = agent(`#!/bin/sh
if [ "$AGENT_MESSAGE" = first ]; then echo "AGENT_SESSION:s"; fi
cat >/dev/null
echo "$AGENT_PROTOCOL_VERSION\${AGENT_PERMISSION-} $AGENT_MESSAGE"
`)();
    // The second turn says nothing before its input has ended: what the first one showed counts.
    expect(await host(["first", "second"], { command })).toMatchObject({ code: 0, texts: ["0.1 first", "0.1 second"] });
  });

  test.each(["auto", "0.4"])("an agent of 0.4 that asks, on wire %s", async (wire) => {
    const command = agent(`#!${process.execPath}
let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) hear(JSON.parse(line));
});
const say = (record) => process.stdout.write(JSON.stringify(record) + "\\n");
function hear(line) {
  if (line.type === "turn") say({ type: "permission_request", request_id: "r1", tool_name: "Bash", input: { command: line.message }, session_id: "s1" });
  else {
    say({ type: "result", text: line.behavior + " " + JSON.stringify(line.updated_input ?? line.message ?? null), usage: { input_tokens: 3, output_tokens: 4 } });
    process.stdin.destroy();
  }
}
`)();
    const asked = await host(["ls"], { command, flags: ["--wire", wire], answer: { type: "tool_deny", call_id: "r1", reason: "no" } });
    expect(asked).toMatchObject({ code: 0, texts: ['deny "no"'] });
    expect(asked.records).toContainEqual(
      expect.objectContaining({ type: "tool_request", tool: expect.objectContaining({ args: { command: "ls" } }) }),
    );
    expect(asked.records.at(-1)).toMatchObject({ usage: { input_tokens: 3, output_tokens: 4 } });
  });

  test.each([
    ["echo half; exit 3", "exited with code 3"],
    ["exec >&- 2>&-; sleep 0.3; exit 3", "exited with code 3"],
    ["kill -SEGV $$", "SIGSEGV"],
    ["echo 'AGENT_ERROR:\"boom\"'; echo body", "boom"],
  ])("one that fails (%s) hears why, and the next turn works", async (line, message) => {
    const command = agent(`#!/bin/sh\nif [ "$AGENT_MESSAGE" = ok ]; then echo fine; else ${line}; fi\n`)();
    const failed = await host(["go", "ok"], { command });
    expect(failed).toMatchObject({ code: 0, texts: ["", "fine"] });
    expect(failed.records).toContainEqual(
      expect.objectContaining({ type: "error", error: expect.objectContaining({ message: expect.stringContaining(message) }) }),
    );
  });

  test("one that is not there", async () => {
    const failed = await host(["go"], { command: "/nowhere/agent" });
    expect(failed.code).toBe(0);
    expect(failed.records).toContainEqual(
      expect.objectContaining({ type: "error", error: expect.objectContaining({ message: expect.stringContaining("/nowhere/agent") }) }),
    );
  });
});

test.each([
  [["--drive", "agentproc", "--wire", "0.9", "--", "x"], "--wire is one of"],
  [["--drive", "native", "--wire", "0.1", "--", "x"], "--wire means nothing"],
  [["--drive", "agentproc", "--url", "ws://127.0.0.1:1"], "--url does not go"],
])("wrong usage: %s", async (args, message) => {
  expect(await run(["relay", "--as", "aionrs", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});

/** A program as a file, made in the test that calls it. */
function agent(text: string): () => string {
  return () => {
    const file = join(scratch(), "agent");
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  };
}

interface HostOptions {
  command: string;
  home?: string;
  flags?: string[];
  /** Said when something is asked. */
  answer?: object;
}

/** Prompts one after the other, then the end of input; the text of each turn, and every record. */
async function host(
  prompts: string[],
  { command, home = scratch(), flags = [], answer }: HostOptions,
): Promise<{ code: number | NodeJS.Signals; texts: string[]; records: Record<string, unknown>[] }> {
  const { spawn } = await import("node:child_process");
  const args = [PARLEY, "relay", "--as", "aionrs", "--drive", "agentproc", "--check", ...flags, "--", command];
  const child = spawn(process.execPath, args, { cwd: scratch(), env: { PATH: process.env["PATH"] ?? "", HOME: home, PARLEY_HOME: home } });
  const records: Record<string, unknown>[] = [];
  let rest = "";
  child.stdin.on("error", () => {});
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) hear(JSON.parse(line) as Record<string, unknown>);
  });
  const left = prompts.map((input, at) => ({ type: "message", msg_id: `m${at}`, input }));
  const code = await new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("close", (status, signal) => resolve(status ?? signal ?? -1)),
  );
  const texts = prompts.map((_, at) =>
    records.flatMap((record) => (record["type"] === "text_delta" && record["msg_id"] === `m${at}` ? [record["text"]] : [])).join(""),
  );
  return { code, texts, records };

  function hear(record: Record<string, unknown>): void {
    records.push(record);
    if (record["type"] === "tool_request" && answer !== undefined) say(answer);
    if (record["type"] !== "ready" && record["type"] !== "stream_end") return;
    const next = left.shift();
    if (next === undefined) child.stdin.end();
    else say(next);
  }

  function say(record: object): void {
    child.stdin.write(`${JSON.stringify(record)}\n`);
  }
}
