/** Commands and suggestions as who writes a host sees them, against the built command in a process of its own. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import { CommandReply } from "../../src/core/command.js";
import type { Event } from "../../src/core/event.js";
import { loadDialect } from "../../src/dialects/index.js";
import { openSession, type HostSession } from "../../src/host/session.js";
import { connect } from "../../src/link/connect.js";
import { spawnTransport } from "../../src/transports/process.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";

async function session(cwd: string, responses: unknown[] = ["hi"]): Promise<HostSession> {
  const dialect = await loadDialect("native");
  const argv = [
    process.execPath,
    PARLEY,
    "serve",
    "--dialect",
    "native",
    "--provider",
    "rehearsal",
    "--model",
    script(responses, "orders"),
  ];
  const agent = connect(dialect, () => spawnTransport({ argv, env: environment(), cwd }, { framing: dialect.framing }));
  const opened = await openSession(agent);
  onTestFinished(() => opened.close());
  return opened;
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const heard: Event[] = [];
  for await (const event of events) heard.push(event);
  return heard;
}

function resultOf(events: Event[]): CommandReply["result"] {
  const last = events.at(-1);
  return v.parse(CommandReply, last?.type === "reply" ? last.data : undefined).result;
}

test("a command's reply is its last event; one that is refused throws", async () => {
  const host = await session(scratch());
  expect(resultOf(await all(host.command("mode")))).toMatchObject({ type: "dialog", dialog: "mode" });
  expect(resultOf(await all(host.command("mode", "yolo")))).toMatchObject({ type: "message" });
  await expect(all(host.command("nope"))).rejects.toMatchObject({ fault: { code: "unsupported" } });
  expect((await all(host.prompt("hello"))).at(-1)).toMatchObject({ type: "turn.ended", outcome: "completed" });
});

test("suggestions come between turns and within one, and nobody misses an event for them", async () => {
  const cwd = scratch({ "apple.txt": "", "avocado.txt": "" });
  const host = await session(cwd, [{ call: { tool: "Bash", args: { command: "true" } } }, "done"]);
  expect((await host.suggest("slash", "/mo")).suggestions.map(({ value }) => value)).toEqual(["model", "mode"]);
  const heard: Event[] = [];
  for await (const event of host.prompt("go")) {
    heard.push(event);
    if (event.type !== "approval.requested") continue;
    const [first, second] = await Promise.all([host.suggest("slash", "/he"), host.suggest("at", "@app")]);
    expect([first, second].map(({ suggestions }) => suggestions[0]?.value)).toEqual(["help", "apple.txt"]);
    await host.answer(event.calls.map(({ id }) => ({ call: id, decision: "allow" })));
  }
  const types = heard.map(({ type }) => type);
  expect(types).toContain("catalog.updated");
  expect(types.filter((type) => ["turn.started", "tool.ended", "turn.ended"].includes(type))).toEqual([
    "turn.started",
    "tool.ended",
    "turn.ended",
  ]);
  expect(heard.filter((event) => event.type === "reply" && event.to === "command.suggest")).toEqual([]);
});

test("a prompt that a person wrote may mention files", async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, "a.txt"), "apple");
  const host = await session(cwd, [{ expect: { lastUser: "apple" }, say: "seen" }]);
  expect((await all(host.prompt("see @a.txt", { mentions: true }))).at(-1)).toMatchObject({ outcome: "completed" });
});
