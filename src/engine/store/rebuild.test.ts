import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Event } from "../../core/event.js";
import { Grammar } from "../../core/grammar.js";
import type { CallResult, Message } from "../models/model.js";
import { parseEntry, writeEntry, type Entry, type ReadEntry } from "./entry.js";
import { unfinishedIn } from "../session/unfinished.js";
import { rebuild } from "./rebuild.js";
import type { StoredSession } from "./store.js";
import { compactedLog, eventsIn, messagesIn, unsound, writtenLog } from "./testing.js";

/** A log as it is read back, cut at a random place. */
const cutLog = cut(writtenLog());

test("a log says the same after it was written and read", () => {
  fc.assert(
    fc.property(writtenLog(), (log) => {
      expect(log.map((entry) => parseEntry(Buffer.from(writeEntry(entry)), 1))).toEqual(log);
    }),
  );
});

test("a summary in the log of an older version is known as one, and a prompt that quotes it later is not", () => {
  const words = "[Summary of the conversation so far; the messages themselves were cleared to make room]\n\nThey talked.";
  const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
  const opened: Entry = { kind: "opened", at: 1, id: "s", cwd: "/w", config: {} };
  const { messages } = rebuilt([opened, { kind: "reset", messages: [user(words)] }, { kind: "message", message: user(words) }]);
  expect(messages).toEqual([{ ...user(words), kind: "summary" }, user(words)]);
});

describe("a log that was cut anywhere", () => {
  law("begins with the conversation as it was, and is sound", ({ entries }) => {
    const before = messagesIn(entries);
    const { messages } = rebuilt(entries);
    expect(messages.slice(0, before.length)).toEqual(before);
    expect(unsound(messages)).toEqual([]);
  });

  law("is as it was, where no turn was open", ({ entries }) => {
    const ended = entries.findLastIndex((entry) => entry.kind === "event" && entry.event.type === "turn.ended");
    const { crash, messages } = rebuilt(entries.slice(0, ended + 1 || 1));
    expect(crash).toBeUndefined();
    expect(messages).toEqual(messagesIn(entries.slice(0, ended + 1)));
  });

  law("loses nothing that was acknowledged, and invents nothing", ({ entries, whole }) => {
    const { messages } = rebuilt(entries);
    const texts = textsOf(messages);
    for (const event of eventsIn(entries)) {
      if (event.type === "text.done" && event.under === undefined) expect(texts.assistant).toContain(event.text);
      if (event.type === "user.message" && event.parts.length > 0) expect(texts.user).toContain(joined(event.parts));
    }
    const calls = messages.flatMap(callsIn);
    for (const entry of entries) if (entry.kind === "asked") expect(calls).toEqual(expect.arrayContaining(entry.calls.map(({ id }) => id)));
    const said = new Set(eventsIn(whole).flatMap((event) => (event.type === "text.done" ? [event.text] : [])));
    for (const text of texts.assistant) expect([...said].some((known) => known.startsWith(text))).toBe(true);
  });

  law("tells of each block as an event too", ({ entries }) => {
    const { messages, crash } = rebuilt(entries);
    const told = [...eventsIn(entries), ...eventsIn(crash?.mend ?? [])].flatMap((event) =>
      event.type === "text.done" ? [event.text] : [],
    );
    for (const text of textsOf(messages).assistant) expect(told).toContain(text);
  });

  law("keeps what was steered in, unless the turn was interrupted", ({ entries }) => {
    const { messages } = rebuilt(entries);
    const open = entries.findLastIndex((entry) => entry.kind === "event" && entry.event.type === "turn.started");
    const after = entries.slice(open);
    if (eventsIn(after).some((event) => event.type === "turn.ended")) return;
    const user = textsOf(messages).user.join("");
    for (const entry of after) if (entry.kind === "steered") expect(user).toContain(joined(entry.parts));
  });

  law("tells finished, unknown and not started calls apart", ({ entries }) => {
    const { crash, messages } = rebuilt(entries);
    const events = eventsIn(entries.slice(openTurnAt(entries)));
    const results = new Map(
      messages.flatMap((message) =>
        message.role === "tool" ? message.results.map((result): [string, CallResult] => [result.call, result]) : [],
      ),
    );
    const started = new Set(events.flatMap((event) => (event.type === "tool.started" ? [event.call] : [])));
    const ended = new Map(events.flatMap((event): [string, Event][] => (event.type === "tool.ended" ? [[event.call, event]] : [])));
    for (const event of events) {
      if (event.type !== "tool.requested") continue;
      const { id } = event.call;
      const result = results.get(id);
      const end = ended.get(id);
      const isUnknown = started.has(id) && end === undefined && crash !== undefined;
      expect(crash?.unknown.some((call) => call.id === id) ?? false).toBe(isUnknown);
      if (event.under !== undefined) continue;
      if (end?.type === "tool.ended")
        expect(result).toEqual({ call: id, name: event.call.name, parts: end.output, failed: end.status !== "ok" });
      else expect(joined(result?.parts ?? [])).toMatch(started.has(id) ? /is unknown/ : /did not run/);
    }
  });

  law("is mended so that its events are a legal stream", ({ entries }) => {
    const grammar = new Grammar();
    const events = [...eventsIn(entries), ...eventsIn(rebuilt(entries).crash?.mend ?? [])];
    const wrong = events.flatMap((event) => grammar.event({ ...event, session: "h", replay: true }));
    expect([...wrong, ...grammar.end()]).toEqual([]);
  });

  law("is mended to the same conversation however often the mending is cut short", ({ entries }) => {
    const { messages, lastTurn, crash } = rebuilt(entries);
    const mend = crash?.mend ?? [];
    for (let written = 0; written <= mend.length; written++) {
      const again = rebuilt([...entries, ...mend.slice(0, written)]);
      expect(again.messages).toEqual(messages);
      expect(again.lastTurn).toBe(lastTurn);
      if (written === mend.length) expect(again.crash).toBeUndefined();
    }
  });
});

test("a conversation can be continued unless it stops behind an answer", () => {
  fc.assert(
    fc.property(cutLog, ({ entries }) => {
      const { messages, lastTurn, crash } = rebuilt(entries);
      const last = messages.at(-1);
      const unfinished = unfinishedIn(messages, lastTurn);
      if (last?.role === "user") expect(unfinished).toBe("prompt");
      if (last?.role === "tool") expect(unfinished).toBe("turn");
      const ended = eventsIn(entries).at(-1);
      if (last?.role === "assistant" && crash === undefined && ended?.type === "turn.ended" && ended.outcome === "completed")
        expect(unfinished).toBeUndefined();
    }),
  );
});

describe("a log in which the conversation began anew in the middle of turns, cut anywhere", () => {
  const logs = cut(compactedLog());

  law(
    "begins with the conversation as the model had it, and is sound",
    ({ entries }) => {
      const before = messagesIn(entries);
      const { messages } = rebuilt(entries);
      expect(messages.slice(0, before.length)).toEqual(before);
      expect(unsound(messages)).toEqual([]);
    },
    logs,
  );

  law(
    "is mended like the same log without that, behind what the model had",
    ({ entries }) => {
      const plain = entries.filter(({ kind }) => kind !== "reset");
      expect(rebuilt(entries).crash).toEqual(rebuilt(plain).crash);
    },
    logs,
  );

  law(
    "is mended to the same conversation however often the mending is cut short",
    ({ entries }) => {
      const { messages, crash } = rebuilt(entries);
      const mend = crash?.mend ?? [];
      for (let written = 0; written <= mend.length; written++) {
        expect(rebuilt([...entries, ...mend.slice(0, written)]).messages).toEqual(messages);
      }
    },
    logs,
  );
});

test.each([
  ["a log", cutLog],
  ["a log in which the conversation began anew", cut(compactedLog())],
])("a snapshot and the log behind it give what the log alone gives: %s", (_, logs) => {
  fc.assert(
    fc.property(logs, ({ entries }) => {
      const alone = rebuilt(entries);
      for (let at = 1; at <= entries.length; at++) {
        const { crash, unsavedSince: _since, ...kept } = rebuilt(entries.slice(0, at));
        if (crash !== undefined) continue;
        expect(rebuild(JSON.parse(JSON.stringify(kept)), entries.slice(at))).toEqual(alone);
      }
    }),
    { numRuns: 40 },
  );
});

describe("a log with a line that cannot be read", () => {
  damaged("is still a sound conversation", (messages) => {
    expect(unsound(messages)).toEqual([]);
  });

  damaged("says nothing twice", (messages) => {
    const numbers = textsOf(messages).assistant.map((text) => text.split(":")[0]);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  damaged("never says of a call that was started that it did not run", (messages, entries) => {
    const started = new Set(eventsIn(entries).flatMap((event) => (event.type === "tool.started" ? [event.call] : [])));
    for (const message of messages) {
      if (message.role !== "tool") continue;
      for (const { call, parts } of message.results) if (started.has(call)) expect(joined(parts)).not.toMatch(/did not run/);
    }
  });

  test("loses no more than that line, though it be the first, where a later run says again whose log it is", () => {
    const again: Entry = { kind: "opened", at: 2, id: "s", cwd: "/b", name: "n", config: {}, seq: 2 ** 20 };
    fc.assert(
      fc.property(cutLog, ({ entries }) => {
        const whole = rebuilt([...entries, again]);
        const hit = rebuilt([{ kind: "unreadable", line: 1 }, ...entries.slice(1), again]);
        expect(hit).toEqual({ ...whole, name: "n", unreadable: [1] });
        expect(rebuild(undefined, [{ kind: "unreadable", line: 1 }, ...entries.slice(1)])).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });

  /** Holds for damage in every line. */
  function damaged(what: string, holds: (messages: Message[], entries: Entry[]) => void): void {
    test(what, () => {
      fc.assert(
        fc.property(cutLog, ({ entries }) => {
          for (let hit = 1; hit < entries.length; hit++) {
            const read = entries.map((entry, index): ReadEntry => (index === hit ? { kind: "unreadable", line: 1 } : entry));
            holds(rebuild(undefined, structuredClone(read))?.messages ?? [], entries);
          }
        }),
        { numRuns: 40 },
      );
    });
  }
});

test("numbers, settings and folder are the last ones", () => {
  const log: Entry[] = [
    { kind: "opened", at: 1, id: "s", cwd: "/a", name: "n", config: { model: "one" } },
    { kind: "event", event: { type: "session.updated", config: { model: "two" }, seq: 7 } },
    { kind: "mark", seq: 2 ** 20 + 3 },
  ];
  expect(rebuild(undefined, log)).toMatchObject({ id: "s", cwd: "/a", name: "n", config: { model: "two" }, seq: 2 ** 20 + 3 });
  const again: Entry = { kind: "opened", at: 2, id: "s", cwd: "/b", config: { model: "three" }, seq: 2 ** 21 };
  expect(rebuild(undefined, [...log, again])).toMatchObject({ cwd: "/b", name: "n", config: { model: "three" }, seq: 2 ** 21 });
});

test("a run that could no longer write is told once, and what it may have started is unknown", () => {
  const log: Entry[] = [
    { kind: "opened", at: 1, id: "s", cwd: "/", config: {} },
    { kind: "event", event: { type: "turn.started", turn: "t", seq: 1 } },
    { kind: "message", message: { role: "assistant", blocks: [{ type: "call", call: { id: "c", name: "Bash", args: {} } }] } },
    { kind: "event", event: { type: "tool.requested", turn: "t", call: { id: "c", name: "Bash", title: "rm -r x" }, seq: 2 } },
    { kind: "lost", at: 99 },
  ];
  const session = rebuild(undefined, log);
  expect(session?.unsavedSince).toBe(99);
  expect(session?.crash?.unknown).toEqual([{ id: "c", name: "Bash", title: "rm -r x" }]);
  expect(rebuild(undefined, [...log, { kind: "opened", at: 100, id: "s", cwd: "/", config: {} }])?.unsavedSince).toBeUndefined();
});

test("words that were steered in too late, and were to be the next prompt, are not lost", () => {
  const parts = [{ type: "text" as const, text: "and the tests" }];
  const log: Entry[] = [
    { kind: "opened", at: 1, id: "s", cwd: "/", config: {} },
    { kind: "event", event: { type: "turn.started", turn: "t", seq: 1 } },
    { kind: "event", event: { type: "user.message", turn: "t", parts: [], seq: 2 } },
    { kind: "message", message: { role: "user", parts: [] } },
    { kind: "steered", parts },
    { kind: "event", event: { type: "turn.ended", turn: "t", outcome: "failed", seq: 3 } },
  ];
  const lost = rebuilt(log);
  expect(lost.messages.at(-1)).toEqual({ role: "user", parts });
  expect(rebuilt([...log, ...(lost.crash?.mend ?? [])])).toMatchObject({ crash: undefined, messages: lost.messages });
  const next: Entry[] = [
    { kind: "event", event: { type: "turn.started", turn: "u", seq: 4 } },
    { kind: "event", event: { type: "user.message", turn: "u", parts, seq: 5 } },
  ];
  expect(textsOf(rebuilt([...log, ...next]).messages).user.filter((text) => text === "and the tests")).toHaveLength(1);
});

// --- helpers ---

interface CutLog {
  whole: Entry[];
  entries: Entry[];
}

function cut(written: fc.Arbitrary<Entry[]>): fc.Arbitrary<CutLog> {
  return fc.tuple(written, fc.nat(9999)).map(([log, at]) => {
    const whole = log.map((entry) => parseEntry(Buffer.from(writeEntry(entry)), 1));
    const entries = whole.filter((entry): entry is Entry => entry.kind !== "unreadable");
    return { whole: log, entries: entries.slice(0, 1 + (at % entries.length)) };
  });
}

function law(what: string, holds: (log: CutLog) => void, logs = cutLog): void {
  test(what, () => fc.assert(fc.property(logs, holds), { numRuns: 200 }));
}

function rebuilt(entries: readonly ReadEntry[]): StoredSession {
  const session = rebuild(undefined, structuredClone(entries));
  if (session === undefined) throw new Error("there is no session in this log");
  return session;
}

function openTurnAt(entries: readonly Entry[]): number {
  return Math.max(
    0,
    entries.findLastIndex((entry) => entry.kind === "event" && entry.event.type === "turn.started"),
  );
}

function textsOf(messages: readonly Message[]): Record<"user" | "assistant", string[]> {
  return {
    user: messages.flatMap((message) => (message.role === "user" ? [joined(message.parts)] : [])),
    assistant: messages.flatMap((message) =>
      message.role === "assistant" ? message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
    ),
  };
}

function joined(parts: readonly { type: string; text?: unknown }[]): string {
  return parts.map((part) => (part.type === "text" ? String(part.text) : "")).join("");
}

function callsIn(message: Message): string[] {
  return message.role === "assistant" ? message.blocks.flatMap((block) => (block.type === "call" ? [block.call.id] : [])) : [];
}
