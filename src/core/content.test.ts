import * as v from "valibot";
import { expect, test } from "vitest";
import { Part, plainText } from "./content.js";
import { ParleyError, systemCode, toFault } from "./errors.js";
import { canonicalTool, categoryOf } from "./names.js";
import { addUsage } from "./usage.js";

test("plain text of content is its words, one part below the other, without what has none", () => {
  const parts: Part[] = [
    { type: "text", text: "see" },
    { type: "image", mime: "image/png", data: "AAAA" },
    {
      type: "todo",
      items: [
        { text: "one", status: "completed" },
        { text: "two", status: "in_progress" },
        { text: "three", status: "pending" },
      ],
    },
    { type: "file", path: "a.txt" },
    { type: "json", data: { a: 1 } },
    { type: "diff", path: "a", before: null, after: "x", patch: "@@", stat: { added: 1, removed: 0 } },
  ];
  expect(plainText(parts)).toBe('see\n[x] one\n[~] two\n[ ] three\n{"a":1}\n@@');
});

test("a part keeps fields that we do not know", () => {
  expect(v.parse(Part, { type: "text", text: "a", lang: "en" })).toEqual({ type: "text", text: "a", lang: "en" });
});

test("tools of other agents have our names and categories, and unknown ones are taken for commands", () => {
  expect(["edit_file", "EditTool", "ExecCommand", "Agent", "Read", "toString"].map(canonicalTool)).toEqual([
    "Edit",
    "Edit",
    "Bash",
    "Spawn",
    "Read",
    "toString",
  ]);
  expect(["read_file", "Edit", "Shell", "mcp__files__read", "launch_rocket", "constructor"].map(categoryOf)).toEqual([
    "info",
    "edit",
    "exec",
    "mcp",
    "exec",
    "exec",
  ]);
});

test("usage adds up by kind", () => {
  const sum = addUsage({ input: 1, output: 2, cacheRead: 3 }, { input: 10, output: 20, reasoning: 5 });
  expect(sum).toEqual({ input: 11, output: 22, cacheRead: 3, cacheWrite: 0, reasoning: 5 });
  expect(addUsage(undefined, { input: 1, output: 1 })).toEqual({ input: 1, output: 1 });
});

test("anything thrown becomes a fault", () => {
  const fault = { code: "config", message: "No key", param: "KEY" };
  expect(toFault(new ParleyError(fault))).toBe(fault);
  expect(toFault(new Error("oops"))).toEqual({ code: "internal", message: "oops", retryable: false });
  expect(toFault("oops").message).toBe("oops");
  expect(systemCode(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe("ENOENT");
  expect(systemCode(Object.assign(new Error("x"), { code: 5 }))).toBeUndefined();
});
