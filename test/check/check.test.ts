/** `parley check` from the outside: our own agent, agents with one broken rule, and programs that are no agents. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { manifests } from "../../src/check/requirements/index.js";
import { PARLEY, run, scratch } from "../process/harness.js";
import { isLong } from "../torture/volume.js";
import { MUTANTS } from "./mutants.js";

const MUTANT = join(import.meta.dirname, "../fixtures/mutant.mjs");
const OWN = [process.execPath, PARLEY];
const LONG_MS = 300_000;

const Line = v.strictObject({ from: v.picklist(["host", "agent"]), text: v.string(), isMarked: v.optional(v.literal(true)) });
const Report = v.strictObject({
  dialect: v.string(),
  command: v.array(v.string()),
  summary: v.strictObject({ pass: v.number(), fail: v.number(), unknown: v.number(), skipped: v.number() }),
  results: v.array(
    v.strictObject({
      id: v.string(),
      level: v.picklist(["must", "should", "may"]),
      title: v.string(),
      outcome: v.picklist(["pass", "fail", "unknown", "skipped"]),
      why: v.optional(v.string()),
      lines: v.optional(v.array(Line)),
    }),
  ),
});

async function graded(dialect: string, command: readonly string[], ...flags: string[]) {
  const { code, stdout, stderr } = await run(["check", "--dialect", dialect, "--json", ...flags, "--", ...command]);
  expect(stderr).toBe("");
  const report = v.parse(Report, JSON.parse(stdout));
  return { code, report, outcomes: new Map(report.results.map(({ id, outcome }) => [id, outcome])) };
}

describe("parley check", () => {
  test.each(MUTANTS)(
    "our own agent of $dialect passes every requirement that is checked",
    async ({ dialect, words }) => {
      const { code, report } = await graded(dialect, [...OWN, ...words], "--strict");
      const notPassed = report.results.filter(({ outcome }) => outcome !== "pass" && outcome !== "skipped");
      expect(notPassed).toEqual([]);
      expect(code).toBe(0);
      expect(report.results.map(({ id }) => id)).toEqual(
        manifests.find((one) => one.dialect === dialect)?.requirements.map(({ id }) => id),
      );
    },
    LONG_MS,
  );

  test("the example of the documentation prints what it says", async () => {
    const section = readFileSync(join(import.meta.dirname, "../../docs/kit.md"), "utf8").split("## Check")[1] ?? "";
    const [, command = "", , printed] = section.split("```");
    const [program, ...words] = command.trim().split(" ");
    expect([program, words.at(-1)]).toEqual(["parley", "aionrs"]);
    const { code, stdout } = await run([...words.slice(0, -1), ...OWN]);
    expect([code, stdout.trim()]).toEqual([0, printed?.trim()]);
  });

  test("a report for people marks the offending line and says what was expected", async () => {
    const { code, stdout } = await run([
      "check",
      "--dialect",
      "aionrs",
      "--only",
      "D1,D2,D14",
      "--",
      process.execPath,
      MUTANT,
      "ready twice",
      ...OWN,
    ]);
    expect(stdout).toMatch(
      /^fail +D1 +must +Ready comes exactly once.*\n +Expected ready once\.\n( +← \{"type":"ready".*\n) +! ← \{"type":"ready"/m,
    );
    expect(stdout).toMatch(/^pass +D2 /m);
    expect(stdout).toMatch(/^skipped +D14 .*\n +not checked yet$/m);
    expect(stdout).toMatch(/^must: 1 pass, 1 fail, 0 unknown, 1 skipped$/m);
    expect(code).toBe(3);
  });

  test("a tape of each requirement can be recorded and shown", async () => {
    const folder = scratch();
    await graded("aionrs", OWN, "--only", "D3", "--tape", folder);
    expect(readdirSync(folder).toSorted()).toEqual(["D3.jsonl", "start.jsonl"]);
    expect(await run(["tape", "check", join(folder, "D3.jsonl")])).toMatchObject({ code: 0, stdout: "" });
  });

  test("--model-flags go to the agent with the model server's address", async () => {
    const flags = "--provider openai --base-url {url}/v1 --model 'some model'";
    const { code, outcomes } = await graded("aionrs", OWN, "--only", "D3,D5", "--model-flags", flags);
    expect([code, ...outcomes.values()]).toEqual([0, "pass", "pass"]);
  });

  test("an agent that asks no model is unknown where one is needed, which only --strict counts", async () => {
    const rehearsed = ["--only", "D1,D3", "--timeout", "20", "--model-flags", "--provider rehearsal"];
    const { code, outcomes } = await graded("aionrs", OWN, ...rehearsed);
    expect([code, outcomes.get("D1"), outcomes.get("D3")]).toEqual([0, "pass", "unknown"]);
    expect((await graded("aionrs", OWN, ...rehearsed, "--strict")).code).toBe(3);
  });

  test.each([
    ["never speaks", "setInterval(() => {}, 1000)", /Expected ready, but nothing more came within 2 s/],
    ["dies", "console.error('no licence'); process.exit(7)", /exited with code 7: no licence/],
    [
      "floods",
      "const { writeSync } = require('fs'); for (;;) try { writeSync(1, '{}\\n'.repeat(10000)); } catch {}",
      /the agent floods its host/,
    ],
  ])("a program that %s is told in a sentence, with exit code 1", async (_, program, sentence) => {
    const limit = sentence.source.includes("2 s") ? ["--timeout", "2"] : [];
    const { code, stdout, stderr } = await run([
      "check",
      "--dialect",
      "aionrs",
      ...limit,
      "--",
      process.execPath,
      join(scratch({ "agent.cjs": program }), "agent.cjs"),
    ]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(sentence);
  });

  test("wrong words are refused with what there is", async () => {
    const refused = async (...args: string[]) => ({ ...(await run(["check", ...args])) });
    expect(await refused("--dialect", "aionrs")).toMatchObject({ code: 2, stderr: expect.stringContaining("Which agent?") });
    expect(await refused("--", "agent")).toMatchObject({ code: 2, stderr: expect.stringContaining("Which dialect?") });
    expect(await refused("--dialect", "aionrs", "--only", "X1", "--", "agent")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no requirement X1; it has D1, D2"),
    });
    expect(await refused("--dialect", "aionrs", "--", "/no/such/agent")).toMatchObject({ code: 1 });
  });
});

describe.each(MUTANTS)("an agent of $dialect with one broken rule", ({ dialect, words, control, mutants }) => {
  test.each(mutants)(
    "fails $breaks and what needs the same rule: $rule",
    async ({ rule, breaks, also = [], isSilent }) => {
      // A short run asks for the broken rule alone; a long one for others beside it, which must hold.
      const only = [...new Set([breaks, ...(isLong ? control : [])])].join(",");
      const limit = isSilent === true ? ["--timeout", isLong ? "10" : "2"] : [];
      const { code, report, outcomes } = await graded(
        dialect,
        [process.execPath, MUTANT, rule, ...OWN, ...words],
        "--only",
        only,
        ...limit,
      );
      expect(outcomes.get(breaks)).toBe("fail");
      const others = report.results.filter(({ id, outcome }) => id !== breaks && !also.includes(id) && outcome !== "pass");
      expect(others).toEqual([]);
      expect(code).toBe(3);
    },
    LONG_MS,
  );

  test("is there for each requirement that is checked", async () => {
    const manifest = manifests.find((one) => one.dialect === dialect);
    const plays = Object.keys((await manifest?.probes?.())?.plays ?? {});
    const broken = new Set(mutants.map(({ breaks }) => breaks));
    expect(plays.filter((id) => !broken.has(id))).toEqual([]);
    expect(plays.length).toBeGreaterThan(0);
  });
});
