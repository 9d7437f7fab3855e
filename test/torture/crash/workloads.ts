/** The work during which the command is killed at each of its steps, and what must be true afterwards. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { tryCommand } from "../../extensions/asking.js";
import { type NativeHost, until } from "../../process/harness.js";
import { bash, completed, CONFIG, Story, workScript } from "../../store/story.js";
import { tryRewind } from "../../undo/undoing.js";

export interface Workload {
  /** The steps that the work takes at least once, as `steps.cjs` names them. */
  steps: readonly string[];
  /** Work before the process that is killed starts. */
  prepare?(story: Story): Promise<void>;
  responses: unknown[];
  /** Opens the session, or goes on with it, and works to the end of input. */
  play(story: Story, host: NativeHost): Promise<void>;
  /** What must be true after a kill at any step. */
  check(story: Story, host: NativeHost): Promise<void>;
}

const KEPT = "kept.txt";
const write = (id: string, content: string) => ({ tool: "Write", args: { file_path: KEPT, content }, id });
/** A log of this size behind the last snapshot makes a new one worthwhile. */
const MUCH = { text: "word ", pieces: 60_000 };

const LOCK = ["lock open", "lock link", "lock remove"];
const TURN = ["log turn.started", "log user.message", "log message", "log text.done", "log usage", "log turn.ended", "log sync"];

async function worked(host: NativeHost): Promise<void> {
  await host.turnEnded();
  await host.finish();
}

/** Everything that a turn can write: thinking, text that takes long, steered text, calls of every kind, a changed file, a snapshot. */
const turn: Workload = {
  steps: [
    ...LOCK,
    ...TURN,
    "log open",
    "log opened",
    "log thinking.done",
    "log partial",
    "log steered",
    "log tool.requested",
    "log tool.started",
    "log tool.ended",
    "log change",
    "log seen",
    "file rename",
    "copy write",
    "copy rename",
    "tool spawn",
    "snapshot write",
    "snapshot rename",
  ],
  prepare: async (story) => writeFileSync(join(story.cwd, KEPT), "before"),
  responses: [
    { calls: [{ tool: "Read", args: { file_path: KEPT }, id: "look-read" }] },
    { say: MUCH, calls: [write("write-read", "after")] },
    ...workScript("one"),
  ],
  async play(story, host) {
    await host.open(CONFIG);
    host.prompt("do it all");
    await host.next("tool.started");
    host.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "mind the gap" }] });
    await worked(host);
    await story.settled();
  },
  async check(story, host) {
    await story.check(host);
    // Written whole or not at all.
    expect(["before", "after"]).toContain(readFileSync(join(story.cwd, KEPT), "utf8"));
    await story.goOn();
  },
};

/** A conversation that is replaced by its summary. */
const compaction: Workload = {
  steps: ["log compaction", "log reset", "log sync"],
  responses: [{ say: { pieces: ["abc ".repeat(6500)] } }, { say: "And?" }, { say: "They counted." }, { say: "Second." }],
  async play(_, host) {
    await host.open(CONFIG);
    for (const nth of [1, 2]) {
      host.prompt(`count, ${nth}`);
      await host.turnEnded(nth);
    }
    await tryCommand(host, "compact");
    host.prompt("more");
    await host.turnEnded(3);
    await host.finish();
  },
  async check(story, host) {
    await story.checkLog(host);
    const { messages } = await story.peek();
    // The whole conversation or its summary, never neither.
    if (host.ofType("turn.ended").length >= 2) expect(JSON.stringify(messages)).toMatch(/count, 1.*count, 2|They counted/);
    await story.goOn();
  },
};

/** A turn that is taken back: its file and its part of the conversation. */
const rewind: Workload = {
  steps: ["log rewind", "file rename", "log sync"],
  prepare: async (story) => writeFileSync(join(story.cwd, KEPT), "before"),
  responses: [{ calls: [{ tool: "Read", args: { file_path: KEPT }, id: "r" }] }, { calls: [write("w", "after")] }, { say: "Changed." }],
  async play(_, host) {
    await host.open({ mode: "yolo" });
    host.prompt("change it", { turn: "t1" });
    await host.turnEnded();
    await tryRewind(host, "t1");
    await host.finish();
  },
  async check(story) {
    await story.settled();
    const { messages } = await story.peek();
    const again = await story.resumeAfter([{ say: "Going on." }]);
    const file = () => readFileSync(join(story.cwd, KEPT), "utf8");
    const isUndone = messages.length === 0;
    if (isUndone) expect(file()).toBe("before");
    else await tryRewind(again, "t1");
    expect(file()).toBe("before");
    again.prompt("continue");
    await completed(again, "Going on.");
    expect(await again.finish()).toBe(0);
  },
};

/** A session that a crash left in the middle of calls, with a torn last line: its repair is killed, too. */
const repair: Workload = {
  steps: [...LOCK, "log open", "log cut", "log opened", "log message", "log tool.ended", "log turn.ended", "log sync"],
  async prepare(story) {
    const host = story.start([{ say: "Two things.", calls: [bash("first", "sleep 300"), bash("second")] }]);
    await host.open(CONFIG);
    host.prompt("go");
    await until(() => story.ran("first") === 1);
    host.child.kill("SIGKILL");
    await host.exited;
    await story.check(host);
    const log = story.log;
    writeFileSync(log, `${readFileSync(log, "utf8")}{"kind":"event","ev`);
  },
  responses: [{ expect: { lastUser: "continue" }, say: "Going on." }],
  async play(story, host) {
    await story.reopen(host, this.responses);
    await host.finish();
  },
  async check(story, host) {
    await story.check(host);
    const unknown = (await story.peek()).crash?.unknown ?? [];
    // Told by a process that was killed before anybody read its words, or told again.
    for (const { id } of unknown) expect(id).toBe("first");
    await story.goOn();
    expect([story.ran("first"), story.ran("second")]).toEqual([1, 0]);
  },
};

export const WORKLOADS: Record<string, Workload> = { turn, compaction, rewind, repair };

export function isThere(story: Story): boolean {
  return existsSync(story.log) && readFileSync(story.log, "utf8").includes("\n");
}
