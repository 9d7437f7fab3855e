import { describe, expect, test } from "vitest";
import { Listener, Peer, quiet } from "../../test/support/wires.js";
import type { Agent } from "../core/agent.js";
import type { Closed, Event } from "../core/event.js";
import type { Op } from "../core/op.js";
import type { Launch, Transport } from "../core/wire.js";
import type { Dialect } from "../dialects/dialect.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { connect } from "./connect.js";
import { lacking, deferred } from "../../test/support/driven-agent.js";

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

  test("each session has a transport of its own, and the others go on when one is gone", async () => {
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

  test("an agent that has closed its output exits by itself, and its exit counts", async () => {
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

  test("an agent that has closed its output and stays is ended, with the reason", async () => {
    const { transport } = closing();
    const agent = connect(native, () => transport, { exitSeconds: 0.01 });
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    await agent.send({ type: "shutdown", when: "drained" });
    await host.done;
    expect(host.heard.all.at(-1)).toMatchObject({ type: "closed", signal: "SIGTERM", reason: expect.stringContaining("did not exit") });
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

describe("a process a turn", () => {
  test("each prompt starts a process, one after another, and the connection drains", async () => {
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

  test("the end of one turn's process does not affect the next turn", async () => {
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

  test("the connection closes between turns without writing to a process that is gone", async () => {
    const agent = connect(perTurn(), () => memoryPair()[0]);
    const host = new Listener(agent);
    await agent.send({ type: "session.open", session: "s", open: "new" });
    await host.of("session.ready");
    await agent.send({ type: "shutdown", when: "now" });
    await host.done;
    expect(host.types).toEqual(["session.ready", "session.ended", "closed"]);
  });
});
