import { afterEach, describe, expect, test, vi } from "vitest";
import { quiet } from "../../test/support/wires.js";
import type { Event } from "../core/event.js";
import { native } from "../dialects/native/index.js";
import { TURN, lacking, driven, running, asks } from "../../test/support/driven-agent.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("deadlines", () => {
  test("an approval without an answer is denied at its deadline, with the reason", async () => {
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

  test("an answered approval, or one that the agent settled, is not denied at its deadline", async () => {
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

  test("the deadline in an attached session is left to its owner", async () => {
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

  test("the opener of a session sets its deadlines", async () => {
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

  test("a deadline longer than a timer can be does not expire at once", async () => {
    const { agent, host, peer } = await running(native, { answerSeconds: 1e9 });
    peer.say(...asks("c1"));
    await host.of("approval.requested");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(peer.heard.types).not.toContain("approval.answer");
    await agent.close();
  });

  test("two sessions with the same call id have a deadline each", async () => {
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

test("an agent that starts a call without waiting for the answer has settled the question, which is told first", async () => {
  const { agent, host, peer } = await running(native);
  peer.say(...asks("c1", "c2"));
  await host.of("approval.requested");
  await agent.send({ type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow" }] });
  await peer.of("approval.answer");
  peer.say({ type: "tool.started", ...TURN, call: "c1" }, { type: "tool.started", ...TURN, call: "c2" });
  await host.of("tool.started", 2);
  expect(host.heard.all.filter(({ type }) => type === "approval.settled" || type === "tool.started")).toMatchObject([
    { type: "tool.started", call: "c1" },
    { type: "approval.settled", call: "c2", decision: "allow", reason: expect.stringContaining("did not wait") },
    { type: "tool.started", call: "c2" },
  ]);
  await agent.close();
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

  test("a batch that grants cover whole is not shown to the host", async () => {
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

  test("a grant holds in one session", async () => {
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

  test("a grant counts if its answer names no session", async () => {
    const { agent, host, peer } = await running(lacking({ "approval.answer": { only: ["call"] } }));
    peer.say(...calls(["c1", "Bash"]));
    await host.of("approval.requested");
    await agent.send({ type: "approval.answer", answers: [{ call: "c1", decision: "allow", grant: "tool" }] });
    peer.say(...calls(["c2", "Bash"]));
    expect((await peer.of("approval.answer", 2)).answers).toEqual([{ call: "c2", decision: "allow", grant: "call" }]);
    await agent.close();
  });

  test("a grant ends with its session, even if the session is opened again", async () => {
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

  test("a late answer grants nothing", async () => {
    const { agent, host, peer } = await running(lacking({ "approval.answer": { only: ["call"] } }));
    peer.say(...calls(["c1", "Bash"]), { type: "tool.ended", ...TURN, call: "c1", status: "cancelled" });
    await host.of("tool.ended");
    await agent.send({ type: "approval.answer", session: "s", answers: [{ call: "c1", decision: "allow", grant: "tool" }] });
    peer.say(...calls(["c2", "Bash"]));
    await host.of("approval.requested", 2);
    await agent.close();
  });
});
