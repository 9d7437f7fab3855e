/**
 * The disk fails for good at one step of a turn: the turn still has one end, the host is told that it is not saved, and a later process
 * goes on with the part that was saved. No tool runs twice.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { completed, Story } from "../../store/story.js";
import { isLong, report } from "../volume.js";
import { isThere, WORKLOADS } from "./workloads.js";

const PRELOAD = join(import.meta.dirname, "steps.cjs");
const CODES = isLong ? ["ENOSPC", "EIO", "EROFS", "EDQUOT"] : ["ENOSPC"];
const { turn } = WORKLOADS;
const WRITING = turn?.steps.filter((step) => !/^tool| (sync|cut|remove)$/.test(step)) ?? [];
/** A short run takes every third of them. */
const TRIED = WRITING.filter((_, at) => isLong || at % 3 === 0);

describe.each(CODES)("%s for good", (code) => {
  test.each(TRIED)("from %s on", async (step) => {
    if (turn === undefined) throw new Error("There is no such work");
    const story = new Story();
    await turn.prepare?.(story);
    const host = story.start(turn.responses, { node: ["--require", PRELOAD], env: { PARLEY_STEPS_KILL: `${step}|1|${code}` } });
    const refused = host.next("reply", ({ to, status }) => to === "session.open" && status === "error").catch(() => undefined);
    // A session that cannot be saved is refused.
    await Promise.race([turn.play(story, host).catch(() => {}), refused]);
    host.child.stdin.end();
    expect((await host.exited).signal).toBeNull();
    const isRefused = (await refused) !== undefined;
    expect(host.ofType("turn.ended")).toHaveLength(isRefused ? 0 : 1);
    if (/^log (?!open)/.test(step) && !isRefused)
      expect(host.ofType("notice").map(({ text }) => text)).toContainEqual(expect.stringMatching(/can no longer be saved/));
    report(`disk faults, ${code}`, { [step]: 1 });
    await story.settled();
    if (!isThere(story)) return;
    const ran = story.lines();
    const again = await story.resumeAfter([{ say: "Going on." }]);
    again.prompt("continue");
    await completed(again, "Going on.");
    expect(await again.finish()).toBe(0);
    expect(story.lines()).toEqual(ran);
    expect(new Set(ran).size).toBe(ran.length);
  });
});
