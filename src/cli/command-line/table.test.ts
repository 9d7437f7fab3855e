import { expect, test } from "vitest";
import { table } from "./table.js";

test("two columns that fit: long names have a line of their own, long meanings go on below", () => {
  const rows = [
    ["/help", "Lists the commands, or explains one"],
    ["/a-name-that-is-longer-than-most", "Is odd"],
    ["/quit", ""],
  ] as const;
  expect(table(rows, 31)).toBe(
    ["  /help  Lists the commands, or", "         explains one", "  /a-name-that-is-longer-than-most", "         Is odd", "  /quit"].join(
      "\n",
    ),
  );
});
