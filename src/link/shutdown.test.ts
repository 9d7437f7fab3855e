import { afterEach, describe, expect, test, vi } from "vitest";
import { Listener, quiet } from "../../test/support/wires.js";
import type { Transport } from "../core/wire.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { connect } from "./connect.js";
import { TURN, lacking, driven, running, asks, ended } from "../../test/support/driven-agent.js";

afterEach(() => {
  vi.useRealTimers();
});

describe("shutting down", () => {
  test("shutdown drained denies open approvals, lets the turn end, and then closes the agent's input", async () => {
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

  test("shutdown drained without work closes the agent's input at once", async () => {
    const { agent, host, peer } = driven();
    await agent.send({ type: "shutdown", when: "drained" });
    await quiet();
    expect(peer.heard.ended).toBe(true);
    peer.leave();
    await host.done;
    expect(host.types).toEqual(["closed"]);
  });

  test("shutdown drained first lets earlier prompts run", async () => {
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

  test("shutdown now is written to the wire, and ends an agent that does not exit", async () => {
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

  test("shutdown now interrupts and ends an agent whose wire lacks it", async () => {
    const { agent, host, peer } = await running(lacking({ shutdown: "none" }));
    await agent.send({ type: "shutdown", when: "now" });
    await host.done;
    expect(peer.heard.types.slice(-1)).toEqual(["turn.interrupt"]);
    expect(host.types.slice(-3)).toEqual(["turn.ended", "session.ended", "closed"]);
  });

  test("shutdown now ends an agent that does not read", async () => {
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
