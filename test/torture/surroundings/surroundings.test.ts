/** Surroundings in which a turn still has one end and a session still goes on: a clock that steps, and a heap that is small. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { start } from "../../process/harness.js";
import { CONFIG, Story, workScript } from "../../store/story.js";
import { isLong, report } from "../volume.js";

const CLOCK = join(import.meta.dirname, "clock.cjs");

describe.each(isLong ? [1, 24, 24 * 365] : [24])("a clock that steps by %i hours", (hours) => {
  test("neither ends a turn nor denies a question, and the session goes on", async () => {
    const story = new Story();
    const clock = { node: ["--require", CLOCK], env: { PARLEY_CLOCK_HOURS: String(hours) } };
    const host = story.start(workScript("one"), clock);
    await host.open(CONFIG);
    host.prompt("do it all");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
    const seqs = host.events.map(({ seq }) => seq ?? -1);
    expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
    expect(new Set(seqs).size).toBe(seqs.length);
    await story.check(host);
    await story.goOn();
    report("clock steps", { [`${hours} h`]: 1 });
  });

  test("leaves a question open for as long as people may take", async () => {
    const story = new Story();
    const host = story.start([{ calls: [{ tool: "Bash", args: { command: "echo ok >> ran.txt" }, id: "c" }] }, { say: "Done." }], {
      node: ["--require", CLOCK],
      env: { PARLEY_CLOCK_HOURS: String(hours) },
    });
    await host.open({ ...CONFIG, mode: "default" });
    host.prompt("go");
    await host.next("approval.requested");
    for (let nth = 0; nth < 40; nth++) host.send({ type: "ping", id: `ping-${nth}` });
    await host.next("reply", ({ parent }) => parent === "ping-39");
    host.allow("c");
    expect((await host.turnEnded()).outcome).toBe("completed");
    expect(story.ran("ok")).toBe(1);
    expect(await host.finish()).toBe(0);
  });
});

describe("a heap of 64 MiB", () => {
  test("takes an answer of 12 MiB and a tool that prints 200", async () => {
    const host = start({
      node: ["--max-old-space-size=64"],
      responses: [
        { say: { text: "word ".repeat(200), pieces: 12_000 } },
        { calls: [{ tool: "Bash", args: { command: "head -c 200000000 /dev/zero | tr '\\0' x" }, id: "b" }] },
        { say: "Done." },
      ],
    });
    await host.open({ mode: "yolo" });
    host.prompt("talk");
    expect((await host.turnEnded()).outcome).toBe("completed");
    host.prompt("print");
    expect((await host.turnEnded(2)).outcome).toBe("completed");
    expect(await host.finish()).toBe(0);
  });
});
