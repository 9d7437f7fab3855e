import { describe, expect, test } from "vitest";
import { quiet } from "../../test/support/wires.js";
import type { Event, EventOf } from "../core/event.js";
import type { Op } from "../core/op.js";
import type { Dialect } from "../dialects/dialect.js";
import { native } from "../dialects/native/index.js";
import { lacking, driven } from "../../test/support/driven-agent.js";

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

  test("prompts go out one after another and in order, even before the first turn has begun", async () => {
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

  test("a prompt that the wire cannot carry is refused at once, without waiting for its turn", async () => {
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

  test("64 prompts may wait, and the next one is refused", async () => {
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
