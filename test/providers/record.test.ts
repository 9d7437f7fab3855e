/** PARLEY_RECORD: a run with a real provider becomes a script, and the script the same run again. The built command, over its real pipes. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import { scratch, start, type NativeHost } from "../process/harness.js";
import { modelServer, type ModelServer, type Reply, type WireName } from "../support/model-server.js";

const NOTE = { "note.txt": "the sea\n" };
const TOKEN = "tok-0123456789-abcdef";
const FLAGS = ["--yolo", "--thinking", "low"];
const read = (file_path: string, id: string) => ({ id, name: "Read", args: { file_path } });

test("thinking, parallel tools, retries, a secret, a cut and broken arguments: the same events again", async () => {
  const busy = { error: { status: 429, type: "rate_limit_error", message: "Slow down", retryAfter: 0 } };
  const script: Reply[] = [
    busy,
    { error: { status: 529, type: "overloaded_error", message: "Overloaded", retryAfter: 0 } },
    {
      thinking: ["Let me ", "see."],
      signature: "sig-1",
      redacted: "sealed-1",
      text: ["I look", " twice."],
      calls: [read("note.txt", "toolu_1"), { id: "toolu_2", name: "Read", args: ['{"file_path": "no', "te"] }],
      usage: { input: 50, cacheRead: 30, cacheWrite: 20, output: 9, reasoning: 3 },
    },
    { text: ["It says tok-01234", "56789-abc", "def, I think."], stop: "max_tokens" },
    { text: ["Half an ans"], cut: "after" },
    { calls: [{ id: "toolu_3", name: "Write", args: ['{"file_path":"new'] }], cut: "after" },
    { error: { status: 400, type: "invalid_request_error", message: "prompt is too long: 2 tokens > 1 maximum" } },
    { text: ["Bye."] },
  ];
  const { real, again, file } = await twice("anthropic", script, ["read it", "go on", "write", "more", "bye"]);
  expect(again).toEqual(real);
  expect(real.filter(({ type }) => type === "turn.ended")).toHaveLength(5);
  expect(real.filter(({ kind }) => kind === "retry")).toHaveLength(4);
  expect(real).toContainEqual({ type: "text.done", text: "It says [redacted], I think.", streamed: true });
  const written = readFileSync(file, "utf8");
  expect(written.split("\n")[0]).toBe("# Recorded from anthropic, claude-sonnet-4-6");
  expect(written).toContain("[redacted]");
  expect(written).not.toMatch(/tok-01|sk-test|sig-1|sealed-1/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.each<WireName>(["openai-responses", "local"])("%s: blocks of one kind after each other, and answers without counts", async (wire) => {
  const thoughts = { thinking: ["**First**", "**Then**"], signature: "gAAAA-1" };
  const script: Reply[] = [
    { ...thoughts, calls: [read("note.txt", "call_1")] },
    { text: ["The ", "sea."], uncounted: true },
  ];
  const { real, again } = await twice(wire, script, ["read it"]);
  expect(again).toEqual(real);
});

test("an interrupted answer waits to be interrupted again", async () => {
  const script: Reply[] = [{ text: ["Well, let"], hold: "end" }, { text: ["Yes?"] }];
  const { real, again } = await twice("anthropic", script, ["hi", "go on"], async (host, turn) => {
    if (turn > 0) return;
    await host.next("text.delta");
    host.send({ type: "turn.interrupt", session: "s" });
  });
  expect(again).toEqual(real);
  expect(real).toContainEqual(expect.objectContaining({ type: "turn.ended", outcome: "interrupted" }));
});

test("each session has a file of its own; a sub-agent's answers stand with its session's, in the order in which they were asked for", async () => {
  const folder = scratch();
  const file = join(folder, "run.yaml");
  const spawn = { id: "toolu_1", name: "Spawn", args: { tasks: [{ name: "one", prompt: "say one" }] } };
  const server = await modelServer("anthropic", [{ text: ["First."] }, { calls: [spawn] }, { text: ["One."] }, { text: ["Second."] }]);
  const host = hostOf("anthropic", server, { PARLEY_RECORD: file });
  for (const session of ["s", "t"]) {
    await host.open({}, session);
    host.prompt("hi", { session });
    await host.next("turn.ended", (event) => event.session === session);
  }
  host.child.stdin.end();
  await host.exited;
  expect(readdirSync(folder).toSorted()).toEqual(["run-2.yaml", "run.yaml"]);
  expect(readFileSync(file, "utf8")).toContain("First.");
  expect(readFileSync(join(folder, "run-2.yaml"), "utf8")).toMatch(/Spawn[^]*One\.[^]*Second\./);
});

test("after a crash the file is a script of what was over by then", async () => {
  const file = join(scratch(), "run.yaml");
  const server = await modelServer("anthropic", [{ text: ["First."] }, { text: ["Half an ans"], hold: "end" }]);
  const host = hostOf("anthropic", server, { PARLEY_RECORD: file });
  await host.open();
  host.prompt("hi");
  await host.next("turn.ended");
  host.prompt("go on");
  await host.next("text.delta", ({ text }) => text.startsWith("Half"));
  host.child.kill("SIGKILL");
  await host.exited;
  const again = await play(start({ args: ["--model", file] }), ["hi", "go on"], undefined);
  expect(again.flatMap(({ type, text }) => (type === "text.done" ? [text] : []))).toEqual(["First.", "(end of the script)"]);
});

test("a file that cannot be written costs the recording, is said, and costs nothing else", async () => {
  const server = await modelServer("anthropic", [{ text: ["Hi."] }]);
  const host = hostOf("anthropic", server, { PARLEY_RECORD: join(scratch(), "no", "such", "run.yaml") });
  await host.open();
  host.prompt("hi");
  const notice = await host.next("notice");
  expect(notice.text).toMatch(/^PARLEY_RECORD: this run is not recorded: ENOENT/);
  expect(await host.next("turn.ended")).toMatchObject({ outcome: "completed" });
});

type During = (host: NativeHost, turn: number) => Promise<void>;

/** The run with the vendor's server, and the run with the script that was made of it. */
async function twice(wire: WireName, script: Reply[], prompts: string[], during?: During) {
  const file = join(scratch(), "run.yaml");
  const server = await modelServer(wire, script);
  const cwd = scratch(NOTE);
  const real = await play(hostOf(wire, server, { PARLEY_RECORD: file }, cwd), prompts, during);
  const replay = start({ cwd, env: { MY_TOKEN: TOKEN }, args: [...FLAGS, "--model", file] });
  return { real, again: await play(replay, prompts, during), file };
}

/** `MY_TOKEN` is a secret that the model comes to know. */
function hostOf(wire: WireName, server: ModelServer, env: Record<string, string>, cwd = scratch(NOTE)): NativeHost {
  const provider = wire === "openai-responses" ? "openai" : wire;
  const home = scratch({ "config.yaml": "providers: { openai: { api: responses } }" });
  const flags = ["--provider", provider, "--base-url", server.url, "--api-key", server.key];
  return start({ cwd, env: { MY_TOKEN: TOKEN, PARLEY_HOME: home, ...env }, args: [...FLAGS, ...flags] });
}

async function play(host: NativeHost, prompts: string[], during: During | undefined): Promise<Told[]> {
  await host.open();
  for (const [turn, prompt] of prompts.entries()) {
    host.prompt(prompt);
    await during?.(host, turn);
    await host.next("turn.ended", (event) => host.events.filter(({ type }) => type === "turn.ended").indexOf(event) === turn);
  }
  host.child.stdin.end();
  await host.exited;
  return comparable(host.events);
}

type Told = Record<string, unknown>;
const OURS = new Set(["at", "seq", "id", "parent", "turn", "session"]);
/** A rehearsed answer costs nothing. */
const COST = "cost";

/** These come when they are ready, and not in the order of a turn. */
const BESIDE = new Set(["reply", "catalog.updated"]);

/** Without times, waits, ids of ours, and where the arguments of a call were cut. */
function comparable(events: readonly Event[]): Told[] {
  const kept: Told[] = [];
  const coming = new Map<string, Told>();
  for (const event of events) {
    if (event.type.startsWith("session.") || BESIDE.has(event.type)) continue;
    const told: Told = Object.fromEntries(Object.entries(event).filter(([key]) => !OURS.has(key) && key !== COST));
    if (told["data"] !== undefined) told["data"] = { ...told["data"], delayMs: undefined };
    const before = event.type === "tool.delta" ? coming.get(event.call) : undefined;
    if (before !== undefined) before["text"] = `${String(before["text"])}${String(told["text"])}`;
    else kept.push(told);
    if (event.type === "tool.delta" && before === undefined) coming.set(event.call, told);
  }
  return kept;
}
