import { afterEach, describe, expect, test, vi } from "vitest";
import { Listener, Peer, quiet } from "../../test/support/wires.js";
import type { Agent } from "../core/agent.js";
import { ParleyError } from "../core/errors.js";
import type { Closed, Event, EventOf } from "../core/event.js";
import type { Op, OpOf } from "../core/op.js";
import type { Frame, Launch, Transport } from "../core/wire.js";
import type { Coverage, Dialect } from "../dialects/dialect.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { connect, type ConnectOptions } from "./connect.js";

const TURN = { session: "s", turn: "t" };

afterEach(() => {
  vi.useRealTimers();
});

/** A dialect like ours, with gaps. */
function lacking(coverage: Partial<Coverage>, more: Partial<Dialect> = {}): Dialect {
  return { ...native, ...more, coverage: { ...native.coverage, ...coverage } };
}

/** A connection to an agent that we play ourselves. */
function driven(dialect: Dialect = native, options?: ConnectOptions) {
  const [near, far] = memoryPair();
  const agent = connect(dialect, () => near, options);
  return { agent, host: new Listener(agent), peer: new Peer<Op>(far) };
}

/** The same, with a session and a turn that runs. */
async function running(dialect: Dialect = native, options?: ConnectOptions) {
  const all = driven(dialect, options);
  await all.agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
  await all.agent.send({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [] });
  await all.peer.of("turn.prompt");
  all.peer.say({ type: "session.ready", session: "s", parent: "o" }, { type: "turn.started", ...TURN, parent: "p" });
  await all.host.of("turn.started");
  return all;
}

/** An end that we tell ourselves. */
function deferred(): { promise: Promise<Closed>; resolve(closed: Closed): void } {
  let resolve: (closed: Closed) => void = () => {};
  const promise = new Promise<Closed>((settle) => (resolve = settle));
  return { promise, resolve };
}

function asks(...calls: string[]): Event[] {
  return [
    ...calls.map((id): Event => ({ type: "tool.requested", ...TURN, call: { id, name: "Bash" } })),
    { type: "approval.requested", ...TURN, calls: calls.map((id) => ({ id, name: "Bash" })) },
  ];
}

const ended: Event = { type: "turn.ended", ...TURN, outcome: "completed", parent: "p" };

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
  test("in a turn ends everything that was open, once, in order, and `closed` is last", async () => {
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

  test("that could not even be started is told, with every op that waited", async () => {
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

  test("answers what the agent left unanswered, and nothing twice", async () => {
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

  test("in a turn is no good end, whatever its exit code says", async () => {
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

  test("leaves a line that was cut in the middle as an error, before the ends", async () => {
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

  test("in a turn ends that", async () => {
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

describe("deadlines", () => {
  test("deny an approval that nobody answers, and say why", async () => {
    const { agent, host, peer } = await running(native, { answerSeconds: 0.02 });
    peer.say(...asks("c1", "c2"));
    expect([(await peer.of("approval.answer")).answers, (await peer.of("approval.answer", 2)).answers]).toEqual([
      [{ call: "c1", decision: "deny", reason: "approval timed out after 0.02 s" }],
      [{ call: "c2", decision: "deny", reason: "approval timed out after 0.02 s" }],
    ]);
    for (const op of peer.heard.all) expect(op.id).toEqual(expect.any(String));
    expect(host.types).toContain("approval.requested");
    await agent.close();
  });

  test("leave alone what was answered, or what the agent settled itself", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { agent, host, peer } = await running(native, { answerSeconds: 10 });
    peer.say(...asks("c1", "c2", "c3"));
    await host.of("approval.requested");
    await agent.send({ type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow" }] });
    peer.say({ type: "tool.ended", ...TURN, call: "c2", status: "cancelled" });
    await host.of("tool.ended");
    vi.advanceTimersByTime(60_000);
    await peer.of("approval.answer", 2);
    await quiet();
    expect(
      peer.heard.all.flatMap((op) => (op.type === "approval.answer" ? op.answers : [])).map(({ call, decision }) => [call, decision]),
    ).toEqual([
      ["c1", "allow"],
      ["c3", "deny"],
    ]);
    await agent.close();
  });

  test("of a session that the host attached to are its owner's", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { agent, host, peer } = driven(native, { answerSeconds: 10 });
    await agent.send({ type: "session.open", id: "o", session: "s", open: "attach" });
    peer.say({ type: "session.ready", session: "s", parent: "o" }, { type: "turn.started", ...TURN }, ...asks("c1"));
    await host.of("approval.requested");
    vi.advanceTimersByTime(1e9);
    await quiet();
    expect(peer.heard.types).toEqual(["session.open"]);
    await agent.close();
  });

  test("are those that the opener asked for", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { agent, host, peer } = driven(native, { answerSeconds: 10 });
    await agent.send({ type: "session.open", session: "s", open: "new", config: { answerSeconds: 100 } });
    peer.say({ type: "session.ready", session: "s" }, { type: "turn.started", ...TURN }, ...asks("c1"));
    await host.of("approval.requested");
    vi.advanceTimersByTime(99_000);
    await quiet();
    expect(peer.heard.types).toEqual(["session.open"]);
    vi.advanceTimersByTime(1000);
    expect((await peer.of("approval.answer")).answers[0]?.reason).toBe("approval timed out after 100 s");
    await agent.close();
  });

  test("that are longer than a timer can be do not come at once", async () => {
    const { agent, host, peer } = await running(native, { answerSeconds: 1e9 });
    peer.say(...asks("c1"));
    await host.of("approval.requested");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(peer.heard.types).not.toContain("approval.answer");
    await agent.close();
  });

  test("of two sessions that use the same call id are two", async () => {
    const { agent, host, peer } = await running(native, { answerSeconds: 0.05 });
    peer.say(...asks("c1"));
    await agent.send({ type: "session.open", id: "ob", session: "b", open: "new" });
    await peer.of("session.open", 2);
    peer.say({ type: "session.ready", session: "b", parent: "ob" }, { type: "turn.started", session: "b", turn: "u" });
    peer.say({ type: "tool.requested", session: "b", turn: "u", call: { id: "c1", name: "Bash" } });
    peer.say({ type: "approval.requested", session: "b", turn: "u", calls: [{ id: "c1", name: "Bash" }] });
    await host.of("approval.requested", 2);
    await agent.send({ type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow" }] });
    expect(await peer.of("approval.answer", 2)).toMatchObject({ session: "b", answers: [{ decision: "deny" }] });
    await agent.close();
  });
});

describe("grants that the wire cannot hold", () => {
  const calls = (...names: [id: string, name: string][]): Event[] => [
    ...names.map(([id, name]): Event => ({ type: "tool.requested", ...TURN, call: { id, name } })),
    { type: "approval.requested", ...TURN, calls: names.map(([id, name]) => ({ id, name })) },
  ];

  async function granted(grant: "call" | "prefix" | "tool" | "category", only: string[], args?: Record<string, unknown>) {
    const all = await running(lacking({ "approval.answer": { only } }));
    all.peer.say(...calls(["c1", "Bash"]));
    await all.host.of("approval.requested");
    await all.agent.send({
      type: "approval.answer",
      session: "s",
      answers: [{ call: "c1", decision: "allow", grant, ...(args !== undefined && { args }) }],
    });
    const first = (await all.peer.of("approval.answer")).answers[0];
    all.peer.say(...calls(["c2", "Bash"], ["c3", "Spawn"], ["c4", "Edit"]));
    return { ...all, first };
  }

  test.each([
    ["tool", ["call"], ["c2"]],
    ["category", ["call"], ["c2", "c3"]],
    ["category", ["call", "tool"], ["c2", "c3"]],
    ["call", ["call"], []],
    ["prefix", ["call"], []],
    ["prefix", ["call", "tool", "category"], []],
    ["tool", ["call", "tool"], []],
  ] as const)("a grant for the %s, where the wire has %j, answers %j here and cuts them from the batch", async (grant, only, answered) => {
    const { agent, host, peer, first } = await granted(grant, [...only]);
    expect(first).toEqual({ call: "c1", decision: "allow", grant: only.some((word) => word === grant) ? grant : "call" });
    const seen = (await host.of("approval.requested", 2)).calls.map((call) => call.id);
    expect(seen).toEqual(["c2", "c3", "c4"].filter((id) => !answered.some((word) => word === id)));
    if (answered.length > 0) {
      expect((await peer.of("approval.answer", 2)).answers).toEqual(answered.map((call) => ({ call, decision: "allow", grant: "call" })));
    }
    await agent.close();
  });

  test("a batch that they cover whole is not shown to the host", async () => {
    const { agent, host, peer } = await granted("tool", ["call"]);
    await host.of("approval.requested", 2);
    peer.say(...calls(["c5", "Bash"]), { type: "notice", ...TURN, level: "info", text: "done" });
    await host.of("notice");
    expect((await peer.of("approval.answer", 3)).answers).toEqual([{ call: "c5", decision: "allow", grant: "call" }]);
    expect(host.types.filter((type) => type === "approval.requested")).toHaveLength(2);
    await agent.close();
  });

  test("changed arguments that the wire cannot carry become a denial, and grant nothing", async () => {
    const { agent, host, first } = await granted("tool", ["call"], { command: "ls" });
    expect(first).toEqual({ call: "c1", decision: "deny", reason: "this agent's protocol cannot carry changed arguments" });
    expect((await host.of("approval.requested", 2)).calls).toHaveLength(3);
    await agent.close();
  });

  test("are of one session", async () => {
    const { agent, host, peer } = await granted("tool", ["call"]);
    await host.of("approval.requested", 2);
    await agent.send({ type: "session.open", id: "ob", session: "b", open: "new" });
    await peer.of("session.open", 2);
    peer.say({ type: "session.ready", session: "b", parent: "ob" }, { type: "turn.started", session: "b", turn: "u" });
    peer.say({ type: "tool.requested", session: "b", turn: "u", call: { id: "c1", name: "Bash" } });
    peer.say({ type: "approval.requested", session: "b", turn: "u", calls: [{ id: "c1", name: "Bash" }] });
    expect(await host.of("approval.requested", 3)).toMatchObject({ session: "b" });
    await agent.close();
  });

  test("hold for an answer that names no session", async () => {
    const { agent, host, peer } = await running(lacking({ "approval.answer": { only: ["call"] } }));
    peer.say(...calls(["c1", "Bash"]));
    await host.of("approval.requested");
    await agent.send({ type: "approval.answer", answers: [{ call: "c1", decision: "allow", grant: "tool" }] });
    peer.say(...calls(["c2", "Bash"]));
    expect((await peer.of("approval.answer", 2)).answers).toEqual([{ call: "c2", decision: "allow", grant: "call" }]);
    await agent.close();
  });

  test("end with their session, whoever opens it again", async () => {
    const { agent, host, peer } = await granted("tool", ["call"]);
    await host.of("approval.requested", 2);
    peer.say({ type: "session.ended", session: "s" });
    await host.of("session.ended");
    await agent.send({ type: "session.open", id: "again", session: "s", open: "resume" });
    await peer.of("session.open", 2);
    peer.say({ type: "session.ready", session: "s", parent: "again" }, { type: "turn.started", session: "s", turn: "u" });
    peer.say({ type: "approval.requested", session: "s", turn: "u", calls: [{ id: "c9", name: "Bash" }] });
    expect(await host.of("approval.requested", 3)).toMatchObject({ calls: [{ id: "c9" }] });
    await agent.close();
  });

  test("do not come from a late answer", async () => {
    const { agent, host, peer } = await running(lacking({ "approval.answer": { only: ["call"] } }));
    peer.say(...calls(["c1", "Bash"]), { type: "tool.ended", ...TURN, call: "c1", status: "cancelled" });
    await host.of("tool.ended");
    await agent.send({ type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow", grant: "tool" }] });
    peer.say(...calls(["c2", "Bash"]));
    await host.of("approval.requested", 2);
    await agent.close();
  });
});

describe("what the agent's wire cannot say", () => {
  test("a ping is answered here", async () => {
    const { agent, host, peer } = driven(lacking({ ping: "none" }));
    await agent.send({ type: "ping", id: "x" });
    expect(await host.of("reply")).toMatchObject({ to: "ping", status: "ok", parent: "x" });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  test.each<[Op, string]>([
    [
      { type: "session.configure", id: "x", session: "s", patch: { model: "m", mode: "plan" } },
      "This agent's protocol cannot change model within a session",
    ],
    [{ type: "session.seed", id: "x", session: "s", text: "before" }, "This agent's protocol has no session.seed"],
    [{ type: "session.close", id: "x", session: "s" }, "This agent's protocol cannot close one session of many"],
    [{ type: "command.suggest", id: "x", session: "s", trigger: "at", text: "@" }, "This agent's protocol has no command.suggest"],
  ])("%j is refused, with a reply and a notice", async (op, message) => {
    const { agent, host, peer } = driven(
      lacking({ "session.configure": { only: ["mode"] }, "session.seed": "none", "session.close": "none", "command.suggest": "none" }),
    );
    await agent.send(op);
    expect(await host.of("notice")).toMatchObject({ session: "s", level: "warning", text: message });
    expect(await host.of("reply")).toMatchObject({
      session: "s",
      to: op.type,
      parent: "x",
      status: "error",
      fault: { code: "unsupported", message },
    });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  const open: OpOf<"session.open"> = { type: "session.open", id: "x", session: "s", open: "new" };
  const prompt: OpOf<"turn.prompt"> = { type: "turn.prompt", id: "x", session: "s", parts: [] };
  const calls = [{ name: "Read", args: { file_path: "a" } }];

  test.each<[Op, string]>([
    [{ ...open, open: "resume", fork: true }, "This agent's protocol cannot open a session with fork"],
    [{ ...open, config: { model: "m", directories: ["a"] } }, "This agent's protocol cannot open a session with directories"],
    [
      { ...open, config: { maxToolCalls: 1, maxSeconds: 1, nesting: 0 } },
      "This agent's protocol cannot open a session with maxToolCalls, maxSeconds, nesting",
    ],
    [{ ...open, config: { maxTurns: 5 } }, "This agent's protocol cannot open a session with maxTurns"],
    [
      { ...open, config: { mode: "plan", rules: [{ deny: "Bash" }], disallowedTools: ["Bash"] } },
      "This agent's protocol cannot open a session with deny and ask rules, plan mode, disallowedTools",
    ],
    [{ ...prompt, calls }, "This agent's protocol cannot take a prompt with calls"],
    [{ ...prompt, continues: true }, "This agent's protocol cannot take a prompt with continues"],
  ])("%j would be something else without its words, and is refused", async (op, message) => {
    const { agent, host, peer } = driven(lacking({ "session.open": { only: ["model"] }, "turn.prompt": { only: ["text"] } }));
    await agent.send(op);
    expect(await host.of("reply")).toMatchObject({ parent: "x", status: "error", fault: { code: "unsupported", message } });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });

  test.each<[Op]>([
    [{ ...open, open: "resume", fork: true, config: { directories: ["a"], nesting: 1 } }],
    [{ ...prompt, calls, continues: true, trace: "00-a-b-01" }],
  ])("%j goes out where the wire has its words", async (op) => {
    const only = ["fork", "directories", "nesting", "calls", "continues"];
    const { agent, peer } = driven(lacking({ "session.open": { only }, "turn.prompt": { only } }));
    await agent.send(op);
    expect(await peer.of(op.type)).toEqual(op);
    await agent.close();
  });

  test("what goes without saying is no reason to refuse: a trace, no calls, models that would answer in another's place", async () => {
    const { agent, peer } = driven(lacking({ "session.open": { only: ["model"] }, "turn.prompt": { only: ["text"] } }));
    await agent.send({ ...open, fork: false, config: { fallbackModels: ["m"] } });
    await agent.send({ ...prompt, calls: [], continues: false, trace: "00-a-b-01" });
    expect(await peer.of("turn.prompt")).toMatchObject({ id: "x" });
    await agent.close();
  });

  test("a steer waits as the next prompt, of a turn of its own", async () => {
    const { agent, host, peer } = await running(lacking({ "turn.steer": "none" }));
    await agent.send({ type: "turn.steer", id: "st", session: "s", turn: "t", parts: [{ type: "text", text: "left" }] });
    await quiet();
    expect(peer.heard.types).not.toContain("turn.steer");
    peer.say(ended);
    const prompt = await peer.of("turn.prompt", 2);
    expect(prompt).toEqual({ type: "turn.prompt", id: "st", session: "s", parts: [{ type: "text", text: "left" }] });
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("a steer with no turn does nothing, and says so", async () => {
    const { agent, host, peer } = driven(lacking({ "turn.steer": "none" }));
    await agent.send({ type: "turn.steer", id: "st", session: "s", parts: [] });
    expect(await host.of("reply")).toMatchObject({ status: "noop", parent: "st" });
    expect(peer.heard.types).toEqual([]);
    await agent.close();
  });
});

describe("what the agent's wire does not tell", () => {
  test("a catalogue: an empty one follows the session's ready, for hosts that wait for it", async () => {
    const { host } = await running(lacking({ "catalog.updated": "none" }));
    expect(host.types).toEqual(["session.ready", "catalog.updated", "turn.started"]);
    expect(host.heard.all[1]).toMatchObject({ session: "s", whole: true, skills: [], subagents: [], mcpServers: [], commands: [] });
  });

  test("where the wire has a word for it, it is the agent's", async () => {
    const { host } = await running();
    expect(host.types).toEqual(["session.ready", "turn.started"]);
  });
});

describe("a wire that holds one turn", () => {
  const one: Dialect = { ...native, oneTurn: true };
  const prompt = (n: number): Op => ({ type: "turn.prompt", id: `p${n}`, session: "s", turn: `t${n}`, parts: [] });
  const start = (n: number): Event => ({ type: "turn.started", session: "s", turn: `t${n}`, parent: `p${n}` });
  const end = (n: number): Event => ({ type: "turn.ended", session: "s", turn: `t${n}`, parent: `p${n}`, outcome: "completed" });

  async function opened() {
    const all = driven(one);
    await all.agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    all.peer.say({ type: "session.ready", session: "s", parent: "o" });
    await all.host.of("session.ready");
    return all;
  }

  test("gets prompts one after the other, in order, though they come before the turn has begun", async () => {
    const { agent, host, peer } = await opened();
    await Promise.all([1, 2, 3].map((n) => agent.send(prompt(n))));
    for (const n of [1, 2, 3]) {
      await peer.of("turn.prompt", n);
      await quiet();
      expect(peer.heard.types.filter((type) => type === "turn.prompt")).toHaveLength(n);
      // The next one comes just as this one ends.
      if (n === 3) await agent.send(prompt(4));
      peer.say(start(n), end(n));
      if (n === 2) void agent.send({ type: "ping" });
    }
    await peer.of("turn.prompt", 4);
    peer.say(start(4), end(4));
    await host.of("turn.ended", 4);
    expect(peer.heard.all.flatMap((op) => (op.type === "turn.prompt" ? [op.id] : []))).toEqual(["p1", "p2", "p3", "p4"]);
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("refuses at once what its wire cannot say, though it would have had to wait", async () => {
    const all = driven(lacking({ "turn.prompt": { only: ["text"] } }, { oneTurn: true }));
    await all.agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
    await all.agent.send(prompt(1));
    await all.agent.send({ type: "turn.prompt", id: "p2", session: "s", parts: [], continues: true });
    expect(await all.host.of("reply")).toMatchObject({ parent: "p2", status: "error", fault: { code: "unsupported" } });
    await all.agent.close();
  });

  test("a prompt that was refused makes room for the next", async () => {
    const { agent, peer } = await opened();
    await agent.send(prompt(1));
    await agent.send(prompt(2));
    await peer.of("turn.prompt");
    peer.say({ type: "reply", to: "turn.prompt", status: "error", parent: "p1", session: "s", fault: { code: "x", message: "no" } });
    expect((await peer.of("turn.prompt", 2)).id).toBe("p2");
    await agent.close();
  });

  test("a command that became a prompt keeps its room until its turn has ended", async () => {
    const { agent, host, peer } = await opened();
    await agent.send({ type: "turn.prompt", id: "p1", session: "s", turn: "t1", parts: [], command: { name: "greet" } });
    await agent.send(prompt(2));
    await peer.of("turn.prompt");
    const data = { command: { name: "greet" }, result: { type: "submit_prompt" } };
    peer.say({ type: "reply", to: "turn.prompt", status: "ok", parent: "p1", session: "s", data }, start(1));
    await host.of("turn.started");
    await quiet();
    expect(peer.heard.types.filter((type) => type === "turn.prompt")).toHaveLength(1);
    peer.say(end(1));
    expect((await peer.of("turn.prompt", 2)).id).toBe("p2");
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("lets 64 prompts wait and refuses the next", async () => {
    const { agent, host, peer } = await opened();
    for (let n = 0; n <= 65; n++) await agent.send(prompt(n));
    expect(await host.of("reply")).toMatchObject({
      to: "turn.prompt",
      parent: "p65",
      status: "error",
      fault: { code: "limit", retryable: true },
    });
    for (let n = 0; n <= 64; n++) {
      await peer.of("turn.prompt", n + 1);
      peer.say(start(n), end(n));
    }
    await host.of("turn.ended", 65);
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("an interrupt that names a waiting prompt ends it when its time comes, and the agent never sees it", async () => {
    const { agent, host, peer } = await opened();
    for (const n of [1, 2, 3]) await agent.send(prompt(n));
    peer.say(start(1));
    await host.of("turn.started");
    await agent.send({ type: "turn.interrupt", id: "i", session: "s", turn: "t2" });
    expect(await host.of("reply")).toMatchObject({ parent: "i", status: "ok" });
    peer.say(end(1));
    await peer.of("turn.prompt", 2);
    peer.say(start(3), end(3));
    await host.of("turn.ended", 3);
    expect(peer.heard.all.flatMap((op) => (op.type === "turn.prompt" ? [op.id] : []))).toEqual(["p1", "p3"]);
    expect(
      host.heard.all
        .filter((event): event is EventOf<"turn.ended"> => event.type === "turn.ended")
        .map((event) => [event.turn, event.outcome]),
    ).toEqual([
      ["t1", "completed"],
      ["t2", "interrupted"],
      ["t3", "completed"],
    ]);
    expect(host.violations).toEqual([]);
    await agent.close();
  });

  test("prompts that wait are answered when the agent is gone", async () => {
    const { agent, host, peer } = await opened();
    await agent.send(prompt(1));
    await agent.send(prompt(2));
    peer.say(start(1));
    await host.of("turn.started");
    peer.leave();
    await host.done;
    expect(host.heard.all.filter((event) => event.type === "reply").map((event) => event.parent)).toEqual(["p2"]);
    expect(host.types.filter((type) => type === "turn.ended")).toHaveLength(1);
  });
});

describe("shutting down", () => {
  test("drained denies what waits, lets the turn end, and then closes the agent's input", async () => {
    const { agent, host, peer } = await running();
    peer.say(...asks("c1"));
    await host.of("approval.requested");
    await agent.send({ type: "shutdown", when: "drained" });
    expect((await peer.of("approval.answer")).answers).toEqual([{ call: "c1", decision: "deny", reason: "the host closed its input" }]);
    peer.say({ type: "tool.ended", ...TURN, call: "c1", status: "denied" }, ...asks("c2"), {
      type: "host.request",
      ...TURN,
      request: "r",
      kind: "tool",
    });
    expect((await peer.of("approval.answer", 2)).answers[0]).toMatchObject({ call: "c2", decision: "deny" });
    expect(await peer.of("host.answer")).toMatchObject({ request: "r", ok: false });
    await quiet();
    expect(peer.heard.ended).toBe(false);
    peer.say({ type: "tool.ended", ...TURN, call: "c2", status: "denied" }, ended);
    await host.of("turn.ended");
    await quiet();
    expect(peer.heard.ended).toBe(true);
    expect(peer.heard.types).not.toContain("shutdown");
    peer.leave();
    await host.done;
    expect(host.violations).toEqual([]);
  });

  test("drained with nothing to do closes the agent's input at once", async () => {
    const { agent, host, peer } = driven();
    await agent.send({ type: "shutdown", when: "drained" });
    await quiet();
    expect(peer.heard.ended).toBe(true);
    peer.leave();
    await host.done;
    expect(host.types).toEqual(["closed"]);
  });

  test("drained lets prompts go first that were sent before", async () => {
    const { agent, host, peer } = driven();
    void agent.send({ type: "turn.prompt", id: "p", session: "s", parts: [] });
    void agent.send({ type: "shutdown", when: "drained" });
    await peer.of("turn.prompt");
    await quiet();
    expect(peer.heard.ended).toBe(false);
    peer.say({ type: "session.ready", session: "s" }, { type: "turn.started", ...TURN, parent: "p" }, ended);
    await host.of("turn.ended");
    await quiet();
    expect(peer.heard.ended).toBe(true);
    await agent.close();
  });

  test("now says it on the wire, and ends an agent that does not leave", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { agent, host, peer } = await running();
    await agent.send({ type: "shutdown", when: "now" });
    expect(await peer.of("shutdown")).toMatchObject({ when: "now" });
    await quiet();
    expect(host.types).not.toContain("closed");
    vi.advanceTimersByTime(60_000);
    await host.done;
    expect(host.types.slice(-4)).toEqual(["error", "turn.ended", "session.ended", "closed"]);
    expect(host.violations).toEqual([]);
  });

  test("now interrupts and ends an agent whose wire has no word for it", async () => {
    const { agent, host, peer } = await running(lacking({ shutdown: "none" }));
    await agent.send({ type: "shutdown", when: "now" });
    await host.done;
    expect(peer.heard.types.slice(-1)).toEqual(["turn.interrupt"]);
    expect(host.types.slice(-3)).toEqual(["turn.ended", "session.ended", "closed"]);
  });

  test("now gets through to an agent that does not read", async () => {
    const stuck = stuckTransport();
    const agent = connect(native, () => stuck);
    const host = new Listener(agent);
    void agent.send({ type: "turn.prompt", session: "s", parts: [] });
    void agent.send({ type: "turn.prompt", session: "s", parts: [] });
    await quiet();
    await agent.send({ type: "shutdown", when: "now" });
    expect(stuck.written.at(-1)).toMatchObject({ type: "shutdown" });
    await agent.close();
    await host.done;
  });

  test("close ends an agent that does not read, and answers what never went out", async () => {
    const stuck = stuckTransport();
    const agent = connect(native, () => stuck);
    const host = new Listener(agent);
    void agent.send({ type: "turn.prompt", id: "p1", session: "s", parts: [] });
    void agent.send({ type: "turn.interrupt", id: "i", session: "s" });
    await quiet();
    await agent.close();
    await host.done;
    expect(host.heard.all.map((event) => [event.type, event.parent])).toEqual([
      ["reply", "p1"],
      ["reply", "i"],
      ["closed", undefined],
    ]);
    await agent.close();
  });

  test("close before the dialling is done leaves nothing behind", async () => {
    const [near, far] = memoryPair();
    let dialled: (transport: Transport) => void = () => {};
    const agent = connect(native, () => new Promise<Transport>((resolve) => (dialled = resolve)));
    const host = new Listener(agent);
    await quiet();
    const closed = agent.close();
    await quiet();
    dialled(near);
    await closed;
    await host.done;
    await far.closed;
    expect(host.types).toEqual(["closed"]);
  });

  test("close before anything was dialled dials nothing", async () => {
    let dials = 0;
    const agent = connect(native, () => {
      dials++;
      return memoryPair()[0];
    });
    const host = new Listener(agent);
    await agent.close();
    await host.done;
    await quiet();
    expect(dials).toBe(0);
  });
});

/** One whose writes never get through until it is ended. */
function stuckTransport(): Transport & { written: unknown[] } {
  const [near] = memoryPair();
  const written: unknown[] = [];
  return {
    ...near,
    written,
    write(records) {
      written.push(...records);
      return near.closed.then(() => undefined);
    },
  };
}

/** A wire with a process a session: its open is a launch. */
const perSession: Dialect = lacking(
  { "session.close": "none", shutdown: "none" },
  {
    lifetime: "session",
    hostSide: (env) => {
      const side = native.hostSide(env);
      return {
        ...side,
        write: (op) => {
          const step = side.write(op);
          return op.type === "session.open" ? { in: step.in, out: [{ launch: { argv: [op.session], env: {} } }, ...step.out] } : step;
        },
      };
    },
  },
);

describe("a connection a session", () => {
  function dialled() {
    const peers = new Map<string, Peer<Op>>();
    const agent = connect(perSession, (launch: Launch) => {
      const [near, far] = memoryPair();
      peers.set(launch.argv[0] ?? "", new Peer<Op>(far));
      return near;
    });
    return { agent, peers, host: new Listener(agent) };
  }

  async function open(agent: Agent, peers: Map<string, Peer<Op>>, session: string): Promise<Peer<Op>> {
    await agent.send({ type: "session.open", id: `o-${session}`, session, open: "new" });
    const peer = peers.get(session);
    if (peer === undefined) throw new Error("nothing was dialled");
    peer.say({ type: "session.ready", session, parent: `o-${session}` });
    return peer;
  }

  test("dials for each, routes by session, and goes on when one of them is gone", async () => {
    const { agent, peers, host } = dialled();
    const [a, b] = [await open(agent, peers, "a"), await open(agent, peers, "b")];
    await agent.send({ type: "turn.prompt", session: "b", parts: [] });
    await b.of("turn.prompt");
    expect(a.heard.types).toEqual(["session.open"]);
    await host.of("session.ready", 2);
    a.leave();
    expect(await host.of("session.ended")).toMatchObject({ session: "a" });
    await agent.send({ type: "turn.prompt", id: "late", session: "a", parts: [] });
    expect(await host.of("reply")).toMatchObject({ parent: "late", status: "error", fault: { message: "There is no session 'a'" } });
    expect(host.types).not.toContain("closed");
    await agent.close();
    await host.done;
    expect(host.types.at(-1)).toBe("closed");
    expect(host.violations).toEqual([]);
  });

  test("without any session, nothing is silent", async () => {
    const { agent, host } = dialled();
    await agent.send({ type: "ping", id: "a" });
    await agent.send({ type: "turn.prompt", id: "b", parts: [] });
    await agent.send({ type: "session.list", id: "c" });
    await agent.send({ type: "shutdown", when: "drained" });
    await host.done;
    expect(host.heard.all.map((event) => [event.type, event.parent, event.type === "reply" && event.status])).toEqual([
      ["reply", "a", "ok"],
      ["reply", "b", "error"],
      ["reply", "c", "error"],
      ["closed", undefined, false],
    ]);
  });

  test("an op without a session means the only one there is", async () => {
    const { agent, peers } = dialled();
    const a = await open(agent, peers, "a");
    await agent.send({ type: "turn.prompt", parts: [] });
    await a.of("turn.prompt");
    await agent.close();
  });

  test("closes a session by ending its process", async () => {
    const { agent, peers, host } = dialled();
    const a = await open(agent, peers, "a");
    await host.of("session.ready");
    await agent.send({ type: "session.close", id: "x", session: "a" });
    expect(await host.of("session.ended")).toMatchObject({ session: "a" });
    await quiet();
    expect(a.heard.ended).toBe(true);
    expect(host.types).not.toContain("closed");
    await agent.close();
  });

  test("a process that cannot be started answers its open, and the connection lives", async () => {
    const agent = connect(perSession, () => Promise.reject(new Error("no such program")));
    const host = new Listener(agent);
    await agent.send({ type: "session.open", id: "o", session: "a", open: "new" });
    expect(await host.of("reply")).toMatchObject({ parent: "o", status: "error", fault: { message: "no such program" } });
    expect(host.types).not.toContain("closed");
    await agent.close();
  });

  test("shutting down drains each of them, then it is closed", async () => {
    const { agent, peers, host } = dialled();
    const [a, b] = [await open(agent, peers, "a"), await open(agent, peers, "b")];
    await host.of("session.ready", 2);
    await agent.send({ type: "shutdown", when: "drained" });
    await agent.send({ type: "session.open", id: "late", session: "c", open: "new" });
    expect(await host.of("reply")).toMatchObject({ parent: "late", fault: { message: "The agent is shutting down" } });
    await quiet();
    expect([a.heard.ended, b.heard.ended]).toEqual([true, true]);
    a.leave();
    await host.of("session.ended");
    expect(host.types).not.toContain("closed");
    b.leave();
    await host.done;
    expect(host.types.at(-1)).toBe("closed");
  });
});

/** A wire with a process a turn: a prompt is a launch, and the end of the process is the end of the turn. */
function perTurn(onEnd: (closed: Closed) => void = () => {}): Dialect {
  return lacking(
    { "session.close": "none", shutdown: "none" },
    {
      lifetime: "turn",
      oneTurn: true,
      hostSide: () => {
        let turn: { session?: string; turn: string; parent?: string } | undefined;
        return {
          read: () => ({ in: [], out: [] }),
          write(op) {
            if (op.type === "session.open") return { in: [{ type: "session.ready", session: op.session, parent: op.id }], out: [] };
            if (op.type !== "turn.prompt") return { in: [], out: [] };
            turn = {
              turn: op.turn ?? "",
              ...(op.session !== undefined && { session: op.session }),
              ...(op.id !== undefined && { parent: op.id }),
            };
            return { in: [{ type: "turn.started", ...turn }], out: [{ launch: { argv: [turn.turn], env: {} } }] };
          },
          end(closed) {
            onEnd(closed);
            const events: Event[] = turn === undefined ? [] : [{ type: "turn.ended", ...turn, outcome: "completed" }];
            turn = undefined;
            return { in: events, out: [] };
          },
        };
      },
    },
  );
}

describe("an agent that has closed its output", () => {
  /** It closes its output when its input ends, and exits as it is told. */
  function closing(): { transport: Transport; closes: string[]; quiet: Promise<Closed>; exit(closed: Closed): void } {
    const [eof, exit] = [deferred(), deferred()];
    const closes: string[] = [];
    const transport: Transport = {
      // eslint-disable-next-line require-yield
      frames: (async function* () {
        await eof.promise;
      })(),
      write: () => {},
      close(how) {
        closes.push(how);
        eof.resolve({});
        if (how === "term") exit.resolve({ code: null, signal: "SIGTERM" });
      },
      closed: exit.promise,
    };
    return { transport, closes, quiet: eof.promise, exit: exit.resolve };
  }

  test("exits by itself, and its exit counts", async () => {
    const { transport, closes, quiet: isQuiet, exit } = closing();
    const agent = connect(native, () => transport);
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    await agent.send({ type: "shutdown", when: "drained" });
    await isQuiet;
    await quiet();
    expect(closes).not.toContain("term");
    exit({ code: 0, signal: null });
    await host.done;
    expect(host.heard.all.at(-1)).toMatchObject({ type: "closed", code: 0 });
  });

  test("is ended when it lingers, and the end says why", async () => {
    const { transport } = closing();
    const agent = connect(native, () => transport, { exitSeconds: 0.01 });
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    await agent.send({ type: "shutdown", when: "drained" });
    await host.done;
    expect(host.heard.all.at(-1)).toMatchObject({ type: "closed", signal: "SIGTERM", reason: expect.stringContaining("did not exit") });
  });
});

describe("a process a turn", () => {
  test("dials for each prompt, one after the other, and drains", async () => {
    const peers: Peer<Op>[] = [];
    const agent = connect(perTurn(), () => {
      const [near, far] = memoryPair();
      peers.push(new Peer<Op>(far));
      return near;
    });
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    for (const n of [1, 2]) await agent.send({ type: "turn.prompt", session: "s", turn: `t${n}`, parts: [] });
    await agent.send({ type: "shutdown", when: "drained" });
    await host.of("turn.started");
    expect(peers).toHaveLength(1);
    peers[0]?.leave();
    await host.of("turn.started", 2);
    await quiet();
    expect(peers).toHaveLength(2);
    peers[1]?.leave();
    await host.done;
    expect(host.types).toEqual(["session.ready", "turn.started", "turn.ended", "turn.started", "turn.ended", "session.ended", "closed"]);
    expect(host.violations).toEqual([]);
  });

  test("one that had to be ended says nothing about the next", async () => {
    const ends: Closed[] = [];
    const dialect = perTurn((closed) => ends.push(closed));
    const stop = deferred();
    const lingering: Transport = {
      frames: (async function* () {})(),
      write: () => {},
      close: (how) => (how === "term" ? stop.resolve({ code: null, signal: "SIGTERM" }) : undefined),
      closed: stop.promise,
    };
    const dialled = [lingering, memoryPair()[0]];
    const agent = connect(dialect, () => dialled.shift() ?? expect.fail("dialled too often"), { exitSeconds: 0.01 });
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    for (const n of [1, 2]) await agent.send({ type: "turn.prompt", session: "s", turn: `t${n}`, parts: [] });
    await host.of("turn.started", 2);
    await agent.close();
    await host.done;
    expect(ends.map(({ reason }) => reason)).toEqual([expect.stringContaining("did not exit within"), undefined]);
  });

  test("is closed between turns without a word to a process that is gone", async () => {
    const agent = connect(perTurn(), () => memoryPair()[0]);
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    await host.of("session.ready");
    await agent.send({ type: "shutdown", when: "now" });
    await host.done;
    expect(host.types).toEqual(["session.ready", "session.ended", "closed"]);
  });
});
