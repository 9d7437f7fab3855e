import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { legalStream, legalTurn, type Entry } from "../../test/support/streams.js";
import type { Event, EventType } from "./event.js";
import { Grammar } from "./grammar.js";

function violations(entries: readonly Entry[]): string[] {
  const grammar = new Grammar();
  const wrong = entries.flatMap((entry) => ("op" in entry ? (grammar.op(entry.op), []) : grammar.event(entry.event)));
  return [...wrong, ...grammar.end()];
}

test("a legal stream has no violations", () => {
  fc.assert(
    fc.property(legalStream(), (entries) => {
      expect(violations(entries)).toEqual([]);
    }),
  );
});

/** One change, at one of the events where it breaks the rule. */
interface Mutation {
  name: string;
  rule: number;
  at: (event: Event) => boolean;
  to: (entry: Entry) => Entry[];
}

const drop = (): Entry[] => [];
const double = (entry: Entry): Entry[] => [entry, entry];
const is =
  (...types: EventType[]) =>
  (event: Event): boolean =>
    types.includes(event.type);
const streamed = (event: Event): boolean => (event.type === "text.done" || event.type === "thinking.done") && event.streamed === true;
const changed =
  (patch: Record<string, unknown>) =>
  (entry: Entry): Entry[] => [{ event: Object.assign({}, "event" in entry ? entry.event : {}, patch) as Event }];
const MUTATIONS: Mutation[] = [
  { name: "session.ready is missing", rule: 1, at: is("session.ready"), to: drop },
  { name: "turn.started is missing", rule: 2, at: is("turn.started"), to: drop },
  { name: "turn.started comes twice", rule: 2, at: is("turn.started"), to: double },
  { name: "turn.ended is missing", rule: 2, at: is("turn.ended"), to: drop },
  { name: "turn.ended comes twice", rule: 2, at: is("turn.ended"), to: double },
  { name: "turn.ended has no turn", rule: 2, at: is("turn.ended"), to: changed({ turn: undefined }) },
  { name: "a turn ends under another name", rule: 2, at: is("turn.ended"), to: changed({ turn: "another" }) },
  { name: "a block is never closed", rule: 3, at: streamed, to: drop },
  { name: "a block is closed twice", rule: 3, at: streamed, to: double },
  { name: "a block's end is another text", rule: 3, at: streamed, to: changed({ text: "something else altogether" }) },
  { name: "a streamed block's end does not say so", rule: 3, at: streamed, to: changed({ streamed: undefined }) },
  { name: "a delta is missing", rule: 3, at: is("text.delta", "thinking.delta"), to: drop },
  { name: "a delta comes twice", rule: 3, at: is("text.delta", "thinking.delta"), to: double },
  { name: "a delta changes its kind", rule: 3, at: is("text.delta"), to: changed({ type: "thinking.delta" }) },
  { name: "tool.requested is missing", rule: 4, at: is("tool.requested"), to: drop },
  { name: "tool.requested comes twice", rule: 4, at: is("tool.requested"), to: double },
  { name: "tool.started comes twice", rule: 4, at: is("tool.started"), to: double },
  { name: "tool.ended is missing", rule: 4, at: is("tool.ended"), to: drop },
  { name: "tool.ended comes twice", rule: 4, at: is("tool.ended"), to: double },
  {
    name: "tool.ended comes before tool.requested",
    rule: 4,
    at: is("tool.requested"),
    to: (entry) => [
      ...("event" in entry && entry.event.type === "tool.requested"
        ? changed({ type: "tool.ended", call: entry.event.call.id, status: "ok" })(entry)
        : []),
      entry,
    ],
  },
  {
    name: "a host request names a call that nobody requested",
    rule: 4,
    at: is("turn.started"),
    to: (entry) => [entry, ...changed({ type: "host.request", request: "r", kind: "tool", call: "nobody's" })(entry)],
  },
  {
    name: "an event belongs to a call that nobody requested",
    rule: 4,
    at: is("turn.started"),
    to: (entry) => [entry, ...changed({ type: "text.done", text: "", under: "nobody's" })(entry)],
  },
  {
    name: "a call starts before its answer",
    rule: 5,
    at: is("approval.requested"),
    // The first op of all may be the answer that comes too late, and without ops answers are not judged.
    to: (entry) => [
      { op: { type: "ping" } },
      entry,
      ...("event" in entry && entry.event.type === "approval.requested"
        ? changed({ type: "tool.started", call: entry.event.calls[0]?.id })(entry)
        : []),
    ],
  },
  {
    name: "turn.ended has no usage though some was reported",
    rule: 6,
    at: (event) => event.type === "turn.ended" && event.usage !== undefined,
    to: changed({ usage: undefined }),
  },
  { name: "closed comes twice", rule: 7, at: is("closed"), to: double },
  {
    name: "an event comes after closed",
    rule: 7,
    at: is("closed"),
    to: (entry) => [entry, { event: { type: "notice", level: "info", text: "late" } }],
  },
];

describe("one change of a legal stream is told by the rule that it breaks:", () => {
  test.each(MUTATIONS)("$rule $name", ({ rule, at, to }) => {
    let applied = 0;
    fc.assert(
      fc.property(legalStream(), fc.nat(), (entries, pick) => {
        const places = entries.flatMap((entry, index) => ("event" in entry && at(entry.event) ? [index] : []));
        fc.pre(places.length > 0);
        applied++;
        const place = places[pick % places.length] ?? 0;
        const mutated = entries.flatMap((entry, index) => (index === place ? to(entry) : [entry]));
        expect(violations(mutated).filter((text) => text.startsWith(`rule ${rule}:`))).not.toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(applied).toBeGreaterThan(0);
  });
});

describe("sessions", () => {
  const started = (session: string): Event[] => [
    { type: "session.ready", session },
    { type: "turn.started", session, turn: "t" },
    { type: "tool.requested", session, turn: "t", call: { id: "c", name: "Bash" } },
    { type: "approval.requested", session, turn: "t", calls: [{ id: "c", name: "Bash" }] },
  ];

  test("an answer to one does not answer a call of the same name in another", () => {
    const grammar = new Grammar();
    for (const event of [...started("a"), ...started("b")]) expect(grammar.event(event)).toEqual([]);
    grammar.op({ type: "approval.answer", session: "a", answers: [{ call: "c", decision: "allow" }] });
    expect(grammar.event({ type: "tool.started", session: "a", turn: "t", call: "c" })).toEqual([]);
    expect(grammar.event({ type: "tool.started", session: "b", turn: "t", call: "c" })).toEqual([
      "rule 5: call c started before its approval was answered",
    ]);
  });

  test("a yes may come before the question; a no, or what the agent did not take, may not", () => {
    const judged = (decision: "allow" | "deny", status?: "noop"): string[] => {
      const grammar = new Grammar();
      const [ready, begun, requested, asked] = started("a");
      for (const event of [ready, begun, requested]) if (event !== undefined) grammar.event(event);
      grammar.op({ type: "approval.answer", id: "early", session: "a", answers: [{ call: "c", decision }] });
      if (status !== undefined) grammar.event({ type: "reply", session: "a", parent: "early", to: "approval.answer", status });
      if (asked !== undefined) grammar.event(asked);
      return grammar.event({ type: "tool.started", session: "a", turn: "t", call: "c" });
    };
    const breach = ["rule 5: call c started before its approval was answered"];
    expect(judged("allow")).toEqual([]);
    expect(judged("deny")).toEqual(breach);
    expect(judged("allow", "noop")).toEqual(breach);
  });

  test("a session does not end inside a turn, and is not ready afterwards", () => {
    const grammar = new Grammar();
    for (const event of started("a")) grammar.event(event);
    expect(grammar.event({ type: "session.ended", session: "a" })).toEqual(["rule 2: the session ended inside turn t"]);
    const other = new Grammar();
    other.event({ type: "session.ready", session: "a" });
    expect(other.event({ type: "session.ended", session: "a" })).toEqual([]);
    expect(other.event({ type: "turn.started", session: "a", turn: "t" })).toEqual(["rule 1: turn t started before session.ready"]);
  });

  test("a replay is judged by itself, within the turn that runs now", () => {
    const grammar = new Grammar();
    const replay = { session: "a", turn: "old", replay: true } as const;
    const events: Event[] = [
      { type: "session.ready", session: "a", replay: 4 },
      { type: "turn.started", ...replay },
      { type: "user.message", ...replay, parts: [{ type: "text", text: "hello" }] },
      { type: "text.done", ...replay, text: "hi" },
      { type: "turn.ended", ...replay, outcome: "completed" },
      { type: "turn.started", session: "a", turn: "new" },
      { type: "turn.ended", session: "a", turn: "new", outcome: "completed" },
    ];
    expect([...events.flatMap((event) => grammar.event(event)), ...grammar.end()]).toEqual([]);
  });

  const open = (seq: number): Entry => ({ op: { type: "session.open", session: "s", open: "resume", after: { seq } } });
  /** Whole items, as a log has them; the answers to its questions were given in another life. */
  const replayed = (entries: readonly Entry[]): Entry[] =>
    entries.flatMap((entry) => {
      if ("op" in entry || entry.event.type.endsWith(".delta")) return [];
      const { event } = entry;
      const whole = event.type === "text.done" || event.type === "thinking.done" ? { ...event, streamed: undefined } : event;
      return [{ event: { ...whole, replay: true } }];
    });

  test("a replay from a place on may begin in the middle of a turn, and is held to the rules from there on", () => {
    fc.assert(
      fc.property(legalTurn(), fc.nat(), fc.boolean(), (entries, pick, again) => {
        const whole = replayed(entries);
        const rest = whole.slice(pick % whole.length);
        const next: Entry[] = replayed([{ event: { type: "turn.started", turn: "u", session: "s" } }]);
        const end: Entry[] = replayed([{ event: { type: "turn.ended", turn: "u", session: "s", outcome: "completed" } }]);
        expect(violations([open(7), ...rest, ...next, ...end])).toEqual([]);
        // From the very beginning, or without a word of it, nothing may be missing.
        const missing = rest.length === whole.length ? [] : [expect.stringContaining("rule 2")];
        expect(violations([open(-1), ...rest, ...next, ...end]).slice(0, 1)).toEqual(missing);
        expect(violations([...rest, ...next, ...end]).slice(0, 1)).toEqual(missing);
        // The checker tells repeated and missing events of a replay, too.
        const calls = rest.findIndex((entry) => "event" in entry && entry.event.type === "tool.ended");
        if (calls >= 0) expect(violations([open(7), ...rest.slice(0, calls + 1), ...rest.slice(calls)])).not.toEqual([]);
        if (rest.length > 1) expect(violations([open(7), ...rest.slice(0, -1), ...next])).not.toEqual([]);
        const live = again ? rest.map((entry) => ("event" in entry ? { event: { ...entry.event, replay: undefined } } : entry)) : [];
        if (live.length > 0) expect(violations([open(7), ...live])).not.toEqual([]);
      }),
    );
  });

  test("an approval that another host settled counts as answered", () => {
    const at = { session: "s", turn: "t" };
    const asked: Entry[] = [
      { op: { type: "turn.prompt", session: "s", parts: [] } },
      { event: { type: "session.ready", session: "s" } },
      { event: { type: "turn.started", ...at } },
      { event: { type: "tool.requested", ...at, call: { id: "c", name: "Bash" } } },
      { event: { type: "approval.requested", ...at, calls: [{ id: "c", name: "Bash" }] } },
    ];
    const rest: Entry[] = [
      { event: { type: "tool.started", ...at, call: "c" } },
      { event: { type: "tool.ended", ...at, call: "c", status: "ok" } },
      { event: { type: "turn.ended", ...at, outcome: "completed" } },
    ];
    expect(violations([...asked, ...rest])).toEqual(["rule 5: call c started before its approval was answered"]);
    const settled: Entry = { event: { type: "approval.settled", ...at, call: "c", decision: "allow", by: { client: "x" } } };
    expect(violations([...asked, settled, ...rest])).toEqual([]);
  });

  describe("a host that attaches to a session that runs", () => {
    const attach = (seq?: number): Entry => ({
      op: { type: "session.open", session: "s", open: "attach", ...(seq !== undefined && { after: { seq } }) },
    });
    const ready: Entry = { event: { type: "session.ready", session: "s" } };

    /** Other hosts gave the answers before the seam. */
    const retold = (entry: Entry): Entry[] => {
      if ("event" in entry) return [{ event: { ...entry.event, replay: true } }];
      if (entry.op.type !== "approval.answer") return [];
      return entry.op.answers.map(({ call, decision }) => ({
        event: { type: "approval.settled", session: "s", turn: "t", call, decision, replay: true },
      }));
    };

    test("hears the rest of a turn live, from any place on", () => {
      fc.assert(
        fc.property(legalTurn(), fc.nat(), fc.nat(), (turn, cut, seam) => {
          const from = cut % turn.length;
          const live = from + (seam % (turn.length - from + 1));
          const replay = turn.slice(from, live).flatMap(retold);
          const rest = turn.slice(live);
          expect(violations([attach(7), ready, ...replay, ...rest])).toEqual([]);
          if (from === 0) expect(violations([attach(), ready, ...replay, ...rest])).toEqual([]);
          // The turn does not end twice.
          if (rest.length > 0) expect(violations([attach(7), ready, ...replay, ...rest, ...rest])).not.toEqual([]);
          // A second attach begins anew.
          expect(violations([attach(7), ready, ...replay, attach(7), ready, ...replay, ...rest])).toEqual([]);
        }),
      );
    });
  });

  test("each replay of a session is a stream of its own", () => {
    const turn = replayed([
      { event: { type: "turn.started", session: "s", turn: "t" } },
      { event: { type: "turn.ended", session: "s", turn: "t", outcome: "completed" } },
    ]);
    expect(violations([open(-1), ...turn, open(-1), ...turn])).toEqual([]);
    // A checker without the ops sees it, too.
    const ready: Entry = { event: { type: "session.ready", session: "s", replay: 2 } };
    expect(violations([ready, ...turn, ready, ...turn])).toEqual([]);
    expect(violations([open(-1), ...turn, ...turn])).toEqual(["rule 2: turn t started again"]);
  });

  test("without any op, answers cannot be judged and are not", () => {
    const grammar = new Grammar();
    for (const event of started("a")) grammar.event(event);
    expect(grammar.event({ type: "tool.started", session: "a", turn: "t", call: "c" })).toEqual([]);
  });
});
