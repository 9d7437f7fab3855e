/**
 * The crash matrix: the command is killed with -9 before, half way through and after each of its steps on the disk, and the session is
 * resumed. Nothing that its host had heard is lost, no number is given twice, no tool runs twice, and a call whose end nobody knows is told.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type NativeHost, scratch } from "../../process/harness.js";
import { CONFIG, completed, Story } from "../../store/story.js";
import { diceOf, isLong, report, SEED } from "../volume.js";
import { isThere, type Workload, WORKLOADS } from "./workloads.js";

const STEPS = join(import.meta.dirname, "steps.cjs");
/** The moments at which a step can be cut off: half a write is one, half a rename is none. */
const momentsOf = (step: string): readonly string[] =>
  /^log (?!open$|cut$|sync$)|write$/.test(step) ? ["before", "half", "after"] : ["before", "after"];
/** A long run kills at so many occurrences of each step, spread over the work. */
const OCCURRENCES = isLong ? 10 : 1;

describe.each(Object.entries(WORKLOADS))("a kill during a %s", (name, work) => {
  const hits = new Map<string, number>();

  test("each named step is taken", async () => {
    const taken = await tracedSteps(work);
    expect(work.steps.filter((step) => !taken.has(step))).toEqual([]);
  });

  // A short run takes every second step; "each named step is taken" holds for all.
  test.each(work.steps.filter((_, at) => isLong || at % 2 === 0))("at %s", async (step) => {
    const dice = diceOf(SEED + hash(`${name} ${step}`));
    const total = (await tracedSteps(work)).get(step) ?? 0;
    const moments = momentsOf(step);
    for (let round = 0; round < Math.min(OCCURRENCES, total); round++) {
      const at = 1 + (isLong ? Math.floor((round * total) / OCCURRENCES) : dice() % total);
      for (const moment of isLong ? moments : [moments[dice() % moments.length] ?? "after"])
        if (await killedAt(work, `${step}|${at}|${moment}`)) hits.set(step, (hits.get(step) ?? 0) + 1);
    }
    // A step may come a time less often in another run, but not never.
    if (!hits.has(step) && (await killedAt(work, `${step}|1|before`))) hits.set(step, 1);
    expect(hits.get(step) ?? 0, `kills at ${step}`).toBeGreaterThan(0);
    report(`kills during a ${name}`, { [step]: hits.get(step) ?? 0 });
  });
});

/** Plays the work without a kill. Returns how often each step was taken. */
async function tracedSteps(work: Workload): Promise<Map<string, number>> {
  const known = traces.get(work);
  if (known !== undefined) return known;
  const story = new Story();
  await work.prepare?.(story);
  const trace = join(scratch(), "steps");
  await work.play(story, story.start(work.responses, { node: ["--require", STEPS], env: { PARLEY_STEPS_TRACE: trace } }));
  const taken = new Map<string, number>();
  for (const line of readFileSync(trace, "utf8").split("\n")) taken.set(line, (taken.get(line) ?? 0) + 1);
  traces.set(work, taken);
  return taken;
}

const traces = new Map<Workload, Map<string, number>>();

/** Returns whether the process took the step and was killed; what must be true afterwards is, or the test fails. */
async function killedAt(work: Workload, kill: string): Promise<boolean> {
  const story = new Story();
  await work.prepare?.(story);
  const host = story.start(work.responses, { node: ["--require", STEPS], env: { PARLEY_STEPS_KILL: kill } });
  // The work fails where its process dies.
  await work.play(story, host).catch(() => {});
  const { signal } = await host.exited;
  if (signal !== "SIGKILL") return false;
  if (isThere(story)) await work.check(story, host);
  else await nothingWasThere(story, host);
  return true;
}

/** The session was never written: its host had heard of none, and a new one takes its name. */
async function nothingWasThere(story: Story, heard: NativeHost): Promise<void> {
  await story.settled();
  expect(heard.ofType("session.ready")).toEqual([]);
  const host = story.start([{ say: "Here." }]);
  await host.open(CONFIG);
  host.prompt("go");
  await completed(host, "Here.");
  expect(await host.finish()).toBe(0);
  expect(existsSync(story.log)).toBe(true);
}

function hash(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 7);
}
