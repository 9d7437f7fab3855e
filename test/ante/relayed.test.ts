/** Ante's clients before agents of every dialect: sessions that follow one another on one connection, whatever a session is to the agent. */
import { expect, it } from "vitest";
import { agents, driving } from "../matrix/agents.js";
import { PARLEY, scratch } from "../process/harness.js";
import { AnteClient, Daemon, type DaemonOptions } from "./client.js";

function relayed(drive: string, place: DaemonOptions = {}): AnteClient {
  const agent = ["--", process.execPath, PARLEY, ...(agents[drive] ?? [])];
  return new AnteClient(
    new Daemon({ ...place, command: ["relay", "--as", "ante", "--drive", drive, "--check", ...driving(drive), ...agent] }),
  );
}

it.each(Object.keys(agents))("of %s: one that is replaced, resumed, and resumed while it is live", async (drive) => {
  const client = relayed(drive);
  const { session_id } = await client.start();
  await client.say("remember the word heron");
  await client.start();
  await client.say("say second");
  for (let nth = 0; nth < 2; nth++) {
    const op = client.resume(session_id);
    const { fields } = await client.next("SessionStart", ({ parent }) => parent === op);
    expect(fields).toMatchObject({ model: { name: expect.stringMatching(/./) }, provider: expect.stringMatching(/./) });
  }
  const turn = await client.say("what word did I tell you to remember?");
  expect(JSON.stringify(turn)).toContain("heron");
  client.send("Shutdown");
  expect(await client.closed).toBe(0);
  expect(client.names().filter((name) => name === "SessionEnd")).toHaveLength(4);
  expect(client.of("Error")).toEqual([]);
});

it.each(["native", "aionrs", "qwen-shipped"])("of %s: a session that a later relay resumes has the model that it had", async (drive) => {
  const place = { home: scratch(), cwd: scratch() };
  const first = relayed(drive, place);
  const { session_id, model, provider } = await first.start();
  await first.say("say hello");
  first.send("Shutdown");
  await first.closed;
  const second = relayed(drive, place);
  const op = second.resume(session_id);
  const { fields } = await second.next("SessionStart", ({ parent }) => parent === op);
  expect(fields).toMatchObject({ model: { name: model.name }, provider });
  second.send("Shutdown");
  await second.closed;
});
