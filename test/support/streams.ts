/** Generators of legal streams: what a well-behaved agent says, and the answers that it got. */
import fc from "fast-check";
import type { Event, EventOf, Usage } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";

export type Entry = { op: Op } | { event: Event };

const words = fc.string({ minLength: 1, maxLength: 6 });
const kind = fc.constantFrom("text" as const, "thinking" as const);
const usage: fc.Arbitrary<Usage> = fc.record({ input: fc.nat(9), output: fc.nat(9) });

/** One or two sessions, interleaved, then `closed`. */
export function legalStream(): fc.Arbitrary<Entry[]> {
  return fc
    .tuple(session("s1"), fc.oneof(fc.constant<Entry[]>([]), session("s2")))
    .chain((sessions) => interleaved(sessions))
    .map((entries): Entry[] => [...entries, told({ type: "closed", code: 0 })]);
}

/** One turn of a session, from its start to its end. */
export function legalTurn(): fc.Arbitrary<Entry[]> {
  return turn("s", "t");
}

function session(name: string): fc.Arbitrary<Entry[]> {
  const turns = fc
    .integer({ min: 1, max: 3 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, n) => turn(name, `${name}-t${n}`))));
  return fc
    .tuple(turns, fc.boolean())
    .map(([all, ended]) => [
      told({ type: "session.ready", session: name }),
      ...all.flat(),
      ...(ended ? [told({ type: "session.ended", session: name })] : []),
    ]);
}

function turn(name: string, id: string): fc.Arbitrary<Entry[]> {
  const steps = fc.array(fc.oneof(block(), calls(id), report()), { maxLength: 5 });
  return steps.map((all) => {
    const address = { session: name, turn: id };
    const flat = all.flatMap((step, index) => step(`${id}-${index}`));
    const reported = flat.some((entry) => "event" in entry && entry.event.type === "usage");
    const end: EventOf<"turn.ended"> = { type: "turn.ended", outcome: "completed", ...(reported && { usage: { input: 1, output: 1 } }) };
    return [told({ type: "turn.started" }), ...flat, told(end)].map((entry) =>
      "event" in entry ? { event: { ...entry.event, ...address } } : { op: { ...entry.op, session: name } },
    );
  });
}

type Step = (prefix: string) => Entry[];

function block(): fc.Arbitrary<Step> {
  return fc.tuple(kind, fc.array(words, { maxLength: 3 }), words).map(([type, deltas, whole]) => () => [
    ...deltas.map((text) => told({ type: `${type}.delta`, text })),
    told(deltas.length === 0 ? { type: `${type}.done`, text: whole } : { type: `${type}.done`, text: deltas.join(""), streamed: true }),
  ]);
}

/** Some calls at once: requested together, asked for together or not at all, running side by side. */
function calls(id: string): fc.Arbitrary<Step> {
  const one = fc.record({ allowed: fc.boolean(), progress: fc.nat(2) });
  return fc
    .tuple(fc.array(one, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.infiniteStream(fc.nat()))
    .map(([all, asked, dice]) => (prefix) => {
      const named = all.map((call, index) => ({ ...call, id: `${id}-${prefix}-c${index}` }));
      const requested = named.map((call) => told({ type: "tool.requested", call: { id: call.id, name: "Bash", args: {} } }));
      if (!asked)
        return [
          ...requested,
          ...shuffledTogether(
            named.map((call) => run(call.id, true, call.progress)),
            dice,
          ),
        ];
      const answers = named.map((call) => ({ call: call.id, decision: call.allowed ? ("allow" as const) : ("deny" as const) }));
      return [
        ...requested,
        told({ type: "approval.requested", calls: named.map((call) => ({ id: call.id, name: "Bash" })) }),
        { op: { type: "approval.answer", answers } },
        ...shuffledTogether(
          named.map((call) => run(call.id, call.allowed, call.progress)),
          dice,
        ),
      ];
    });
}

function run(call: string, allowed: boolean, progress: number): Entry[] {
  if (!allowed) return [told({ type: "tool.ended", call, status: "denied" })];
  return [
    told({ type: "tool.started", call }),
    ...Array.from({ length: progress }, () => told({ type: "tool.progress", call, text: "." })),
    told({ type: "tool.ended", call, status: "ok" }),
  ];
}

function report(): fc.Arbitrary<Step> {
  return usage.map((counts) => () => [told({ type: "usage", scope: "call", usage: counts })]);
}

function interleaved(lists: readonly Entry[][]): fc.Arbitrary<Entry[]> {
  return fc.infiniteStream(fc.nat()).map((dice) => shuffledTogether(lists, dice));
}

/** Merges lists at random, each in its own order. */
function shuffledTogether(lists: readonly Entry[][], dice: Iterator<number>): Entry[] {
  const left = lists.map((list) => [...list]);
  const merged: Entry[] = [];
  for (let open = left.filter((list) => list.length > 0); open.length > 0; open = left.filter((list) => list.length > 0)) {
    const entry = open[Number(dice.next().value) % open.length]?.shift();
    if (entry !== undefined) merged.push(entry);
  }
  return merged;
}

function told(event: Event): Entry {
  return { event };
}
