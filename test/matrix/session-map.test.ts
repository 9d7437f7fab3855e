/** The relay's memory of names. */
import { chmodSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sessionMap } from "../../src/cli/relay/session-map.js";
import { scratch } from "../process/harness.js";

it("gives back what was said last, whatever the names are, to everybody who asks in this home", () => {
  const home = scratch();
  const expected = new Map<string, unknown>();
  const known = fc.record({ sessionId: fc.string(), model: fc.string(), provider: fc.string() }, { requiredKeys: ["sessionId"] });
  fc.assert(
    fc.property(fc.string(), known, fc.constantFrom("aionrs", "native"), (name, session, dialect) => {
      expect(sessionMap(home, dialect).set(name, session)).toBe(true);
      expected.set(`${dialect} ${name}`, session);
      for (const [key, value] of expected) {
        const [kind = "", ...rest] = key.split(" ");
        expect(sessionMap(home, kind).get(rest.join(" "))).toEqual(value);
      }
    }),
    { numRuns: 50 },
  );
  expect(sessionMap(home, "aionrs").get("never said")).toBeUndefined();
});

it("is for its owner's eyes, and forgets the oldest of very many", () => {
  const home = scratch();
  const map = sessionMap(home, "native");
  map.set("oldest", { sessionId: "0" });
  const folder = join(home, "relay");
  const [first = ""] = readdirSync(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, first)).mode & 0o777).toBe(0o600);
  utimesSync(join(folder, first), 1, 1);
  for (let count = 1; count < 2000; count++) writeFileSync(join(folder, `${count}.json`), "{}");
  expect(map.get("oldest")).toEqual({ sessionId: "0" });
  map.set("newest", { sessionId: "1" });
  expect([map.get("oldest"), map.get("newest")]).toEqual([undefined, { sessionId: "1" }]);
  expect(readdirSync(folder)).toHaveLength(2000);
});

it("that is broken is no memory, and one that cannot be written says so", () => {
  const home = scratch();
  const map = sessionMap(home, "native");
  map.set("a", { sessionId: "1" });
  const [file = ""] = readdirSync(join(home, "relay"));
  writeFileSync(join(home, "relay", file), "{torn");
  expect(map.get("a")).toBeUndefined();
  writeFileSync(join(home, "no-folder"), "");
  chmodSync(join(home, "no-folder"), 0o400);
  expect(sessionMap(join(home, "no-folder"), "native").set("a", { sessionId: "1" })).toBe(false);
});
