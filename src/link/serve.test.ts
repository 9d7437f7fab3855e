import { describe, expect, test } from "vitest";
import { Peer, ScriptedAgent, quiet, type Script } from "../../test/support/wires.js";
import type { Closed, Event } from "../core/event.js";
import { QUESTION_BYTES } from "../core/limits.js";
import { CONTROL_LIMIT } from "../core/queue.js";
import type { Frame, Transport } from "../core/wire.js";
import type { Dialect } from "../dialects/dialect.js";
import { native } from "../dialects/native/index.js";
import { memoryPair } from "../transports/memory.js";
import { serve, type ServeOptions } from "./serve.js";

const TURN = { session: "s", turn: "t" };

/** Opens, and answers a prompt with one word. */
const chat: Script = {
  "session.open": (op, agent) =>
    void agent.tell({ type: "session.ready", session: op.session, ...(op.id !== undefined && { parent: op.id }) }),
  "turn.prompt": (_op, agent) =>
    void agent.tell(
      { type: "turn.started", ...TURN },
      { type: "text.done", ...TURN, text: "hello" },
      { type: "turn.ended", ...TURN, outcome: "completed" },
    ),
  ping: (op, agent) => void agent.tell({ type: "reply", to: "ping", status: "ok", ...(op.id !== undefined && { parent: op.id }) }),
};

function served(script: Script = chat, options: { dialect?: Dialect; listens?: boolean } & ServeOptions = {}) {
  const agent = new ScriptedAgent(script);
  const [near, far] = memoryPair();
  const closed: Promise<Closed> = serve(agent, options.dialect ?? native, near, options);
  return { agent, host: new Peer<Event>(far, options.listens ?? true), closed };
}

describe("a served agent", () => {
  test("hears ops, each with an id, and is heard, to its end", async () => {
    const { agent, host, closed } = served();
    host.say({ type: "session.open", id: "o1", session: "s", open: "new" }, { type: "turn.prompt", session: "s", parts: [] });
    await host.of("turn.ended");
    host.leave();
    expect(await closed).toMatchObject({ code: 0 });
    await host.of("closed");
    expect(host.heard.types).toEqual(["session.ready", "turn.started", "text.done", "turn.ended", "closed"]);
    expect(agent.taken.types).toEqual(["session.open", "turn.prompt", "shutdown"]);
    expect(agent.taken.all[0]?.id).toBe("o1");
    for (const op of agent.taken.all) expect(op.id).toEqual(expect.stringMatching(/./));
  });

  test("is told at the end of input to drain, and the host hears what it still says", async () => {
    const { agent, host, closed } = served({ shutdown: () => {} });
    host.leave();
    expect(await agent.of("shutdown")).toMatchObject({ when: "drained" });
    void agent.tell({ type: "turn.started", ...TURN }, { type: "turn.ended", ...TURN, outcome: "completed" });
    await agent.close();
    await closed;
    await host.of("closed");
    expect(host.heard.types).toEqual(["turn.started", "turn.ended", "closed"]);
  });

  test("is told to leave at once when nobody listens any more", async () => {
    const whens: string[] = [];
    const { host, closed } = served({
      shutdown: async (op, agent) => {
        whens.push(op.when);
        if (op.when === "now") await agent.close();
      },
    });
    host.leave("term");
    await closed;
    expect(whens).toContain("now");
  });

  test("does not see a bad line; the host gets its answer, and the next line is heard", async () => {
    const { agent, host, closed } = served();
    host.say({ type: "nonsense", id: "n" }, ["a list"], { type: "turn.prompt", id: "p", session: "s" }, { type: "ping", id: "ok" });
    await host.of("reply", 4);
    expect(host.heard.all.map((event) => event.type === "reply" && [event.parent, event.status, event.fault?.message])).toEqual([
      ["n", "error", "Unknown op type: nonsense"],
      [undefined, "error", 'A line must be a JSON object with a "type"; this one is an array'],
      ["p", "error", 'Invalid turn.prompt: parts: Expected "parts" but received undefined'],
      ["ok", "ok", undefined],
    ]);
    expect(agent.taken.types).toEqual(["ping"]);
    host.leave();
    await closed;
  });

  test("waits for a slow host, and says everything once it reads", async () => {
    let told = 0;
    const { agent, host, closed } = served(
      {
        "turn.prompt": async (_op, self) => {
          void self.tell({ type: "session.ready", session: "s" }, { type: "turn.started", ...TURN });
          for (; told < 2000; told++) await self.tell({ type: "notice", ...TURN, level: "info", text: "x".repeat(1000) });
          void self.tell({ type: "turn.ended", ...TURN, outcome: "completed" });
        },
      },
      { listens: false },
    );
    host.say({ type: "turn.prompt", session: "s", parts: [] });
    await agent.of("turn.prompt");
    await quiet();
    expect(told).toBeLessThan(600);
    void host.listen();
    await host.of("turn.ended");
    expect(host.heard.types.filter((type) => type === "notice")).toHaveLength(2000);
    host.leave();
    await closed;
  });

  test("hears control behind a host that does not read", async () => {
    const { agent, host, closed } = served(
      {
        ...chat,
        "turn.prompt": (_op, self) => {
          void (async () => {
            for (let n = 0; n < 1000; n++) await self.tell({ type: "notice", level: "info", text: "x".repeat(1000) });
          })();
        },
      },
      { listens: false },
    );
    host.say({ type: "turn.prompt", session: "s", parts: [] });
    await quiet();
    host.say({ type: "turn.interrupt", session: "s" }, { type: "ping", id: "late" }, { type: "approval.answer", answers: [] });
    await agent.of("approval.answer");
    expect(agent.taken.types).toEqual(["turn.prompt", "turn.interrupt", "ping", "approval.answer"]);
    void host.listen();
    await host.of("reply");
    host.leave();
    await closed;
  });

  test("does not let a host that never reads pile up answers", async () => {
    const lines = 6000;
    let read = 0;
    const [near, far] = memoryPair();
    const counted: Transport = { ...near, frames: count(near.frames, () => read++) };
    const agent = new ScriptedAgent();
    const closed = serve(agent, native, counted);
    const host = new Peer<Event>(far, false);
    for (let n = 0; n < lines; n++) host.say({ type: "nonsense", id: String(n) });
    await quiet();
    expect(read).toBeGreaterThan(CONTROL_LIMIT);
    expect(read).toBeLessThan(lines / 2);
    void host.listen();
    await host.of("reply", lines);
    host.leave();
    await closed;
  });

  test("leaves with the code that the wire says", async () => {
    const dialect: Dialect = {
      ...native,
      agentSide: (env) => {
        const side = native.agentSide(env);
        return { ...side, write: (event) => (event.type === "closed" ? { in: [], out: [{ exit: 41 }] } : side.write(event)) };
      },
    };
    const { host, closed } = served(chat, { dialect });
    host.leave();
    expect(await closed).toMatchObject({ code: 41 });
  });

  test("reads the launch before any line", async () => {
    const dialect: Dialect = {
      ...native,
      agentSide: (env) => {
        const side = native.agentSide(env);
        return {
          ...side,
          read: (frame) =>
            "launch" in frame
              ? { in: [{ type: "session.open", session: frame.launch.argv[0] ?? "", open: "new" }], out: [] }
              : side.read(frame),
        };
      },
    };
    const { agent, host, closed } = served(chat, { dialect, launch: { argv: ["from-argv"], env: {} } });
    await host.of("session.ready");
    expect(agent.taken.all[0]).toMatchObject({ type: "session.open", session: "from-argv" });
    host.leave();
    await closed;
  });

  test("is closed when our own reading fails, and the failure is told to whoever serves", async () => {
    const dialect: Dialect = {
      ...native,
      agentSide: (env) => ({
        ...native.agentSide(env),
        read: () => {
          throw new Error("a bug of ours");
        },
      }),
    };
    const { host, closed } = served(chat, { dialect });
    host.say({ type: "ping" });
    await expect(closed).rejects.toThrow("a bug of ours");
    await host.of("closed");
  });
});

describe("what the host's wire cannot say", () => {
  const ask: Script = {
    ...chat,
    "turn.prompt": (_op, agent) =>
      void agent.tell(
        {
          type: "approval.requested",
          ...TURN,
          calls: [
            { id: "c1", name: "Bash" },
            { id: "c2", name: "Edit" },
          ],
        },
        { type: "host.request", ...TURN, request: "r1", kind: "fs" },
        { type: "host.request", ...TURN, request: "r2", kind: "tool" },
      ),
  };

  async function answersOf(coverage: Partial<Dialect["coverage"]>, options: ServeOptions = {}) {
    const { agent, host, closed } = served(ask, { dialect: { ...native, coverage: { ...native.coverage, ...coverage } }, ...options });
    host.say({ type: "turn.prompt", session: "s", parts: [] });
    await host.of("host.request", 2);
    host.leave();
    await closed;
    return agent.taken.all.filter((op) => op.type === "approval.answer" || op.type === "host.answer");
  }

  test("is nothing where it can say everything", async () => {
    expect(await answersOf({})).toEqual([]);
  });

  test.each(["approval.requested", "approval.answer"] as const)("denies an approval where there is no %s", async (type) => {
    const reason = "this host cannot be asked for approval";
    expect(await answersOf({ [type]: "none" })).toMatchObject([
      {
        type: "approval.answer",
        session: "s",
        answers: [
          { call: "c1", decision: "deny", reason },
          { call: "c2", decision: "deny", reason },
        ],
      },
    ]);
  });

  test("allows an approval when it is told to", async () => {
    expect(await answersOf({ "approval.requested": "none" }, { unheard: "allow" })).toMatchObject([
      {
        answers: [
          { call: "c1", decision: "allow" },
          { call: "c2", decision: "allow" },
        ],
      },
    ]);
  });

  test("answers the requests to the host that it does not know", async () => {
    expect(await answersOf({ "host.request": { only: ["tool"] } })).toMatchObject([
      { type: "host.answer", session: "s", request: "r1", ok: false, data: { message: "this host does not answer fs requests" } },
    ]);
    expect(await answersOf({ "host.request": "none" })).toHaveLength(2);
    expect(await answersOf({ "host.answer": "none" })).toHaveLength(2);
  });
});

async function* count(frames: AsyncIterable<Frame>, each: () => void): AsyncIterable<Frame> {
  for await (const frame of frames) {
    each();
    yield frame;
  }
}

describe("a question that is too long for a line", () => {
  const long = "x".repeat(QUESTION_BYTES);
  const requested = (call: object): Event[] => [
    { type: "turn.started", ...TURN },
    { type: "tool.requested", ...TURN, call: { id: "c", name: "Write" } },
    { type: "approval.requested", ...TURN, calls: [{ id: "c", name: "Write", ...call }] },
  ];

  test("is told without what would change, when that is what is long", async () => {
    const { agent, host } = served();
    void agent.tell(...requested({ args: { content: "x" }, preview: [{ type: "text", text: long }] }));
    const { calls } = await host.of("approval.requested");
    expect(calls).toMatchObject([{ args: { content: "x" }, preview: [{ text: expect.stringContaining("too long to be shown") }] }]);
    expect(agent.taken.types).toEqual([]);
  });

  test("is denied, before the host can answer it, when its arguments are", async () => {
    const { agent, host } = served();
    void agent.tell(...requested({ args: { content: long } }));
    await host.of("approval.requested");
    const { answers } = await agent.taken.of("approval.answer");
    expect(answers).toEqual([{ call: "c", decision: "deny", reason: expect.stringContaining(`${QUESTION_BYTES} bytes`) }]);
  });

  test("is not told at all when the host would act on it", async () => {
    const { agent, host } = served();
    void agent.tell({ type: "host.request", session: "s", request: "r", kind: "tool", data: { name: "T", args: { text: long } } });
    void agent.tell({ type: "notice", session: "s", level: "info", text: "behind it" });
    expect(await agent.taken.of("host.answer")).toMatchObject({ request: "r", ok: false });
    await host.of("notice");
    expect(host.heard.types).toEqual(["notice"]);
  });
});
