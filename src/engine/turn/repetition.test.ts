import { expect, test } from "vitest";
import { Repetition } from "./repetition.js";

function round(repetition: Repetition, pattern: string, said: string): boolean {
  const call = { id: "c", name: "Glob", args: { pattern } };
  return repetition.notes([call], [{ call: "c", name: "Glob", parts: [{ type: "text", text: said }], failed: false }]);
}

test("the same calls with the same results, fifty times over", () => {
  const repetition = new Repetition();
  const told = Array.from({ length: 50 }, () => round(repetition, "*", "none"));
  expect(told.indexOf(true)).toBe(49);
});

test("another call or another result begins the count anew", () => {
  const repetition = new Repetition();
  for (let time = 0; time < 49; time++) round(repetition, "*", "none");
  expect(round(repetition, "*", "one")).toBe(false);
  for (let time = 0; time < 48; time++) expect(round(repetition, "*", "one")).toBe(false);
  expect(round(repetition, "?", "one")).toBe(false);
});
