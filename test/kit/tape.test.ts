import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { drive } from "../../src/host/drive.js";
import { openSession } from "../../src/host/session.js";
import { loadDialect } from "../../src/dialects/index.js";
import { environment, PARLEY, run, scratch } from "../process/harness.js";

const REHEARSED = ["--provider", "rehearsal"];

/** Records one prompt to our own agent from the SDK. */
async function recorded(prompt: string, folder = scratch(), name = "host.jsonl"): Promise<string> {
  const tape = join(folder, name);
  const command = [process.execPath, PARLEY, "serve", "--dialect", "native", ...REHEARSED, "--tape", join(folder, "agent.jsonl")];
  const agent = drive(await loadDialect("native"), command, { env: environment(), tape });
  const session = await openSession(agent, { config: { cwd: folder } });
  for await (const event of session.prompt(prompt)) expect(event.type).not.toBe("error");
  await agent.close();
  return tape;
}

describe("a tape", () => {
  test("of the SDK and of the agent holds the wire, the ops and the events, and is in order", async () => {
    const folder = scratch();
    const tape = await recorded("say hello", folder);
    for (const file of [tape, join(folder, "agent.jsonl")]) {
      const text = readFileSync(file, "utf8");
      expect(text).toContain('"op":{"type":"turn.prompt"');
      expect(text).toContain('"event":{"type":"turn.ended"');
      expect(text).toContain('"rec":{"type":"turn.prompt"');
      expect(await run(["tape", "check", file])).toMatchObject({ code: 0, stdout: "" });
    }
    expect(readFileSync(tape, "utf8")).toContain('"side":"host"');
    expect(readFileSync(join(folder, "agent.jsonl"), "utf8")).toContain('"side":"agent"');
  });

  test("is shown as a transcript, as ops and events, and as a page of its own", async () => {
    const tape = await recorded("say <b>bold</b>");
    const shown = await run(["tape", "show", tape]);
    expect(shown.stdout).toMatch(/ user {6}say <b>bold<\/b>\n/);
    expect(shown.stdout).toMatch(/ agent {5}<b>bold<\/b>\n/);
    const lines = (await run(["tape", "show", tape, "--as", "jsonl"])).stdout.trimEnd().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line)).filter((key) => key === "op" || key === "event"))).toEqual(
      lines.map(() => [expect.any(String)]),
    );
    const page = (await run(["tape", "show", tape, "--as", "html"])).stdout;
    expect(page).toContain("&lt;b>bold");
    expect(page).not.toMatch(/<b>|https?:|<script/);
    expect(await run(["tape", "show", tape, "--as", "pdf"])).toMatchObject({ code: 2 });
  });

  test("differs from another in its events, not in its ids, times and counts", async () => {
    const folder = scratch();
    const one = await recorded("say hello", folder, "one.jsonl");
    const same = await recorded("say hello", folder, "same.jsonl");
    const other = await recorded("say goodbye", folder, "other.jsonl");
    const ignored = ["--ignore", "text"];
    expect(await run(["tape", "diff", one, same])).toMatchObject({ code: 0, stdout: "" });
    const different = await run(["tape", "diff", one, other]);
    expect(different.code).toBe(3);
    expect(different.stdout).toMatch(/^- .*hello.*\n\+ .*goodbye/m);
    expect(await run(["tape", "diff", one, other, ...ignored])).toMatchObject({ code: 0 });
    expect(await run(["tape", "diff", one, other, "--ignore", "words"])).toMatchObject({ code: 2 });
  });

  test("of an agent that breaks the rules has each breach with its line", async () => {
    const tape = await recorded("say hello");
    const lines = readFileSync(tape, "utf8").trimEnd().split("\n");
    const end = lines.findIndex((line) => line.includes('"event":{"type":"turn.ended"'));
    writeFileSync(tape, [...lines.slice(0, end), ...lines.slice(end + 1), ""].join("\n"));
    appendFileSync(
      tape,
      '{"at":1,"conn":"1","dir":"in","bad":"The line is not JSON","line":"oops"}\n{"at":2,"conn":"1","dir":"in","rec":{"type":"nonsense"',
    );
    const checked = await run(["tape", "check", tape]);
    expect(checked.code).toBe(3);
    expect(checked.stdout).toMatch(/rule 2: turn \w+ never ended/);
    expect(checked.stdout).toContain(`${tape}:${lines.length}: The line is not JSON: oops`);
    expect(checked.stdout).toContain("The line is torn");
  });

  test.each([
    ["", "it is empty"],
    ["hello\n", "line 1 is none"],
    ['{"at":1,"start":{"format":9}}\n', "format 9"],
  ])("that is none (%j) is told in a sentence", async (text, words) => {
    const file = join(scratch(), "t.jsonl");
    writeFileSync(file, text);
    const { code, stderr } = await run(["tape", "show", file]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(words)]);
    expect(stderr).not.toContain("    at ");
  });
});

test("a tape that cannot be opened fails the session, and names the file", async () => {
  const agent = drive(await loadDialect("native"), [process.execPath, PARLEY, "serve", "--dialect", "native"], {
    env: environment(),
    tape: "/nowhere-at-all/t.jsonl",
  });
  await expect(openSession(agent, { config: {} })).rejects.toThrow("/nowhere-at-all/t.jsonl");
  await agent.close();
});
