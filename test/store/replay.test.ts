/** A replay of a long log: told no faster than its host reads, and never in memory at once. */
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/core/event.js";
import { createEngine } from "../../src/engine/engine.js";
import { openRehearsal } from "../../src/engine/models/rehearsal/index.js";
import { jsonlStore } from "../../src/engine/store/jsonl/store.js";
import type { SessionStore } from "../../src/engine/store/store.js";
import { scratch } from "../support/processes.js";

const TEXT = "x".repeat(64 * 1024);
const TURNS = 200;

async function longSession(store: SessionStore): Promise<void> {
  const log = await store.create({ id: "s", cwd: scratch(), name: undefined, config: {} });
  let seq = 1;
  for (let nth = 0; nth < TURNS; nth++) {
    const turn = `t${nth}`;
    const events: Event[] = [
      { type: "turn.started", turn },
      { type: "text.done", turn, text: `${nth} ${TEXT}` },
      { type: "turn.ended", turn, outcome: "completed" },
    ];
    for (const event of events) log.append({ kind: "event", event: { ...event, seq: seq++, at: 1 } });
    log.flush();
  }
  await log.close();
}

interface Opened {
  next(): Promise<Event>;
  /** Events that the engine has taken from the store since the session was ready. */
  taken(): number;
  close(): Promise<void>;
}

/** An engine that resumes the long session and was asked for all that was missed. */
async function resumed(): Promise<Opened> {
  const store = jsonlStore(scratch(), { keep: 10, redact: (value) => value });
  await longSession(store);
  let taken = 0;
  const counted: SessionStore = {
    ...store,
    async *events(...args) {
      taken = 0;
      for await (const event of store.events(...args)) {
        taken++;
        yield event;
      }
    },
  };
  const agent = createEngine({
    defaults: { cwd: scratch() },
    openModel: () => openRehearsal({}),
    env: {},
    openStore: () => Promise.resolve(counted),
  });
  onTestFinished(() => agent.close());
  await agent.send({ type: "session.open", open: "resume", session: "s", after: { seq: 0 } });
  const events = agent.events[Symbol.asyncIterator]();
  const next = async (): Promise<Event> => {
    const { value } = await events.next();
    if (value === undefined) throw new Error("the agent closed");
    return value;
  };
  return { next, taken: () => taken, close: () => agent.close() };
}

test("a host that reads slowly holds a long replay back, and gets all of it in its order", async () => {
  const { next, taken } = await resumed();
  const ready = await next();
  expect(ready).toMatchObject({ type: "session.ready", replay: 3 * TURNS });
  const texts: string[] = [];
  let furthest = 0;
  for (let read = 1; read <= 3 * TURNS; read++) {
    const event = await next();
    expect(event.replay).toBe(true);
    furthest = Math.max(furthest, taken() - read);
    if (event.type === "text.done") texts.push(event.text.slice(0, event.text.indexOf(" ")));
  }
  expect(texts).toEqual(Array.from({ length: TURNS }, (_, nth) => String(nth)));
  // The queue of unread events holds 4 MiB.
  expect(furthest).toBeLessThan(1.5 * TURNS);
});

test("a host that leaves in the middle of a long replay does not keep the agent from closing", async () => {
  const { next, close } = await resumed();
  await next();
  await next();
  await close();
  let last = await next();
  while (last.type !== "closed") last = await next();
  expect(last).toMatchObject({ type: "closed", code: 0 });
});
