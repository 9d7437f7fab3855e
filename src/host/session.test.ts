/** A host may use a session in any way, and its agent may misbehave: nothing hangs, no event is lost, no process stays behind. */
import { expect, onTestFinished, test } from "vitest";
import { Peer } from "../../test/support/wires.js";
import type { Agent } from "../core/agent.js";
import type { Event } from "../core/event.js";
import type { Op, OpOf } from "../core/op.js";
import { native } from "../dialects/native/index.js";
import { connect, type ConnectOptions } from "../link/connect.js";
import { memoryPair } from "../transports/memory.js";
import { drive } from "./drive.js";
import { openSession, type HostSession } from "./session.js";

const at = ({ session, turn, id }: OpOf<"turn.prompt">) => ({ session, turn, parent: id });

/** A connection to an agent that we play ourselves. */
function driven(options?: ConnectOptions): { agent: Agent; peer: Peer<Op> } {
  const [near, far] = memoryPair();
  const agent = connect(native, () => near, options);
  return { agent, peer: new Peer<Op>(far) };
}

async function opened(): Promise<{ session: HostSession; peer: Peer<Op> }> {
  const { agent, peer } = driven();
  const session = openSession(agent);
  const open = await peer.of("session.open");
  peer.say({ type: "session.ready", session: open.session, parent: open.id });
  return { session: await session, peer };
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const heard: Event[] = [];
  for await (const event of events) heard.push(event);
  return heard;
}

/** An agent that is a script of its own. */
function scripted(source: string, options?: ConnectOptions): Agent & { pid(): Promise<number> } {
  let told: (pid: number) => void;
  const pid = new Promise<number>((resolve) => (told = resolve));
  const program = `process.stderr.write(String(process.pid)); setInterval(() => {}, 1000); ${source}`;
  const agent = drive(native, [process.execPath, "-e", program], { ...options, onStderr: (text) => told(Number(text)) });
  onTestFinished(() => agent.close());
  return { ...agent, pid: () => pid };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("a second prompt at the same time is refused, and the first hears its whole turn", async () => {
  const { session, peer } = await opened();
  const first = all(session.prompt("one"));
  const prompt = await peer.of("turn.prompt");
  await expect(all(session.prompt("two"))).rejects.toThrow("read it to its end");
  await expect(all(session.gathered())).rejects.toThrow("read it to its end");
  peer.say({ type: "turn.started", ...at(prompt) }, { type: "turn.ended", ...at(prompt), outcome: "completed" });
  expect((await first).map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
  await session.close();
});

test("an agent has several sessions: each reads its own events, and the agent is closed with the last of them", async () => {
  const { agent, peer } = driven();
  const opening = openSession(agent);
  const open = await peer.of("session.open");
  peer.say({ type: "session.ready", session: open.session, parent: open.id });
  const first = await opening;
  const openingOther = openSession(agent);
  const other = await peer.of("session.open", 2);
  peer.say({ type: "session.ready", session: other.session, parent: other.id });
  const second = await openingOther;
  const heard = Promise.all([all(first.prompt("one")), all(second.prompt("two"))]);
  const [one, two] = [await peer.of("turn.prompt"), await peer.of("turn.prompt", 2)];
  peer.say({ type: "turn.started", ...at(two) }, { type: "turn.started", ...at(one) });
  peer.say({ type: "turn.ended", ...at(one), outcome: "completed" }, { type: "turn.ended", ...at(two), outcome: "failed" });
  const outcomes = (await heard).map((events) => events.map((event) => (event.type === "turn.ended" ? event.outcome : event.type)));
  expect(outcomes).toEqual([
    ["turn.started", "completed"],
    ["turn.started", "failed"],
  ]);
  const closing = second.close();
  const close = await peer.of("session.close");
  expect(close.session).toBe(second.handle);
  peer.say({ type: "session.ended", session: close.session });
  await closing;
  const again = all(first.prompt("three"));
  const three = await peer.of("turn.prompt", 3);
  peer.say({ type: "turn.started", ...at(three) }, { type: "turn.ended", ...at(three), outcome: "completed" });
  expect((await again).map(({ type }) => type)).toEqual(["turn.started", "turn.ended"]);
  await first.close();
});

test("a prompt that is left in the middle makes room for the next", async () => {
  const { session, peer } = await opened();
  const reading = (async () => {
    for await (const event of session.prompt("one")) if (event.type === "turn.started") break;
  })();
  const one = await peer.of("turn.prompt");
  peer.say({ type: "turn.started", ...at(one) });
  await reading;
  const second = all(session.prompt("two"));
  const two = await peer.of("turn.prompt", 2);
  peer.say({ type: "turn.ended", ...at(one), outcome: "completed" });
  peer.say({ type: "turn.started", ...at(two) }, { type: "turn.ended", ...at(two), outcome: "completed" });
  expect((await second).map(({ type }) => type)).toEqual(["turn.ended", "turn.started", "turn.ended"]);
  await session.close();
});

test("closing while an approval waits ends the turn for whoever reads it; twice is once", async () => {
  const { session, peer } = await opened();
  const call = { id: "c", name: "Bash" };
  const heard: string[] = [];
  let ended: Promise<void[]> | undefined;
  const reading = (async () => {
    for await (const event of session.prompt("one")) {
      heard.push(event.type);
      if (event.type === "approval.requested") ended = Promise.all([session.close(), session.close()]);
    }
  })();
  const prompt = await peer.of("turn.prompt");
  peer.say({ type: "turn.started", ...at(prompt) }, { type: "tool.requested", ...at(prompt), call });
  peer.say({ type: "approval.requested", ...at(prompt), calls: [call] });
  await reading;
  await ended;
  await session.close();
  expect(heard).toEqual(["turn.started", "tool.requested", "approval.requested", "tool.ended", "error", "turn.ended"]);
});

test("a prompt to an agent that is gone says why it is", async () => {
  const agent = scripted(`
    process.stdin.once("data", (line) => {
      const { session, id } = JSON.parse(line);
      console.log(JSON.stringify({ type: "session.ready", session, parent: id }));
      setTimeout(() => process.exit(7), 20);
    });`);
  const session = await openSession(agent);
  for await (const event of session.gathered()) if (event.type === "closed") break;
  await expect(all(session.prompt("one"))).rejects.toThrow("exited with code 7");
  await session.interrupt();
  await session.answer([{ call: "c", decision: "allow" }]);
  await session.close();
});

test("an agent that never says that it is ready is ended, and nothing of it stays", async () => {
  const agent = scripted("", { readySeconds: 0.5 });
  const pid = await agent.pid();
  await expect(openSession(agent)).rejects.toThrow("The agent was not ready after 0.5 s and was ended");
  await agent.close();
  expect(isAlive(pid)).toBe(false);
});

test("an agent that refuses the session is ended with it", async () => {
  const agent = scripted(`
    process.stdin.once("data", (line) => {
      const fault = { code: "config", message: "no", retryable: false };
      console.log(JSON.stringify({ type: "reply", to: "session.open", status: "error", parent: JSON.parse(line).id, fault }));
    });`);
  await expect(openSession(agent)).rejects.toThrow("no");
  await agent.close();
  expect(isAlive(await agent.pid())).toBe(false);
});

test("an agent that floods a host which never reads can be closed, and nothing of it stays", async () => {
  const agent = scripted(`
    const line = JSON.stringify({ type: "notice", level: "info", text: "x".repeat(1000) }) + "\\n";
    const flood = () => { while (process.stdout.write(line)); process.stdout.once("drain", flood); };
    flood();`);
  const pid = await agent.pid();
  await agent.close();
  expect(isAlive(pid)).toBe(false);
});

test("an agent that nobody reads can be closed when nothing more fits", async () => {
  const { agent, peer } = driven();
  for (let said = 0; said < 5000; said++) peer.say({ type: "notice", level: "info", text: "x".repeat(1000) });
  await new Promise(setImmediate);
  await expect(agent.close()).resolves.toBeUndefined();
});
