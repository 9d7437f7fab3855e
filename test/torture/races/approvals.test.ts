/**
 * An approval is raced for by everything that can settle it: a yes, a no, a stop, its deadline, a host that leaves and an agent that dies, in
 * every order and with every small pause between them. The first of them decides; the call runs at most once, and only after a yes that came
 * first; the turn has one end; a late answer is told that it is late.
 */
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Agent } from "../../../src/core/agent.js";
import type { Event } from "../../../src/core/event.js";
import { Grammar } from "../../../src/core/grammar.js";
import type { Op } from "../../../src/core/op.js";
import { native } from "../../../src/dialects/native/index.js";
import { createEngine } from "../../../src/engine/index.js";
import type { Model, ModelPart, ModelRequest } from "../../../src/engine/models/model.js";
import { connect } from "../../../src/link/connect.js";
import { serve } from "../../../src/link/serve.js";
import { memoryPair } from "../../../src/transports/memory.js";
import { scratch } from "../../support/processes.js";
import { isLong, report } from "../volume.js";

const RUNS = isLong ? 20_000 : 250;
const ACTIONS = ["allow", "deny", "stop", "deadline", "leave", "die"] as const;
type Action = (typeof ACTIONS)[number];

interface Played {
  agent: Agent;
  /** The engine's own end, as a kill. */
  die(): Promise<void>;
}

const WAYS: Record<string, () => Played> = {
  "in the engine": () => {
    const agent = engine();
    return { agent, die: () => agent.close() };
  },
  "over a wire": () => {
    const inner = engine();
    const [near, far] = memoryPair();
    void serve(inner, native, far);
    return { agent: connect(native, () => near), die: () => Promise.resolve(far.close("term")) };
  },
};

afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.entries(WAYS))("an approval %s", (way, make) => {
  test("is settled once, by whatever comes first", async () => {
    const order = fc.shuffledSubarray([...ACTIONS], { minLength: 1 });
    const pauses = fc.array(fc.nat(3), { minLength: ACTIONS.length, maxLength: ACTIONS.length });
    await fc.assert(
      fc.asyncProperty(order, pauses, async (actions, gaps) => check(actions, await race(make(), actions, gaps))),
      { numRuns: RUNS },
    );
    report("races for an approval", { [way]: RUNS });
  });
});

interface Outcome {
  events: Event[];
  violations: string[];
}

async function race({ agent, die }: Played, actions: readonly Action[], gaps: readonly number[]): Promise<Outcome> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const grammar = new Grammar();
  const outcome: Outcome = { events: [], violations: [] };
  let wake = (): void => {};
  const heard = (async () => {
    for await (const event of agent.events) {
      outcome.events.push(event);
      outcome.violations.push(...grammar.event(event));
      wake();
    }
  })();
  const told = async (type: Event["type"]): Promise<void> => {
    while (!outcome.events.some((event) => event.type === type)) await new Promise<void>((resolve) => (wake = resolve));
  };
  const send = (op: Op): void => {
    grammar.op(op);
    void agent.send(op);
  };
  const acts: Record<Action, () => void> = {
    allow: () => send({ type: "approval.answer", id: "allow", session: "s", answers: [{ call: "c", decision: "allow" }] }),
    deny: () => send({ type: "approval.answer", id: "deny", session: "s", answers: [{ call: "c", decision: "deny" }] }),
    stop: () => send({ type: "turn.interrupt", id: "stop", session: "s" }),
    deadline: () => void vi.advanceTimersByTime(301_000),
    leave: () => send({ type: "shutdown", when: "drained", id: "leave" }),
    die: () => void die(),
  };

  send({ type: "session.open", id: "open", session: "s", open: "new" });
  send({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [{ type: "text", text: "go" }] });
  await told("approval.requested");
  for (const [at, action] of actions.entries()) {
    acts[action]();
    for (let left = gaps[at] ?? 0; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  }
  let isOver = false;
  void Promise.all([agent.close(), heard]).then(() => (isOver = true));
  while (!isOver) {
    vi.advanceTimersByTime(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  outcome.violations.push(...grammar.end());
  return outcome;
}

function check(actions: readonly Action[], { events, violations }: Outcome): void {
  expect(violations).toEqual([]);
  expect(events.filter(({ type }) => type === "turn.ended")).toHaveLength(1);
  const runs = events.filter((event) => event.type === "tool.started").length;
  expect(runs).toBeLessThan(2);
  // A host that leaves and says yes in one breath has said yes.
  if (runs === 1) expect(actions.find((action) => action !== "leave")).toBe("allow");
  const ended = events.flatMap((event) => (event.type === "tool.ended" ? [event] : []));
  expect(ended).toHaveLength(1);
  if (actions[0] === "deny") expect(ended[0]?.status).not.toBe("ok");
  // The agent still lived: each answer but the first that settled is told that it came late.
  const isLate = (id: "allow" | "deny"): boolean => actions.includes(id) && actions[0] !== id;
  const before = actions.slice(0, actions.indexOf("die") === -1 ? actions.length : actions.indexOf("die"));
  for (const id of ["allow", "deny"] as const) {
    if (!isLate(id) || !before.includes(id) || before.includes("leave")) continue;
    const replies = events.filter((event) => event.type === "reply" && event.parent === id);
    expect(replies, `replies to the late ${id}`).toHaveLength(1);
  }
}

function engine(): Agent {
  return createEngine({ defaults: { cwd: scratch(), answerSeconds: 300 }, env: {}, openModel: () => Promise.resolve(model) });
}

/** Writes a file, and then says a word. */
const model: Model = {
  provider: "scripted",
  id: "scripted",
  thinking: false,
  images: false,
  async *stream({ messages }: ModelRequest): AsyncIterable<ModelPart[]> {
    if (messages.at(-1)?.role === "tool") {
      yield [{ type: "text", text: "Done." }, { type: "text.end" }, { type: "finish", reason: "stop" }];
      return;
    }
    yield [
      { type: "call", call: { id: "c", name: "Write", args: { file_path: "out.txt", content: "x" } } },
      { type: "finish", reason: "tool_calls" },
    ];
  },
};
