import { describe, expect, test } from "vitest";
import { Peer, ScriptedAgent, type Script } from "../../test/support/wires.js";
import type { Event } from "../core/event.js";
import type { Op } from "../core/op.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { relay, type KnownSession, type SessionMap } from "./relay.js";
import { serve } from "./serve.js";

const TURN = { session: "s", turn: "t" };

const chat: Script = {
  "session.open": (op, agent) =>
    void agent.tell({ type: "session.ready", session: op.session, sessionId: "theirs", ...(op.id !== undefined && { parent: op.id }) }),
  "turn.prompt": (op, agent) =>
    void agent.tell(
      { type: "turn.started", ...TURN, ...(op.id !== undefined && { parent: op.id }) },
      { type: "tool.requested", ...TURN, call: { id: "c", name: "Bash" } },
      { type: "approval.requested", ...TURN, calls: [{ id: "c", name: "Bash" }] },
    ),
  "approval.answer": (op, agent) =>
    void agent.tell(
      { type: "tool.started", ...TURN, call: "c" },
      { type: "tool.ended", ...TURN, call: "c", status: op.answers[0]?.decision === "allow" ? "ok" : "denied" },
      { type: "turn.ended", ...TURN, outcome: "completed" },
    ),
};

/** host — relay — agent, both wires native, all in memory. */
function chain(script: Script, options: { sessions?: SessionMap } = {}) {
  const violations: string[] = [];
  const agent = new ScriptedAgent(script);
  const [hostEnd, relayEnd] = memoryPair();
  const { closed } = relay({
    as: native,
    transport: relayEnd,
    drive: native,
    dial: () => {
      const [near, far] = memoryPair();
      void serve(agent, native, far);
      return near;
    },
    onViolation: (violation) => violations.push(violation),
    ...options,
  });
  return { agent, host: new Peer<Event>(hostEnd), closed, violations };
}

describe("a relay", () => {
  test("carries a whole conversation, and ends with its host", async () => {
    const { agent, host, closed, violations } = chain(chat);
    host.say({ type: "session.open", id: "o", session: "s", open: "new" }, { type: "turn.prompt", id: "p", session: "s", parts: [] });
    await host.of("approval.requested");
    host.say({ type: "approval.answer", session: "s", answers: [{ call: "c", decision: "allow" }] });
    await host.of("turn.ended");
    host.leave();
    await closed;
    await host.of("closed");
    expect(host.heard.types).toEqual([
      "session.ready",
      "turn.started",
      "tool.requested",
      "approval.requested",
      "tool.started",
      "tool.ended",
      "turn.ended",
      "session.ended",
      "closed",
    ]);
    expect(violations).toEqual([]);
    expect(agent.taken.types).toEqual(["session.open", "turn.prompt", "approval.answer", "shutdown"]);
  });

  test("a relay that checks reports each breach of the grammar", async () => {
    const { host, closed, violations } = chain({
      ...chat,
      "turn.prompt": (_op, agent) =>
        void agent.tell(
          { type: "turn.started", ...TURN },
          { type: "tool.requested", ...TURN, call: { id: "c", name: "Bash" } },
          { type: "approval.requested", ...TURN, calls: [{ id: "c", name: "Bash" }] },
          { type: "tool.started", ...TURN, call: "c" },
          { type: "text.delta", ...TURN, text: "a" },
          { type: "turn.ended", ...TURN, outcome: "completed" },
        ),
    });
    host.say({ type: "session.open", session: "s", open: "new" }, { type: "turn.prompt", session: "s", parts: [] });
    await host.of("turn.ended");
    host.leave();
    await closed;
    expect(violations).toEqual([
      "rule 5: call c started before its approval was answered",
      "rule 3: turn t ended inside an open text block",
      "rule 4: turn t ended before call c",
    ]);
  });

  test("a relay whose onlooker throws reports it, and leaves no agent behind", async () => {
    const [, relayEnd] = memoryPair();
    const [near, far] = memoryPair();
    const { closed } = relay({
      as: native,
      transport: relayEnd,
      drive: native,
      dial: () => near,
      onEvent: () => {
        throw new Error("the onlooker broke");
      },
    });
    const agent = new Peer<Op>(far);
    agent.say({ type: "notice", level: "info", text: "hello" });
    await expect(closed).rejects.toThrow("the onlooker broke");
    expect(agent.heard.types).toEqual(["shutdown"]);
    expect(await near.closed).toEqual({});
  });

  test("shows the host its own handle, finds the agent's session behind it again, and knows its model", async () => {
    const known = new Map<string, KnownSession>();
    const { agent, host, closed } = chain(chat, {
      sessions: { get: (name) => known.get(name), set: (name, id) => known.set(name, id).size > 0 },
    });
    host.say({ type: "session.open", session: "mine", open: "new", config: { model: "m", provider: "p" } });
    expect(await host.of("session.ready")).toMatchObject({ session: "mine", sessionId: "mine" });
    host.say({ type: "session.open", session: "again", open: "resume", sessionId: "mine" } satisfies Op);
    expect(await agent.of("session.open", 2)).toMatchObject({ sessionId: "theirs" });
    expect(await host.of("session.ready", 2)).toMatchObject({ config: { model: "m", provider: "p" } });
    host.leave();
    await closed;
  });

  test("gives a copy a name of its own: the original's still means the original", async () => {
    const known = new Map<string, KnownSession>([["mine", { sessionId: "theirs", model: "m" }]]);
    const { agent, host, closed } = chain(
      {
        ...chat,
        "session.open": (op, self) =>
          void self.tell({
            type: "session.ready",
            session: op.session ?? "",
            sessionId: op.fork === true ? "their copy" : "theirs",
            parent: op.id,
          }),
      },
      { sessions: { get: (name) => known.get(name), set: (name, id) => known.set(name, id).size > 0 } },
    );
    host.say({ type: "session.open", id: "f", session: "copy", open: "resume", sessionId: "mine", fork: true } satisfies Op);
    expect(await agent.of("session.open")).toMatchObject({ sessionId: "theirs", fork: true });
    expect(await host.of("session.ready")).toMatchObject({ session: "copy", sessionId: "copy" });
    expect([...known]).toEqual([
      ["mine", { sessionId: "theirs", model: "m" }],
      ["copy", { sessionId: "their copy", model: "m" }],
    ]);
    host.leave();
    await closed;
  });

  test("ends the agent at once when its host is gone", async () => {
    const { agent, host, closed } = chain({ ...chat, "turn.prompt": (_op, self) => void self.tell({ type: "turn.started", ...TURN }) });
    host.say({ type: "session.open", session: "s", open: "new" }, { type: "turn.prompt", session: "s", parts: [] });
    await host.of("turn.started");
    host.leave("term");
    await closed;
    expect(await agent.of("shutdown")).toMatchObject({ when: "now" });
  });
});
