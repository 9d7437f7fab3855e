import { describe, expect, test } from "vitest";
import { Listener, Peer, quiet } from "../../test/support/wires.js";
import { ParleyError } from "../core/errors.js";
import type { Op } from "../core/op.js";
import type { Frame, Transport } from "../core/wire.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { connect } from "./connect.js";
import { TURN, lacking, driven, running, deferred, asks, ended } from "../../test/support/driven-agent.js";

describe("a connection", () => {
  test("carries ops to the agent and events back, stamped", async () => {
    const { agent, host, peer } = await running();
    peer.say({ type: "text.done", ...TURN, text: "hi" }, ended);
    await host.of("turn.ended");
    peer.leave();
    await host.done;
    expect(host.types).toEqual(["session.ready", "turn.started", "text.done", "turn.ended", "session.ended", "closed"]);
    expect(host.violations).toEqual([]);
    const numbers = host.heard.all.map((event) => event.seq);
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5]);
    for (const event of host.heard.all) expect(event.at).toEqual(expect.any(Number));
    for (const op of peer.heard.all) expect(op.id).toEqual(expect.any(String));
    await agent.close();
  });

  test("keeps the agent's own stamps, and never jumps over one of them", async () => {
    const { agent, host, peer } = driven(lacking({ ping: "none" }));
    peer.say({ type: "notice", level: "info", text: "a", seq: 40, at: 1 });
    await host.of("notice");
    await agent.send({ type: "ping", id: "x" });
    await host.of("reply");
    peer.say({ type: "notice", level: "info", text: "b", seq: 41, at: 2 });
    await host.of("notice", 2);
    expect(host.heard.all.map(({ type, seq }) => [type, seq])).toEqual([
      ["notice", 40],
      ["reply", 40],
      ["notice", 41],
    ]);
    peer.leave();
    expect(await host.of("closed")).toMatchObject({ seq: 42 });
    await agent.close();
  });

  test("does not take what goes on in another session for its own turn", async () => {
    const { agent, host, peer } = await running(lacking({ "turn.steer": "none" }, { oneTurn: true }));
    await agent.send({ type: "session.open", id: "o2", session: "other", open: "new" });
    await agent.send({ type: "turn.prompt", id: "p2", session: "other", parts: [] });
    expect((await peer.of("turn.prompt", 2)).session).toBe("other");
    peer.say(
      { type: "session.ready", session: "other", parent: "o2" },
      { type: "turn.started", session: "other", turn: "t2", parent: "p2" },
    );
    peer.say({ type: "turn.ended", session: "other", turn: "t2", outcome: "completed", parent: "p2" });
    await host.of("turn.ended");
    await agent.send({ type: "turn.steer", id: "idle", session: "other", parts: [] });
    expect(await host.of("reply")).toMatchObject({ parent: "idle", status: "noop" });
    await agent.close();
  });

  test("survives an op that cannot be written: it is answered, and the next one goes out", async () => {
    const { agent, host, peer } = driven();
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    await agent.send({ type: "other", id: "bad", name: "x", data: loop });
    expect(await host.of("reply")).toMatchObject({ parent: "bad", to: "other", status: "error", fault: { code: "internal" } });
    await agent.send({ type: "ping", id: "next" });
    await peer.of("ping");
    await agent.close();
  });

  test("ends in words when our own reading fails", async () => {
    const { host, peer } = driven(
      lacking(
        {},
        {
          hostSide: (env) => ({
            ...native.hostSide(env),
            read: () => {
              throw new Error("a bug of ours");
            },
          }),
        },
      ),
    );
    peer.say({ type: "notice", level: "info", text: "x" });
    expect(await host.of("closed")).toMatchObject({ reason: "a bug of ours" });
    await host.done;
  });

  test("holds the agent back while nobody reads, and loses nothing", async () => {
    const [near, far] = memoryPair();
    const agent = connect(native, () => near);
    let told = 0;
    const telling = (async () => {
      for (; told < 100; told++) await far.write([{ type: "notice", level: "info", text: "x".repeat(128 * 1024) }]);
    })();
    await quiet();
    expect(told).toBeLessThan(50);
    const host = new Listener(agent);
    await telling;
    await host.of("notice", 100);
    await agent.close();
  });

  test("takes ops from a host that does not read", async () => {
    const [near, far] = memoryPair();
    const agent = connect(lacking({ "session.configure": { only: ["mode"] } }), () => near);
    const peer = new Peer<Op>(far);
    for (let n = 0; n < 100; n++) peer.say({ type: "notice", level: "info", text: "x".repeat(128 * 1024) });
    await quiet();
    await agent.send({ type: "session.configure", session: "s", patch: { model: "m" } });
    await agent.send({ type: "turn.interrupt", session: "s" });
    await peer.of("turn.interrupt");
    const host = new Listener(agent);
    await host.of("reply");
    await agent.close();
  });
});

describe("the end of the agent", () => {
  test("an exit in a turn ends everything open once and in order, and `closed` is last", async () => {
    const { agent, host, peer } = await running();
    peer.say({ type: "text.delta", ...TURN, text: "half a sen" }, { type: "tool.requested", ...TURN, call: { id: "c0", name: "Spawn" } });
    peer.say({ type: "tool.started", ...TURN, call: "c0" }, { type: "thinking.delta", ...TURN, under: "c0", text: "hm" }, ...asks("c1"));
    peer.say({ type: "usage", ...TURN, scope: "call", usage: { input: 1, output: 2 } });
    await host.of("usage");
    peer.leave();
    await host.done;
    const tail = host.heard.all.slice(host.types.indexOf("usage") + 1);
    expect(tail.map((event) => event.type)).toEqual([
      "thinking.done",
      "tool.ended",
      "tool.ended",
      "error",
      "turn.ended",
      "session.ended",
      "closed",
    ]);
    expect(tail.find((event) => event.type === "turn.ended")).toMatchObject({
      ...TURN,
      outcome: "failed",
      parent: "p",
      usage: { input: 1, output: 2 },
    });
    // The text block was open when a tool was requested.
    expect(host.types.slice(0, 4)).toEqual(["session.ready", "turn.started", "text.delta", "text.done"]);
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("a failed start is reported, and every waiting op is refused", async () => {
    const agent = connect(native, () =>
      Promise.reject(new ParleyError({ code: "launch", message: "Could not start ante: it was not found" })),
    );
    const host = new Listener(agent);
    await Promise.all([
      agent.send({ type: "session.open", id: "o", session: "s", open: "new" }),
      agent.send({ type: "turn.prompt", id: "p", session: "s", parts: [] }),
      agent.send({ type: "turn.interrupt", id: "i", session: "s" }),
    ]);
    await host.done;
    expect(host.heard.all.map((event) => [event.type, event.parent])).toEqual([
      ["reply", "o"],
      ["reply", "p"],
      ["reply", "i"],
      ["closed", undefined],
    ]);
    for (const event of host.heard.all.slice(0, 3))
      expect(event).toMatchObject({ status: "error", fault: { message: "Could not start ante: it was not found" } });
    expect(host.heard.all.at(-1)).toMatchObject({ reason: "Could not start ante: it was not found" });
    // Nobody is left to answer, and nothing breaks.
    await agent.send({ type: "ping" });
    await agent.close();
  });

  test("an exit answers each op without an answer, and none twice", async () => {
    const { agent, host, peer } = await running();
    for (const [n, op] of (
      [
        { type: "session.list" },
        { type: "ping" },
        { type: "session.configure", patch: {} },
        { type: "turn.prompt", parts: [] },
        { type: "turn.steer", parts: [] },
        { type: "command.suggest", trigger: "slash", text: "/" },
      ] satisfies Op[]
    ).entries()) {
      await agent.send({ ...op, session: "s", id: `q${n}` });
    }
    await peer.of("command.suggest");
    peer.say({ type: "reply", to: "ping", status: "ok", parent: "q1" }, ended);
    peer.say({ type: "reply", to: "command.suggest", status: "loading", parent: "q5", session: "s" });
    await host.of("reply", 2);
    peer.leave();
    await host.done;
    expect(host.heard.all.filter((event) => event.type === "reply").map((event) => [event.parent, event.status])).toEqual([
      ["q1", "ok"],
      ["q5", "loading"],
      ["q0", "error"],
      ["q2", "error"],
      ["q3", "error"],
      ["q5", "error"],
    ]);
    expect(host.violations).toEqual([]);
  });

  test("an exit in a turn is a failure, whatever its code", async () => {
    const { promise: closed, resolve: exit } = deferred();
    const [near, far] = memoryPair();
    const agent = connect(native, () => ({ ...near, closed }));
    const host = new Listener(agent);
    const peer = new Peer<Op>(far);
    await agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    await peer.of("session.open");
    peer.say({ type: "session.ready", session: "s", parent: "o" }, { type: "turn.started", ...TURN });
    await host.of("turn.started");
    peer.leave();
    exit({ code: 0, signal: null });
    expect(await host.of("closed")).toMatchObject({ code: 0, reason: "The agent exited with code 0 in the middle of a turn" });
    expect(host.violations).toEqual([]);
  });

  test("a line that the exit cut off becomes an error before the ends", async () => {
    const [near, far] = memoryPair("text");
    const agent = connect(native, () => ({ ...near, frames: halfLine(near.frames) }));
    const host = new Listener(agent);
    far.close("eof");
    await host.done;
    expect(host.types).toEqual(["error", "closed"]);
    await agent.close();
  });
});

async function* halfLine(frames: AsyncIterable<Frame>): AsyncIterable<Frame> {
  yield* frames;
  yield { bad: "The line is not JSON", line: '{"type":"te' };
}

describe("a transport that throws", () => {
  const fail = (): never => {
    throw new Error("the cable");
  };
  test.each<[string, (near: Transport) => Partial<Transport>]>([
    ["as soon as it is written to", () => ({ write: fail })],
    ["when it is written to", () => ({ write: async () => fail() })],
    ["when it is read", () => ({ frames: { [Symbol.asyncIterator]: () => ({ next: async () => fail() }) } })],
    ["instead of ending", ({ closed }) => ({ write: fail, closed: closed.then(fail) })],
    [
      "when it is ended",
      ({ close }) => ({
        write: fail,
        close(how) {
          close(how);
          fail();
        },
      }),
    ],
  ])("%s has ended, which is told with its words", async (_, broken) => {
    const [near] = memoryPair();
    const agent = connect(native, () => ({ ...near, ...broken(near) }));
    const host = new Listener(agent);
    await agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    expect(await host.of("reply")).toMatchObject({ to: "session.open", parent: "o", fault: { message: "the cable" } });
    expect(await host.of("closed")).toMatchObject({ reason: "the cable" });
    await agent.close();
  });

  test("a transport that throws in a turn ends the turn", async () => {
    const [near, far] = memoryPair();
    let isBroken = false;
    const write: Transport["write"] = (records) => (isBroken ? fail() : near.write(records));
    const agent = connect(native, () => ({ ...near, write }));
    const [host, peer] = [new Listener(agent), new Peer<Op>(far)];
    await agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    await agent.send({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [] });
    peer.say({ type: "session.ready", session: "s", parent: "o" }, { type: "turn.started", ...TURN, parent: "p" }, ...asks("c"));
    await host.of("approval.requested");
    isBroken = true;
    await agent.send({ type: "approval.answer", id: "a", session: "s", answers: [{ call: "c", decision: "allow" }] });
    expect(await host.of("turn.ended")).toMatchObject({ outcome: "failed", reason: "the cable" });
    await agent.close();
  });
});
