/** The licences of the packages that the build contains. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const [, ...notices] = readFileSync("dist/THIRD-PARTY-NOTICES.txt", "utf8").split(/^(?=\S+ \d+\.\d+\.\d+ \([^)]+\)$)/m);

test("every package in the build comes with the text of its licence", () => {
  const names = notices.map((notice) => notice.split(" ")[0]);
  expect(names).toEqual(expect.arrayContaining(["@earendil-works/pi-tui", "highlight.js", "ignore", "marked", "valibot"]));
  const textless = notices.filter((notice) => !/permission|redistribution|terms and conditions/i.test(notice));
  expect(textless).toEqual([]);
});

test("a package without a licence file has its author's name above the text", () => {
  const [notice = ""] = notices.filter((each) => each.startsWith("@earendil-works/pi-tui "));
  expect(notice).toContain("Mario Zechner\n\nPermission is hereby granted, free of charge");
});
