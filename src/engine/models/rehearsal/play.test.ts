import { beforeEach, describe, expect, test } from "vitest";
import type { Message, Model } from "../model.js";
import { assistant, partsOf, playTurn, requestOf, textOf, user, type Answer } from "./testing.js";
import { describeOrders, openRehearsal } from "./index.js";

const FILES: Answer = (call) => (call.name === "Read" ? { text: "     1\tone\n     2\ttwo" } : { text: "ok" });

let model: Model;
beforeEach(async () => {
  model = await openRehearsal({});
});

function obey(order: string, answer: Answer = FILES, tools?: readonly string[]) {
  return playTurn(model, [user(order)], answer, tools);
}

describe("one order", () => {
  test("announces, calls, tells", async () => {
    const { batches, said } = await obey("read notes.txt");
    expect(batches).toEqual([[{ id: "call_1", name: "Read", args: { file_path: "notes.txt" } }]]);
    expect(said).toEqual(["I'll read notes.txt.", "notes.txt:\none\ntwo"]);
  });

  test("several files are read at once", async () => {
    const { batches } = await obey("read a.txt and b.txt");
    expect(batches.map((batch) => batch.map(({ args }) => args["file_path"]))).toEqual([["a.txt", "b.txt"]]);
  });

  test("an edit reads first", async () => {
    const { batches, last } = await obey("replace foo with bar in a.txt");
    expect(batches.flat().map(({ name, args }) => [name, args])).toEqual([
      ["Read", { file_path: "a.txt" }],
      ["Edit", { file_path: "a.txt", old_string: "foo", new_string: "bar" }],
    ]);
    expect(last).toBe("Replaced 'foo' with 'bar' in a.txt.");
  });

  test.each<[string, string, Record<string, unknown>]>([
    ["write 'hi' to a.txt", "Write", { file_path: "a.txt", content: "hi" }],
    ["run `ls`", "Bash", { command: "ls" }],
    ["show the first 10 lines of a.txt", "Read", { file_path: "a.txt", limit: 10 }],
    ["search for TODO in src", "Grep", { pattern: "TODO", path: "src" }],
    ["find all *.md files", "Glob", { pattern: "**/*.md" }],
    [
      "make a todo list: a, b",
      "TodoWrite",
      {
        todos: [
          { content: "a", status: "pending" },
          { content: "b", status: "pending" },
        ],
      },
    ],
    ["fetch https://example.com", "WebFetch", { url: "https://example.com" }],
    ["ask a sub-agent to say hi", "Spawn", { tasks: [{ name: "agent-1", prompt: "say hi" }] }],
    ['call the tool Read with {"file_path": "x", "limit": 3}', "Read", { file_path: "x", limit: 3 }],
    ['append "it\'s" to a.txt', "Bash", { command: "printf '%s\\n' 'it'\\''s' >> a.txt" }],
  ])("%s", async (order, name, args) => {
    const { batches } = await obey(order);
    expect(batches).toEqual([[{ id: "call_1", name, args }]]);
  });

  test("broken arguments reach the engine as they were written", async () => {
    const { batches } = await obey("call the tool Read with {not json");
    expect(batches).toEqual([[{ id: "call_1", name: "Read", args: {}, raw: "{not json" }]]);
  });

  test.each<[string, string, string]>([
    ["run `date`", "Exit code: 0\nSTDOUT:\nMonday", "`date`:\nMonday"],
    ["run `true`", "Exit code: 0", "`true` printed nothing."],
    ["grep foo", "a.ts:1:foo\nb.ts:2:foo", "2 matches for 'foo':\na.ts:1:foo\nb.ts:2:foo"],
    ["grep foo", "No matches found", "0 matches for 'foo'."],
    ["list files", "a.ts", "1 file for **/*:\na.ts"],
    ["ask a sub-agent to say hi", "## agent-1 [OK]\nhi", "The sub-agent:\nhi"],
  ])("%s tells what came of it: %s", async (order, result, told) => {
    const { last } = await obey(order, () => ({ text: result }));
    expect(last).toBe(told);
  });

  test("a long result is cut in the summary", async () => {
    const { last } = await obey("run `yes`", () => ({ text: "y".repeat(5000) }));
    expect(last.length).toBeLessThan(2100);
    expect(last).toMatch(/more characters\)$/);
  });

  test("a missing tool is named, not called", async () => {
    const { batches, last } = await obey("run `ls`", FILES, ["Read"]);
    expect(batches).toEqual([]);
    expect(last).toContain("Bash");
    expect(last).toContain("not available");
  });

  test("unknown wording is repeated, with what would be understood", async () => {
    const { last } = await obey("Dance\nwith me");
    expect(last).toContain("“Dance with me”");
    expect(last).toContain(describeOrders());
  });
});

describe("several orders", () => {
  test("each in its turn, with what the one before brought", async () => {
    const { batches, said } = await obey("read a.txt, then write its content to b.txt and run cat b.txt");
    expect(batches.flat().map(({ name, args }) => [name, args])).toEqual([
      ["Read", { file_path: "a.txt" }],
      ["Write", { file_path: "b.txt", content: "one\ntwo" }],
      ["Bash", { command: "cat b.txt" }],
    ]);
    expect(said).toEqual(["I'll read a.txt, then write b.txt, then run `cat b.txt`.", "", "", expect.stringContaining("Wrote b.txt.")]);
  });

  test("the output of a command is saved without its exit code", async () => {
    const { batches } = await obey("run `date` and save the output to now.txt", () => ({ text: "Exit code: 0\nSTDOUT:\nMonday" }));
    expect(batches[1]?.[0]?.args).toEqual({ file_path: "now.txt", content: "Monday" });
  });

  test("speech before, between and after calls", async () => {
    const { said } = await obey("say one, then read a.txt, then say two");
    expect(said).toEqual(["one\n\nI'll read a.txt.", "a.txt:\none\ntwo\n\ntwo"]);
  });

  test("saying the result replaces the summary", async () => {
    expect((await obey("read a.txt and say it")).last).toBe("one\ntwo");
  });

  test("a denial is told with its reason, and what depends on it is left out", async () => {
    const { batches, last } = await obey("read a.txt, then write its content to b.txt, then say bye", () => ({
      text: "Tool denied: not today",
      failed: true,
    }));
    expect(batches).toHaveLength(1);
    expect(last).toBe("That was denied: not today.\n\nbye");
  });

  test("a file that could not be written is not used afterwards; other orders go on", async () => {
    const { batches } = await obey("write 'x' to a.sh, then run `sh a.sh`, then run `date`", (call) =>
      call.name === "Write" ? { text: "Tool denied: no", failed: true } : { text: "Exit code: 0" },
    );
    expect(batches.flat().map(({ args }) => args["command"] ?? args["file_path"])).toEqual(["a.sh", "date"]);
  });

  test("a failure is told in the tool's words, and permission denied by the system is no denial", async () => {
    const words = "Exit code: 1\nSTDERR:\ncat: x: Permission denied";
    expect((await obey("run `cat x`", () => ({ text: words, failed: true }))).last).toBe(`Bash failed: ${words}`);
  });

  test("one of two parallel calls denied", async () => {
    const { last } = await obey("read a.txt and b.txt", (call) =>
      call.args["file_path"] === "a.txt" ? { text: "Tool denied: no", failed: true } : { text: "     1\tone" },
    );
    expect(last).toBe("That was denied: no.\nb.txt:\none");
  });
});

describe("steering", () => {
  async function steered(text: string) {
    const messages: Message[] = [user("read a.txt then run `date`")];
    const first = await partsOf(model, requestOf(messages));
    const call = first.flatMap((part) => (part.type === "call" ? [part.call] : []))[0];
    if (call === undefined) throw new Error("no call");
    messages.push({ role: "assistant", blocks: [{ type: "call", call }] });
    messages.push({ role: "tool", results: [{ call: call.id, name: "Read", parts: [], failed: false }] });
    messages.push(user(text));
    return playTurn(model, messages, FILES);
  }

  test("is the newest order", async () => {
    const { batches, said } = await steered("read b.txt instead");
    expect(batches.flat().map(({ args }) => args)).toEqual([{ file_path: "b.txt" }]);
    expect(said[0]).toBe("Noted: read b.txt instead\n\nI'll read b.txt.");
  });

  test("that orders nothing is noted, and the work goes on", async () => {
    const { batches, said } = await steered("be gentle");
    expect(batches.flat().map(({ args }) => args)).toEqual([{ command: "date" }]);
    expect(said[0]).toBe("Noted: be gentle");
    expect(said[1]).not.toContain("Noted");
  });
});

describe("speech", () => {
  test.each([
    ["say hello", "hello"],
    ["count to 4", "1 2 3 4"],
    ["count down from 3", "3 2 1"],
    ["say hi and say ho", "hi\n\nho"],
    ["wait 1 ms", "Done."],
    ["stream 3 pieces of 'ab'", "ababab"],
    ["remember the word plum", "I will remember the word: plum."],
  ])("%s", async (order, text) => {
    expect((await obey(order)).last).toBe(text);
  });

  test("thinking comes before the text", async () => {
    const parts = await partsOf(model, requestOf([user("think about the sea, then say ok")]));
    expect(parts.map((part) => part.type)).toEqual([
      ...Array.from({ length: 6 }, () => "thinking"),
      "thinking.end",
      "text",
      "text.end",
      "usage",
      "finish",
    ]);
  });
});

describe("memory", () => {
  test.each([
    [["remember the word plum"], "what word did I tell you to remember?", "The word is plum."],
    [["remember the word plum", "remember the word pear"], "what was the word?", "The word is pear."],
    [["my name is Ada. read a.txt"], "what is my name?", "Your name is Ada."],
    [["my favourite colour is blue"], "do you remember my favourite colour?", "Your favourite colour is blue."],
    [["remember to buy milk"], "what did I ask you to remember?", "You told me to remember: to buy milk."],
    [["say hi"], "what is my name?", "You have not told me the name yet."],
    [["say hi", "say ho"], "what did I say first?", "The first thing you said was: “say hi”"],
    [["say hi", "say ho"], "what was my previous message?", "Before this you said: “say ho”"],
    [["say hi", "read a.txt"], "summarize the conversation", "So far you asked:\n- say hi\n- read a.txt"],
  ])("%j, then %s", async (earlier, question, answer) => {
    const messages = earlier.flatMap((text) => [user(text), assistant("ok")]);
    expect(textOf(await partsOf(model, requestOf([...messages, user(question)])))).toBe(answer);
  });

  test.each<[string, Message[]]>([
    [
      "a first message that was acknowledged",
      [user("The build is broken."), assistant("I have read the earlier context."), user("what do you know?")],
    ],
    ["a first message before the prompt", [user("The build is broken."), user("what do you know?")]],
    ["a tagged block", [user("<context>\nThe build is broken.\n</context>\nwhat do you know?")]],
    ["a text before the prompt", [user("The build is broken.", "what do you know?")]],
  ])("seeded context: %s", async (_where, messages) => {
    expect(textOf(await partsOf(model, requestOf(messages)))).toBe("I was given this context: The build is broken.");
  });

  test("attachments are named", async () => {
    const message: Message = {
      role: "user",
      parts: [
        { type: "text", text: "what is attached?" },
        { type: "file", path: "a.txt", text: "12345" },
      ],
    };
    expect(textOf(await partsOf(model, requestOf([message])))).toBe("Attached: a.txt (5 characters).");
  });
});

describe("failures", () => {
  test.each([
    ["fail like a rate limit", { status: 429, retryable: true, message: "Rate limit exceeded" }],
    ["fail with a 500", { status: 500, retryable: true }],
    ["simulate an authentication error", { status: 401, retryable: false }],
    ["fail like an overloaded server", { status: 529, retryable: true }],
    ["simulate a network failure", { retryable: true }],
    ["cut the stream", { retryable: true }],
  ])("%s", async (order, fault) => {
    await expect(obey(order)).rejects.toMatchObject({ fault: { code: "provider", ...fault } });
    await expect(obey(order)).rejects.toMatchObject({ fault });
  });

  test("so many times, for each prompt", async () => {
    for (const request of [requestOf([user("fail twice, then say ok")]), requestOf([user("fail twice, then say ok")])]) {
      await expect(partsOf(model, request)).rejects.toThrow("Internal server error");
      await expect(partsOf(model, request)).rejects.toThrow("Internal server error");
      expect(textOf(await partsOf(model, request))).toBe("ok");
    }
  });
});

test("the same request gives the same parts, on any instance and after any other conversation", async () => {
  const request = requestOf([user("think hard, then read a.txt and b.txt")]);
  const first = await partsOf(await openRehearsal({}), request);
  await obey("read other.txt");
  const later = await partsOf(model, request);
  const withoutIds = (value: unknown) => JSON.stringify(value).replaceAll(/call_\d+/g, "call");
  expect(withoutIds(later)).toBe(withoutIds(first));
});
