import { expect, test } from "vitest";
import { argumentRows } from "./call-arguments.js";

test("arguments are one row a value, with lists and groups indented and lines of text below their name", () => {
  const tasks = [
    { name: "one", prompt: "write\na poem" },
    { name: "two", tags: ["a", "b"], empty: [], none: {} },
  ];
  expect(argumentRows({ tasks, deep: { count: 2, on: true }, nothing: null, absent: undefined })).toEqual([
    "tasks:",
    "  - name: one",
    "    prompt:",
    "      write",
    "      a poem",
    "  - name: two",
    "    tags:",
    "      - a",
    "      - b",
    "    empty: []",
    "    none: {}",
    "deep:",
    "  count: 2",
    "  on: true",
    "nothing: null",
  ]);
});
