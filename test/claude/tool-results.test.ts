/** Results of tools as data, in the shapes of Claude Code's own tools: `tool_use_result` of the line, and `tool_response` for hooks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import type { Reply } from "../support/model-server.js";
import { ask, host } from "./sdk.js";

const call = (name: string, args: Record<string, unknown>): Reply => ({ calls: [{ name, args }] });
const freely = { permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true } as const;
const results = (all: readonly SDKMessage[]): unknown[] =>
  all.flatMap((message) => (message.type === "user" && message.tool_use_result !== undefined ? [message.tool_use_result] : []));
const done: Reply = { text: ["Done."] };

test("files that are written, read and edited have their paths, contents and hunks", async () => {
  const edit = { file_path: "a.txt", old_string: "two", new_string: "TWO" };
  const sdk = await host(
    [
      call("Write", { file_path: "a.txt", content: "one\ntwo\n" }),
      call("Read", { file_path: "a.txt" }),
      call("Edit", edit),
      call("Write", { file_path: "a.txt", content: "one\nthree\n" }),
      call("Edit", {
        file_path: "a.txt",
        edits: [
          { old_string: "one", new_string: "1" },
          { old_string: "three", new_string: "3" },
        ],
      }),
      call("Read", { file_path: "a.txt", offset: 1, limit: 1 }),
      call("Read", { file_path: "none.txt" }),
      done,
    ],
    freely,
  );
  const filePath = join(sdk.cwd, "a.txt");
  const hunk = { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2 };
  expect(results((await ask(sdk, "go")).all)).toEqual([
    { type: "create", filePath, content: "one\ntwo\n", structuredPatch: [], originalFile: null, userModified: false },
    { type: "text", file: { filePath, content: "one\ntwo", numLines: 2, startLine: 1, totalLines: 2 } },
    {
      filePath,
      oldString: "two",
      newString: "TWO",
      originalFile: "one\ntwo\n",
      structuredPatch: [{ ...hunk, lines: [" one", "-two", "+TWO"] }],
      userModified: false,
      replaceAll: false,
    },
    {
      type: "update",
      filePath,
      content: "one\nthree\n",
      structuredPatch: [{ ...hunk, lines: [" one", "-TWO", "+three"] }],
      originalFile: "one\nTWO\n",
      userModified: false,
    },
    expect.objectContaining({ filePath, oldString: "one\nthree\n", newString: "1\n3\n", originalFile: "one\nthree\n", replaceAll: false }),
    { type: "text", file: { filePath, content: "1", numLines: 1, startLine: 1, totalLines: 2 } },
    expect.stringContaining("Error: Failed to read file none.txt"),
  ]);
});

test("an image has its bytes and their number", async () => {
  const sdk = await host([call("Read", { file_path: "a.png" }), done], freely);
  const bytes = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAA=", "base64");
  writeFileSync(join(sdk.cwd, "a.png"), bytes);
  expect(results((await ask(sdk, "go")).all)).toEqual([
    { type: "image", file: { base64: bytes.toString("base64"), type: "image/png", originalSize: bytes.length } },
  ]);
});

test("commands have their outputs apart, and searches their files", async () => {
  const sdk = await host(
    [
      call("Bash", { command: "echo out; echo err >&2" }),
      call("Bash", { command: "true" }),
      call("Bash", { command: "exit 3" }),
      call("Grep", { pattern: "needle" }),
      call("Grep", { pattern: "needle", output_mode: "files" }),
      call("Grep", { pattern: "needle", output_mode: "count" }),
      call("Glob", { pattern: "*.txt" }),
      call("Glob", { pattern: "*.nothing" }),
      done,
    ],
    freely,
  );
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(sdk.cwd, name), "needle\n");
  const found = { numFiles: 2, filenames: ["a.txt", "b.txt"] };
  expect(results((await ask(sdk, "go")).all)).toEqual([
    { stdout: "out", stderr: "err", interrupted: false, isImage: false, noOutputExpected: false },
    { stdout: "", stderr: "", interrupted: false, isImage: false, noOutputExpected: false },
    expect.stringContaining("Error: Exit code: 3"),
    { mode: "content", numFiles: 0, filenames: [], content: "a.txt:1:needle\nb.txt:1:needle", numLines: 2 },
    { mode: "files_with_matches", ...found },
    { mode: "count", numFiles: 2, filenames: [], content: "a.txt:1\nb.txt:1", numMatches: 2 },
    {
      numFiles: 2,
      filenames: expect.arrayContaining(["a.txt", "b.txt"]),
      durationMs: expect.any(Number),
      truncated: false,
      totalMatches: 2,
      countIsComplete: true,
    },
    { numFiles: 0, filenames: [], durationMs: expect.any(Number), truncated: false, totalMatches: 0, countIsComplete: true },
  ]);
});

test("a list of todos has the one before, and a sub-agent its report and its counts", async () => {
  const todo = (status: string): Reply => call("TodoWrite", { todos: [{ content: "x", status }] });
  const spawn = call("Spawn", { tasks: [{ name: "look", prompt: "Look around" }] });
  const sdk = await host([todo("pending"), todo("completed"), spawn, { text: ["Found."], usage: { input: 5, output: 2 } }, done], freely);
  const item = (status: string): object => ({ content: "x", status, activeForm: "x" });
  expect(results((await ask(sdk, "go")).all)).toEqual([
    { oldTodos: [], newTodos: [item("pending")] },
    { oldTodos: [item("pending")], newTodos: [item("completed")] },
    expect.objectContaining({
      status: "completed",
      prompt: "Look around",
      agentType: "general",
      content: [{ type: "text", text: "Found." }],
      totalToolUseCount: 0,
      totalTokens: 7,
    }),
  ]);
});

test("a hook hears the response of a tool in the same shape", async () => {
  const sdk = await host([call("Bash", { command: "echo out" }), call("Write", { file_path: "a.txt", content: "x\n" }), done], freely);
  const responses: unknown[] = [];
  await ask(sdk, "go", {
    hooks: {
      PostToolUse: [
        {
          hooks: [
            (input) => {
              responses.push("tool_response" in input ? input.tool_response : undefined);
              return Promise.resolve({});
            },
          ],
        },
      ],
    },
  });
  expect(responses).toMatchObject([
    { stdout: "out", stderr: "" },
    { type: "create", filePath: join(sdk.cwd, "a.txt"), content: "x\n" },
  ]);
});
