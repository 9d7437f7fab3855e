import { expect, test } from "vitest";
import { builtinTools } from "./index.js";
import { bench } from "./testing.js";
import { todoWrite } from "./todo-write.js";

const tool = (name: string) => {
  const found = builtinTools.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no tool ${name}`);
  return found;
};

test("the tools, in order, with category and access", () => {
  expect(builtinTools.map(({ name, category, access }) => `${name} ${category} ${access}`)).toEqual([
    "Read info shared",
    "Write edit shared",
    "Edit edit shared",
    "apply_patch edit shared",
    "Bash exec exclusive",
    "BashOutput info none",
    "Glob info shared",
    "Grep info shared",
    "Spawn exec none",
    "TodoWrite info none",
    "WebFetch exec none",
    "WebSearch exec none",
  ]);
});

test.each([
  ["Read", { file_path: "src/a.ts" }, "Read src/a.ts"],
  ["Write", { file_path: "a\nb", content: "" }, "Write to a b"],
  ["Edit", { file_path: "a", old_string: "x", new_string: "y" }, "Edit a"],
  ["Bash", { command: "echo a\n\techo b\u001b[31m" }, "Execute: echo a echo b [31m"],
  ["Bash", { command: `${"x".repeat(79)}😀😀` }, `Execute: ${"x".repeat(79)}`],
  ["Glob", { pattern: "**/*.ts" }, "Search for **/*.ts"],
  ["Grep", { pattern: "a\nb" }, "Grep 'a b' in ."],
  ["Grep", { pattern: "a", path: "src" }, "Grep 'a' in src"],
  ["TodoWrite", { todos: [{ content: "a", status: "pending" }] }, "Update the todo list (1 items)"],
  ["WebFetch", { url: "https://example.org" }, "Fetch https://example.org"],
])("%s %j is titled %j", (name, args, title) => {
  expect(tool(name).title(args)).toBe(title);
});

test.each([
  ["Read", ["file_path"], ["file_path", "limit", "offset"]],
  ["Write", ["content", "file_path"], ["content", "file_path"]],
  ["Edit", ["file_path"], ["edits", "file_path", "new_string", "old_string", "replace_all"]],
  ["apply_patch", ["input"], ["input"]],
  ["Bash", ["command"], ["background", "command", "description", "timeout", "workdir"]],
  ["BashOutput", ["id"], ["end", "id", "input", "wait_seconds"]],
  ["Glob", ["pattern"], ["path", "pattern"]],
  ["Grep", ["pattern"], ["case_insensitive", "context", "glob", "output_mode", "path", "pattern"]],
  ["TodoWrite", ["todos"], ["todos"]],
  ["WebFetch", ["url"], ["max_chars", "url"]],
])("%s needs %j of %j", async (name, required, all) => {
  const parameters = await tool(name).parameters();
  expect(parameters).toMatchObject({ type: "object", required: expect.arrayContaining(required) });
  expect(Object.keys(parameters["properties"] ?? {}).sort()).toEqual(all);
  expect(parameters["required"]).toHaveLength(required.length);
});

test("TodoWrite keeps the list and shows it", async () => {
  const { run } = await bench();
  const given = [
    { content: "first", status: "completed", id: "1" },
    { content: "second", status: "in_progress" },
    { content: "third", status: "in_progress" },
  ];
  const items = [
    { id: "1", text: "first", status: "completed" },
    { text: "second", status: "in_progress" },
    { text: "third", status: "in_progress" },
  ];
  expect(await run(todoWrite, { todos: given })).toEqual({ parts: [{ type: "todo", items }] });
  expect(await run(todoWrite, { todos: [] })).toEqual({ parts: [{ type: "todo", items: [] }] });
});

test("TodoWrite refuses more than 100 items and odd ones", () => {
  const item = { content: "x", status: "pending" };
  expect(todoWrite.problem({ todos: Array.from({ length: 101 }, () => item) })).toBe("todos: at most 100 items");
  expect(todoWrite.problem({ todos: Array.from({ length: 100 }, () => item) })).toBeUndefined();
  expect(todoWrite.problem({ todos: [{ content: "x", status: "done" }] })).toMatch(/^todos\.0\.status: /);
  expect(todoWrite.problem({ todos: [{ content: " ", status: "pending" }] })).toBe("todos.0.content: must not be empty");
});
