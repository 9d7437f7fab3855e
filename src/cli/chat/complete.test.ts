import { expect, test } from "vitest";
import { completion } from "./complete.js";

const suggest =
  (...values: string[]) =>
  () =>
    Promise.resolve({ suggestions: values.map((value) => ({ label: value, value })) });

test.each([
  ["/mo", ["mode", "model"], "/mo", ["/mode", "/model"]],
  ["/cont", ["context"], "/cont", ["/context "]],
  ["/com", ["compact", "compress", "welcome"], "/com", ["/compact", "/compress"]],
  ["/mode pl", ["mode plan"], "/mode pl", ["/mode plan "]],
  ["see @al", ["src/alpha.ts", "src/alpine.ts", "a-loose-match"], "@al", ["@src/alpha.ts", "@src/alpine.ts"]],
  ["see @src/", ["src/deep/"], "@src/", ["@src/deep/"]],
  ["@xy", ["x-and-y"], "@xy", ["@x-and-y "]],
  [String.raw`@my\ no`, [String.raw`my\ notes.md`], String.raw`@my\ no`, [String.raw`@my\ notes.md `]],
  ["me@example", ["example.md"], "me@example", []],
  ["no trigger", ["x"], "no trigger", []],
])("%j with %j", async (line, values, typed, offered) => {
  expect(await completion(line, suggest(...values))).toEqual({ typed, values: offered });
});

test("no suggestions, or none yet, are none", async () => {
  expect(await completion("/x", () => Promise.resolve(undefined))).toEqual({ typed: "/x", values: [] });
});
