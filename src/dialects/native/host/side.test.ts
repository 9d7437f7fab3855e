import fc from "fast-check";
import { expect, test } from "vitest";
import type { Event } from "../../../core/event.js";
import { Grammar } from "../../../core/grammar.js";
import type { Op, OpOf } from "../../../core/op.js";
import { hostSide } from "./side.js";

const IN_TURN = { session: "s", turn: "t", parent: "p" };
const bash = { id: "c", name: "Bash" };
const began: Event[] = [
  { type: "session.ready", session: "s", parent: "o" },
  { type: "turn.started", ...IN_TURN },
];
const end: Event = { type: "turn.ended", ...IN_TURN, outcome: "completed" };

/** An opened session, and the events of the records that its agent writes. */
function talk(
  records: readonly object[],
  ops: readonly Op[] = [],
  how: Pick<OpOf<"session.open">, "open" | "after"> = { open: "new" },
): { heard: Event[]; written: unknown[]; wrong: string[] } {
  const side = hostSide({});
  const open: Op = { type: "session.open", id: "o", session: "s", ...how };
  side.write(open);
  side.write({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [] });
  const grammar = new Grammar();
  if (how.open === "attach") grammar.op(open);
  const steps = [...records.map((rec) => side.read({ rec })), ...ops.map((op) => side.write(op)), side.end({ code: 0 })];
  const heard = steps.flatMap((step) => step.in);
  const wrong = [...heard.flatMap((event) => grammar.event(event)), ...grammar.end()];
  return { heard, written: steps.flatMap(({ out }) => out.flatMap((each) => ("rec" in each ? [each.rec] : []))), wrong };
}

function typesOf(records: readonly object[]): string[] {
  const { heard, wrong } = talk(records);
  expect(wrong).toEqual([]);
  return heard.map(({ type }) => type);
}

test("whatever a driven agent says, and in whatever order, what its host hears is grammatical", () => {
  const names = (...all: string[]) => fc.option(fc.constantFrom(...all), { nil: undefined });
  const meta = fc.record({ session: names("s", "s", "s", "other"), turn: names("t", "t", "u"), under: names("c"), parent: names("p") });
  const call = fc.constantFrom("c", "d");
  const usage = { input: 1, output: 1 };
  const said = fc.oneof(
    fc.constantFrom<object>({ type: "session.ready" }, { type: "session.ended" }, { type: "turn.started" }, { type: "turn.started" }),
    fc.constantFrom<object>({ type: "turn.ended", outcome: "completed" }, { type: "usage", scope: "call", usage }, { type: "closed" }),
    fc.record({
      type: fc.constantFrom("text.delta", "thinking.delta", "text.done", "thinking.done"),
      text: fc.constantFrom("", "a", "ab"),
    }),
    fc.record({ type: fc.constantFrom("text.done", "thinking.done"), text: fc.constantFrom("a", "ab"), streamed: fc.constant(true) }),
    fc.record({ type: fc.constantFrom("tool.started", "tool.progress", "tool.delta"), call, text: fc.constant("x") }),
    fc.record({ type: fc.constant("tool.ended"), call, status: fc.constantFrom("ok", "denied") }),
    call.map((id) => ({ type: "tool.requested", call: { id, name: "Bash" } })),
    call.map((id) => ({ type: "approval.requested", calls: [{ id, name: "Bash" }] })),
    fc.constantFrom<object>({ type: "notice", level: "info", text: "n" }, { type: "host.request", request: "r", kind: "tool", call: "d" }),
  );
  const records = fc.array(
    fc.tuple(said, meta).map(([event, address]) => ({ ...address, ...event })),
    { maxLength: 24 },
  );
  fc.assert(
    fc.property(records, fc.constantFrom(0, 1, 2), fc.boolean(), fc.nat(5), (all, begun, isAttached, replayed) => {
      const end = all.findIndex((rec) => "type" in rec && rec.type === "session.ended");
      const seam = isAttached ? Math.min(replayed, end === -1 ? replayed : end) : 0;
      const said: unknown[] = all.map((rec, at) => (at < seam ? { ...rec, session: "s", replay: true } : rec));
      const how = isAttached ? { open: "attach" as const, after: { seq: 5 } } : undefined;
      const { wrong } = talk([...began.slice(0, begun), ...JSON.parse(JSON.stringify(said))], [], how);
      // An agent that does not wait for the answer has started the call: the reader cannot undo that.
      expect(wrong.filter((words) => !words.startsWith("rule 5"))).toEqual([]);
    }),
    { numRuns: 1000 },
  );
});

test("what is in order passes as it is, with what only it says", () => {
  const turn = [
    ...began,
    { type: "text.delta", ...IN_TURN, text: "a", at: 1, seq: 7, ext: { mine: 1 } },
    { type: "text.done", ...IN_TURN, text: "a", streamed: true, mood: "fine" },
    { type: "tool.requested", ...IN_TURN, call: bash },
    { type: "approval.requested", ...IN_TURN, calls: [bash] },
    { type: "tool.started", ...IN_TURN, call: "c" },
    { type: "tool.progress", ...IN_TURN, call: "c", text: "…" },
    { type: "tool.ended", ...IN_TURN, call: "c", status: "ok" },
    { type: "usage", ...IN_TURN, scope: "call", usage: { input: 1, output: 2 } },
    { ...end, usage: { input: 1, output: 2 }, fault: { code: "x", message: "kept", retryable: false } },
  ];
  expect(talk(turn)).toMatchObject({ heard: [...turn, { type: "session.ended" }], written: [], wrong: [] });
});

test("a turn ends once, and what is still said of it is told once and not heard", () => {
  const late = { type: "text.delta", ...IN_TURN, text: "late" };
  const { heard, wrong } = talk([...began, end, end, late, late, late]);
  expect(wrong).toEqual([]);
  expect(heard.map(({ type }) => type)).toEqual(["session.ready", "turn.started", "turn.ended", "notice", "session.ended"]);
  expect(heard[3]).toMatchObject({ text: "The agent told of turn 't', which does not run, and was not heard" });
});

test("an error of a turn that has ended is an error all the same", () => {
  const error = { type: "error", ...IN_TURN, fault: { code: "x", message: "m", retryable: false } };
  expect(typesOf([...began, end, error])).toContain("error");
});

test("an approval after the end of its turn is denied: nobody could answer it", () => {
  const { heard, written } = talk([...began, end, { type: "approval.requested", ...IN_TURN, calls: [bash] }]);
  expect(heard.map(({ type }) => type)).not.toContain("approval.requested");
  expect(written).toMatchObject([{ type: "approval.answer", session: "s", answers: [{ call: "c", decision: "deny" }] }]);
});

test("an agent that says ready twice has news, not another session", () => {
  expect(typesOf([...began, { type: "session.ready", session: "s", config: { model: "m" } }, end])).toEqual([
    "session.ready",
    "turn.started",
    "session.updated",
    "turn.ended",
    "session.ended",
  ]);
});

test("a turn that begins within another ends that one as failed", () => {
  const { heard } = talk([...began, { type: "turn.started", session: "s", turn: "u" }]);
  expect(heard[3]).toMatchObject({ type: "turn.ended", turn: "t", outcome: "failed" });
  expect(heard[4]).toMatchObject({ type: "turn.started", turn: "u" });
});

test("an agent that names every turn alike is understood, and hears its own names", () => {
  const side = hostSide({});
  side.write({ type: "session.open", id: "o", session: "s", open: "new" });
  for (const rec of [...began, end]) side.read({ rec });
  side.write({ type: "turn.prompt", id: "q", session: "s", turn: "host's", parts: [] });
  const again = { session: "s", turn: "t" };
  const { in: started } = side.read({ rec: { type: "turn.started", ...again } });
  expect(started).toEqual([{ type: "turn.started", session: "s", turn: "t#2", parent: "q" }]);
  expect(side.write({ type: "turn.interrupt", session: "s", turn: "t#2" }).out).toEqual([{ rec: { type: "turn.interrupt", ...again } }]);
  const { in: ended } = side.read({ rec: { type: "turn.ended", ...again, outcome: "completed" } });
  expect(ended).toEqual([{ type: "turn.ended", session: "s", turn: "t#2", parent: "q", outcome: "completed" }]);
});

test("a call that is named again is another one, and its answer finds it", () => {
  const requested = { type: "tool.requested", ...IN_TURN, call: bash };
  const ended = { type: "tool.ended", ...IN_TURN, call: "c", status: "ok" };
  const { heard, written } = talk(
    [...began, requested, ended, requested, { type: "approval.requested", ...IN_TURN, calls: [bash] }],
    [{ type: "approval.answer", session: "s", answers: [{ call: "c#2", decision: "allow" }] }],
  );
  expect(heard[5]).toMatchObject({ type: "approval.requested", calls: [{ id: "c#2" }] });
  expect(written).toMatchObject([{ answers: [{ call: "c", decision: "allow" }] }]);
});

test("what is told of a session that nobody opened is told once and not heard", () => {
  const stray = { type: "text.delta", session: "other", turn: "t", text: "x" };
  expect(typesOf([...began, stray, stray, end])).toEqual(["session.ready", "turn.started", "notice", "turn.ended", "session.ended"]);
});

test("a host that attaches in the middle of a turn hears the rest of it as it is", () => {
  const meta = { session: "s", turn: "t", parent: "p" };
  const turn = [
    { type: "turn.started", ...meta },
    { type: "text.delta", ...meta, text: "one " },
    { type: "text.delta", ...meta, text: "two" },
    { type: "text.done", ...meta, text: "one two", streamed: true },
    { type: "tool.requested", ...meta, call: bash },
    { type: "approval.requested", ...meta, calls: [bash] },
    { type: "approval.settled", ...meta, call: "c", decision: "allow", by: { client: "x" } },
    { type: "tool.started", ...meta, call: "c" },
    { type: "tool.requested", ...meta, under: "c", call: { id: "d", name: "Read" } },
    { type: "tool.ended", ...meta, under: "c", call: "d", status: "ok" },
    { type: "tool.ended", ...meta, call: "c", status: "ok" },
    { type: "text.delta", ...meta, text: "three" },
    { type: "text.done", ...meta, text: "three", streamed: true },
    { type: "usage", ...meta, scope: "call", usage: { input: 1, output: 2 } },
    { type: "turn.ended", ...meta, outcome: "completed", usage: { input: 1, output: 2 } },
  ];
  for (let from = 0; from < turn.length; from++) {
    for (let seam = from; seam < turn.length; seam++) {
      const side = hostSide({});
      side.write({ type: "session.open", id: "o", session: "s", open: "attach", ...(from > 0 && { after: { seq: from } }) });
      const ready = { type: "session.ready", session: "s", parent: "o", replay: seam - from };
      const said = [ready, ...turn.slice(from, seam).map((event) => ({ ...event, replay: true })), ...turn.slice(seam)];
      expect(said.flatMap((rec) => side.read({ rec }).in)).toEqual(said);
      // The same host comes back, and hears the turn from its beginning.
      side.write({ type: "session.open", id: "again", session: "s", open: "attach" });
      const whole = [{ ...ready, parent: "again", replay: turn.length }, ...turn.map((event) => ({ ...event, replay: true }))];
      expect(whole.flatMap((rec) => side.read({ rec }).in)).toEqual(whole);
    }
  }
});
