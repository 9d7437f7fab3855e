/** A recorded agent plays again, in every dialect, whatever dialect it was recorded from. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { dialectIds, loadDialect } from "../../src/dialects/index.js";
import { drive } from "../../src/host/drive.js";
import { openSession, type Hosting } from "../../src/host/session.js";
import { agents } from "../matrix/agents.js";
import { environment, PARLEY, run, scratch, script } from "../process/harness.js";

const write = (name: string) => ({ call: { tool: "Write", args: { file_path: name, content: name } } });
const MODEL = [
  { think: "Hmm.", say: "I write.", ...write("one.txt") },
  { ...write("two.txt") },
  { say: "Both are there." },
  { say: "Bye." },
];
const PROMPTS = ["go", "and now?"];

/** Sessions of these wires cannot be opened without a model; elsewhere a model that is named anew begins its script anew. */
const named: ReadonlySet<string> = new Set(["ante"]);

/** Records a conversation with our own agent in a dialect: the first write is allowed, the second is not. */
async function recorded(from: string): Promise<string> {
  const folder = scratch();
  const tape = join(folder, "tape.jsonl");
  const args = (agents[from] ?? []).filter((word) => word !== "--yolo");
  const model = script(MODEL);
  const command = [process.execPath, PARLEY, ...args, "--model", model];
  const agent = drive(await loadDialect(from), command, { env: environment({ PARLEY_HOME: scratch() }), tape });
  const session = await openSession(agent, {
    config: { cwd: folder, ...(named.has(from) && { provider: "rehearsal", model }) },
    approve: firstOnly(),
  });
  for (const prompt of PROMPTS) await session.run(prompt);
  await session.close();
  return tape;
}

function firstOnly(): Hosting["approve"] {
  let asked = 0;
  return () => (asked++ === 0 ? "allow" : { decision: "deny", reason: "one is enough" });
}

interface Played {
  texts: string[];
  statuses: string[];
  outcomes: string[];
}

/** Plays a tape as an agent of a dialect, with the host that the recording had. */
async function played(tape: string, as: string, approve: Hosting["approve"] = firstOnly(), more: string[] = []): Promise<Played> {
  const command = [process.execPath, PARLEY, "replay", tape, "--as", as, ...more];
  const agent = drive(await loadDialect(as), command, { env: environment({ PARLEY_HOME: scratch() }) });
  const session = await openSession(agent, {
    config: { cwd: scratch(), provider: "rehearsal", model: "rehearsal" },
    ...(approve && { approve }),
  });
  const results = [];
  for (const prompt of PROMPTS) results.push(await session.run(prompt));
  await session.close();
  return {
    texts: results.map(({ text }) => text),
    statuses: results.flatMap(({ calls }) => calls.map(({ status }) => status)),
    outcomes: results.map(({ outcome }) => outcome),
  };
}

describe("a tape of our own agent", () => {
  /** Their processes are a turn each, and have no words for approvals in the first revision. */
  const wholeSessions = dialectIds.filter((id) => !id.startsWith("agentproc"));

  it.each(wholeSessions)("plays as an agent of %s", async (as) => {
    const tape = await recorded("native");
    const { texts, statuses, outcomes } = await played(tape, as);
    expect(texts[0]).toContain("Both are there.");
    expect(texts[1]).toContain("Bye.");
    expect(outcomes).toEqual(["completed", "completed"]);
    expect(statuses).toEqual(["ok", "denied"]);
  });

  it.each(wholeSessions)("of %s plays in the native dialect", async (from) => {
    const { texts, statuses } = await played(await recorded(from), "native");
    expect(texts[0]).toContain("Both are there.");
    expect(texts[1]).toContain("Bye.");
    expect(statuses[0]).toBe("ok");
  });
});

test("an approval that is answered otherwise ends its call as denied, and stderr names the line", async () => {
  const tape = await recorded("native");
  const { statuses, outcomes } = await played(tape, "native", "deny");
  expect([statuses, outcomes]).toEqual([
    ["denied", "denied"],
    ["completed", "completed"],
  ]);
});

test("two replays with the same ops are the same bytes", async () => {
  const tape = await recorded("native");
  const input = readFileSync(tape, "utf8")
    .split("\n")
    .flatMap((line) => {
      const { op } = line === "" ? {} : JSON.parse(line);
      return op === undefined ? [] : [`${JSON.stringify(op)}\n`];
    })
    .join("");
  const [one, other] = [await replayed(tape, input), await replayed(tape, input)];
  expect(one.stdout).toContain('"text":"Both are there."');
  expect(other.stdout).toBe(one.stdout);
  expect(one.code).toBe(0);
});

test("a host that says something else than the recording is told its line, and ends a strict replay with exit code 3", async () => {
  const tape = await recorded("native");
  const input = `${JSON.stringify({ type: "session.open", session: "s", open: "new" })}\n${JSON.stringify({ type: "session.close", session: "s" })}\n`;
  const strict = await replayed(tape, input, "--strict");
  expect(strict.code).toBe(3);
  expect(strict.stderr).toMatch(/tape\.jsonl:\d+: the host said session\.close where the recording has turn\.prompt/);
});

test("a turn that the host interrupts is over, and the next prompt gets the next answer", async () => {
  const tape = await recorded("native");
  const command = [process.execPath, PARLEY, "replay", tape, "--as", "native"];
  const session = await openSession(drive(await loadDialect("native"), command, { env: environment() }));
  const outcomes: string[] = [];
  for (const prompt of PROMPTS)
    for await (const event of session.prompt(prompt)) {
      if (event.type === "approval.requested") await session.interrupt();
      if (event.type === "turn.ended") outcomes.push(event.outcome);
    }
  await session.close();
  expect(outcomes).toEqual(["interrupted", "completed"]);
});

test("flags of the program that the host thinks it starts change nothing", async () => {
  const tape = await recorded("native");
  const { texts } = await played(tape, "aionrs", firstOnly(), ["--auto-approve", "--provider", "openai", "--model=x"]);
  expect(texts[1]).toContain("Bye.");
});

test.each([
  [["replay"], 2, "Which tape?"],
  [["replay", "nowhere.jsonl", "--as", "native"], 1, "nowhere.jsonl cannot be read"],
  [["replay", "nowhere.jsonl"], 2, "In which dialect?"],
  [["replay", "nowhere.jsonl", "--as", "native", "--pace", "quick"], 2, "--pace is original, instant or a number"],
])("%j is told what is wrong", async (args, code, words) => {
  expect(await run(args)).toMatchObject({ code, stderr: expect.stringContaining(words) });
});

function replayed(tape: string, input: string, ...more: string[]): ReturnType<typeof run> {
  expect(existsSync(tape)).toBe(true);
  return run(["replay", tape, "--as", "native", ...more], { input });
}
