/**
 * The command is killed with -9 in the middle of its work and resumed: nothing that its host had heard is lost, no tool runs twice, and
 * a call whose end nobody knows is told. When it is killed is drawn from the seed in each test's name, and counted in events.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/content.js";
import { launch } from "../aionrs/host.js";
import { type NativeHost, run, until } from "../process/harness.js";
import { diceOf } from "../torture/volume.js";
import { bash, completed, CONFIG, resultsOf, Story, textOf, workScript } from "./story.js";

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1);

describe("killed at a random moment and resumed", () => {
  test.each(SEEDS)("seed %i", async (seed) => {
    const dice = diceOf(seed);
    const story = new Story();
    const first = story.start(workScript("one"));
    await first.open(CONFIG);
    first.prompt("do it all");
    await killAfter(first, 1 + (dice() % 50), dice() % 12);
    await story.check(first);
    await story.goOn();
  });

  test.each([101, 102, 103])("five times in a row, seed %i", async (seed) => {
    const dice = diceOf(seed);
    const story = new Story();
    const first = story.start(workScript("one"));
    await first.open(CONFIG);
    first.prompt("do it all, one");
    await killAfter(first, 1 + (dice() % 50), dice() % 12);
    await story.check(first);
    for (const name of ["two", "three", "four", "five"]) {
      const host = await story.resume(workScript(name));
      host.prompt(`do it all, ${name}`);
      await killAfter(host, 1 + (dice() % 50), dice() % 12);
      await story.check(host);
    }
    await story.goOn();
    const turns = story.heard.filter((event) => event.type === "turn.started").map((event) => event.turn);
    expect(new Set(turns).size).toBe(turns.length);
  });

  test("in the middle of a long stream: what was written of it is kept", async () => {
    const story = new Story();
    const host = story.start([{ say: { text: "word ", pieces: 400_000 } }]);
    await host.open(CONFIG);
    host.prompt("talk");
    const log = join(story.home, "sessions", "s", "log.jsonl");
    await until(() => existsSync(log) && readFileSync(log, "utf8").includes('"partial"'));
    await kill(host);
    const { messages } = await story.peek();
    expect(messages.at(-1)).toMatchObject({ role: "assistant", blocks: [{ type: "text", text: expect.stringMatching(/^(word )+/) }] });
    await story.check(host);
    const text = textOf(messages.at(-1));
    const { stdout } = await run(["sessions", "show", "s"], { env: { PARLEY_HOME: story.home } });
    expect(stdout).not.toContain(text);
    await story.goOn();
    expect((await run(["sessions", "show", "s"], { env: { PARLEY_HOME: story.home } })).stdout).toContain(text);
  });
});

test("a call that ran is named to the host and to the model, and one that waited did not run", async () => {
  const story = new Story();
  const host = story.start([{ say: "Two things.", calls: [bash("first", "sleep 300"), bash("second")] }, { say: "never" }]);
  await host.open(CONFIG);
  host.prompt("go");
  await host.next("tool.started");
  await until(() => story.ran("first") === 1);
  await kill(host);
  const { crash, messages } = await story.peek();
  expect(crash?.unknown).toMatchObject([{ id: "first", name: "Bash" }]);
  expect(resultsOf(messages).map((result) => [result.call, plainText(result.parts)])).toEqual([
    ["first", expect.stringContaining("whether it took effect is unknown")],
    ["second", expect.stringContaining("did not run")],
  ]);
  await story.check(host);
  const again = await story.resume([{ expect: { toolResult: "/is unknown[^]*did not run/" }, say: "I see." }]);
  const notice = await again.next("notice");
  expect(notice).toMatchObject({ kind: "recovered", level: "warning", data: { unknown: [{ id: "first" }] } });
  expect(notice.text).toContain("first");
  expect(notice.text).not.toContain("second");
  again.prompt("continue");
  await completed(again, "I see.");
  expect(await again.finish()).toBe(0);
  expect([story.ran("first"), story.ran("second")]).toEqual([1, 0]);
});

test("an approval that nobody answered is asked no more, and its call did not run", async () => {
  const story = new Story();
  const host = story.start([{ calls: [bash("gated")] }]);
  await host.open({ ...CONFIG, mode: "default" });
  host.prompt("go");
  await host.next("approval.requested");
  await kill(host);
  await story.check(host);
  const again = await story.resume([{ expect: { toolResult: "did not run" }, say: "ok" }]);
  expect(await again.next("notice")).toMatchObject({ kind: "recovered", data: { unknown: [] } });
  again.allow("gated");
  expect(await again.next("reply")).toMatchObject({ status: "error" });
  again.prompt("continue");
  await completed(again, "ok");
  expect(await again.finish()).toBe(0);
  expect(story.ran("gated")).toBe(0);
});

test("what was steered in and heard is not lost", async () => {
  const story = new Story();
  const host = story.start([{ calls: [bash("long", "sleep 300")] }]);
  await host.open(CONFIG);
  host.prompt("go");
  await host.next("tool.started");
  host.send({ type: "turn.steer", session: "s", parts: [{ type: "text", text: "mind the gap" }] });
  expect(await host.next("reply", (event) => event.to === "turn.steer")).toMatchObject({ status: "ok" });
  await kill(host);
  expect(textOf((await story.peek()).messages.at(-1))).toBe("mind the gap");
  await story.check(host);
  await story.goOn();
});

test("over aionrs the recovered call is told as info, and the conversation goes on", async () => {
  const story = new Story();
  const { env, cwd } = story.options();
  const agent = launch({ env, cwd, responses: [{ calls: [bash("slow", "sleep 300")] }], args: ["--session-id", "s", "--auto-approve"] });
  await agent.next("ready");
  agent.message("m1");
  await agent.next("tool_running");
  await until(() => story.ran("slow") === 1);
  agent.child.kill("SIGKILL");
  await agent.exited;
  await story.settled();
  const again = launch({ env, cwd, responses: [{ expect: { toolResult: "is unknown" }, say: "I see." }], args: ["--resume", "s"] });
  expect(await again.next("ready")).toMatchObject({ session_id: "s" });
  expect(await again.next("info")).toMatchObject({ msg_id: "", message: expect.stringMatching(/unknown.*slow/) });
  again.message("m2", "continue");
  await again.next("stream_end");
  expect(again.text("m2")).toBe("I see.");
  again.child.stdin.end();
  expect((await again.exited).code).toBe(0);
  expect(story.ran("slow")).toBe(1);
});

/** Kills it once so many whole events, and then so many more of any kind, have been heard; or when its turn ends before. */
async function killAfter(host: NativeHost, whole: number, more: number): Promise<void> {
  const isDue = (): boolean => {
    const own = host.events.filter((event) => event.replay !== true);
    let count = 0;
    const at = own.findIndex((event) => !/\.(delta|progress)$/.test(event.type) && ++count >= whole);
    return (at !== -1 && own.length > at + more) || own.some((event) => event.type === "turn.ended");
  };
  if (!isDue()) {
    await new Promise<void>((resolve) => {
      host.child.stdout.on("data", () => {
        if (isDue()) resolve();
      });
      host.child.once("exit", () => resolve());
    });
  }
  await kill(host);
}

async function kill(host: NativeHost): Promise<void> {
  host.child.kill("SIGKILL");
  await host.exited;
}
