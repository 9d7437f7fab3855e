import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "./entry.js";
import { Ledger } from "./ledger.js";

const id = fc.constantFrom("1", "2", "3", "4");
const place = { platform: fc.constantFrom("a", "b"), chat: fc.constantFrom("x", "y") };
const key = fc.option(fc.constantFrom("k1", "k2", "k3"), { nil: undefined });

const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.record({ ...place, id, key }).map(({ key: given, ...rest }): Entry => ({
    kind: "received",
    at: 1,
    session: "s",
    from: "f",
    text: "t",
    attachments: [],
    ...rest,
    ...(given !== undefined && { key: given }),
  })),
  fc.record({ kind: fc.constant("started" as const), id }),
  fc.record({ kind: fc.constant("answered" as const), id }),
  fc.record({
    kind: fc.constant("told" as const),
    id,
    at: fc.constant(1),
    ...place,
    type: fc.constant("reply" as const),
    text: fc.string(),
  }),
  fc.record({ kind: fc.constant("attempted" as const), id }),
  fc.record({ kind: fc.constant("delivered" as const), id }),
  fc.record({ kind: fc.constant("seen" as const), platform: place.platform, key: fc.constantFrom("k1", "k2", "k3"), id: fc.constant("") }),
  fc.record({ kind: fc.constant("chat" as const), ...place, current: fc.constant("c"), names: fc.constant<string[]>(["c"]) }),
);

test("the short form of a log says what the log said", () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), (log) => {
      const ledger = folded(log);
      const again = folded([...ledger.entries()]);
      expect([...again.messages.values()]).toEqual([...ledger.messages.values()]);
      expect([...again.unsent.values()]).toEqual([...ledger.unsent.values()]);
      for (const [platform, chat] of [
        ["a", "x"],
        ["a", "y"],
        ["b", "x"],
        ["b", "y"],
      ] as const) {
        expect(again.chat(platform, chat)).toEqual(ledger.chat(platform, chat));
      }
      for (const platform of ["a", "b"]) {
        for (const known of ["k1", "k2", "k3"]) {
          expect(again.seen(platform, known), `${platform} ${known}`).toBe(ledger.seen(platform, known));
        }
      }
    }),
  );
});

test("the newest of many keys are remembered", () => {
  const ledger = folded(Array.from({ length: 3000 }, (_, index): Entry => ({ kind: "seen", platform: "a", key: `k${index}`, id: "" })));
  expect([ledger.seen("a", "k0"), ledger.seen("a", "k999"), ledger.seen("a", "k1000"), ledger.seen("a", "k2999")]).toEqual([
    undefined,
    undefined,
    "",
    "",
  ]);
});

function folded(log: readonly Entry[]): Ledger {
  const ledger = new Ledger();
  for (const line of log) ledger.apply(line);
  return ledger;
}
