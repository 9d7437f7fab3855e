/** Lines that are longer than their reader takes, between our host kit and the built command: what was asked in one never waits for ever. */
import { expect, onTestFinished, test } from "vitest";
import { LINE_CAP, QUESTION_BYTES } from "../../src/core/limits.js";
import { loadDialect } from "../../src/dialects/index.js";
import { connect } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";
import { environment, PARLEY, scratch } from "../process/harness.js";
import { Listener } from "../support/wires.js";
import { agents } from "./agents.js";

const CAP = 32 * 1024;
const LONG = "x".repeat(2 * CAP);

/** A session with an agent of the dialect, whose lines we read up to `lineCap`. */
async function driven(drive: string, lineCap: number) {
  const dialect = await loadDialect(drive);
  // The dialect says `serve` itself.
  const words = (agents[drive] ?? []).slice(drive === "ante" ? 1 : 0);
  const env = environment();
  const agent = connect(dialect, ({ argv, cwd = scratch() }) =>
    spawnTransport({ argv: [process.execPath, PARLEY, ...argv, ...words], env, cwd }, { framing: dialect.framing, lineCap }),
  );
  const host = new Listener(agent);
  onTestFinished(async () => {
    await agent.close();
    await host.done;
    expect(host.violations).toEqual([]);
  });
  const config = { cwd: scratch(), provider: "rehearsal", model: "rehearsal" };
  await agent.send({ type: "session.open", id: "o", session: "s", open: "new", config });
  await host.of("session.ready");
  const prompt = (id: string, text: string): Promise<void> =>
    agent.send({ type: "turn.prompt", id, session: "s", turn: id, parts: [{ type: "text", text }] });
  return { agent, host, prompt };
}

test.each(["native", "aionrs", "wayland", "ante", "qwen", "qwen-shipped", "agentproc@0.4"])(
  "a question of a %s agent that could not be read stops its turn, and the next one works",
  async (drive) => {
    const { host, prompt } = await driven(drive, CAP);
    await prompt("one", `write '${LONG}' to a.txt`);
    const { outcome } = await host.of("turn.ended");
    expect(outcome).toBe("interrupted");
    expect(JSON.stringify(host.heard.all)).toContain("in a line that was too long to be read");
    await prompt("two", "say hello");
    expect(await host.of("turn.ended", 2)).toMatchObject({ outcome: "completed" });
  },
);

test("a call whose arguments are too long to be asked about is denied, and the model hears why", async () => {
  const { agent, host } = await driven("native", LINE_CAP);
  const content = "x".repeat(QUESTION_BYTES);
  const calls = [{ id: "c", name: "Write", args: { file_path: "a.txt", content } }];
  await agent.send({ type: "turn.prompt", id: "one", session: "s", turn: "one", parts: [], calls });
  expect(await host.of("tool.ended")).toMatchObject({ status: "denied", reason: expect.stringContaining(`${QUESTION_BYTES} bytes`) });
  await host.of("turn.ended");
});

test("a prompt that no line can hold is refused, and the next one works", async () => {
  const { host, prompt } = await driven("native", LINE_CAP);
  await prompt("one", "x".repeat(LINE_CAP));
  expect(await host.of("reply")).toMatchObject({
    to: "turn.prompt",
    parent: "one",
    fault: { code: "limit", message: expect.stringContaining(`${LINE_CAP} are the limit`) },
  });
  await prompt("two", "say hello");
  expect(await host.of("turn.ended")).toMatchObject({ outcome: "completed" });
});
