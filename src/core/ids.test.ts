import { expect, test } from "vitest";
import { mintId } from "./ids.js";

test("ids follow one another, within a millisecond and across many", () => {
  const ids = Array.from({ length: 50_000 }, mintId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.filter((id) => !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toEqual([]);
});
