import { expect, test } from "vitest";
import { ageOf } from "./age.js";

test("an age is told in the largest whole unit", () => {
  const ages = [5, 60, 150, 3600, 7300, 86_400, 200_000].map((seconds) => ageOf(Date.now() - 1000 * seconds));
  expect(ages).toEqual(["just now", "1 minute ago", "2 minutes ago", "1 hour ago", "2 hours ago", "1 day ago", "2 days ago"]);
});
