import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orders } from "./orders.js";
import { RESULT, type Content, type RecallWhat, type Step } from "./step.js";

const read = (...files: string[]): Step => ({ do: "read", files });
const write = (file: string, content: Content): Step => ({ do: "write", file, content });
const append = (file: string, content: Content): Step => ({ do: "append", file, content });
const edit = (file: string, from: string, to: string): Step => ({ do: "edit", file, from, to });
const run = (command: string): Step => ({ do: "run", command });
const grep = (pattern: string, path?: string): Step => ({ do: "grep", pattern, ...(path !== undefined && { path }) });
const glob = (pattern: string, path?: string): Step => ({ do: "glob", pattern, ...(path !== undefined && { path }) });
const todo = (...items: string[]): Step => ({ do: "todo", items });
const spawn = (...prompts: string[]): Step => ({
  do: "spawn",
  tasks: prompts.map((prompt, index) => ({ name: `agent-${index + 1}`, prompt })),
});
const say = (text: Content): Step => ({ do: "say", text });
const think = (about: string): Step => ({ do: "think", about });
const fail = (status: number, times?: number): Step => ({ do: "fail", status, ...(times !== undefined && { times }) });
const remember = (fact: string, value: string): Step => ({ do: "remember", fact, value });
const recall = (what: RecallWhat): Step => ({ do: "recall", what });
const unknown = (text: string): Step => ({ do: "unknown", text });

type Row = readonly [order: string, ...steps: Step[]];

/** One row for each order that docs/rehearsal.md shows. */
const DOCUMENTED: readonly Row[] = [
  ["read notes.txt", read("notes.txt")],
  ["read a.txt and b.txt", read("a.txt", "b.txt")],
  ["show the first 10 lines of a.txt", { do: "read", files: ["a.txt"], limit: 10 }],
  ["write 'hello' to out.txt", write("out.txt", "hello")],
  ["create a file named x.md containing …", write("x.md", "…")],
  ["append 'more' to a.txt", append("a.txt", "more")],
  ["copy a.txt to b.txt", read("a.txt"), write("b.txt", RESULT)],
  ["move a.txt to b.txt", run("mv -- a.txt b.txt")],
  ["delete a.txt", run("rm -- a.txt")],
  ["replace foo with bar in a.txt", edit("a.txt", "foo", "bar")],
  ["replace all foo with bar in a.txt", { do: "edit", file: "a.txt", from: "foo", to: "bar", all: true }],
  ["run `ls -la`", run("ls -la")],
  ["execute npm test", run("npm test")],
  ["$ ls", run("ls")],
  ["search for TODO in src", grep("TODO", "src")],
  ["find all *.ts files", glob("**/*.ts")],
  ["list files", glob("**/*")],
  ["make a todo list: a, b, c", todo("a", "b", "c")],
  ["fetch https://example.com", { do: "fetch", url: "https://example.com" }],
  ["ask a sub-agent to read a.txt", spawn("read a.txt")],
  ["ask two sub-agents: read a.txt; say hi", spawn("read a.txt", "say hi")],
  ['call the tool X with {"a": 1}', { do: "call", tool: "X", args: '{"a": 1}' }],
  ["say hello", say("hello")],
  ["think about X", think("X")],
  ["stream 500 pieces", { do: "stream", pieces: 500, text: "word " }],
  ["stream 3 pieces of 'ab'", { do: "stream", pieces: 3, text: "ab" }],
  ["count to 10", { do: "count", from: 1, to: 10 }],
  ["wait 2 seconds", { do: "wait", ms: 2000 }],
  ["wait forever", { do: "wait", ms: "forever" }],
  ["fail like a rate limit", fail(429)],
  ["fail twice with a 429, then say ok", fail(429, 2), say("ok")],
  ["simulate an authentication error", fail(401)],
  ["cut the stream", { do: "cut" }],
  ["remember the word plum", remember("word", "plum")],
  ["what word did I tell you to remember?", recall({ fact: "word" })],
  ["my name is Ada", remember("name", "Ada")],
  ["what is my name?", recall({ fact: "name" })],
  ["what did I say first?", recall("first")],
  ["what do you know?", recall("context")],
  ["summarize the conversation", recall("conversation")],
];

describe("the orders of docs/rehearsal.md", () => {
  test("each has a row here, and each row is shown there", () => {
    const page = readFileSync(new URL("../../../../docs/rehearsal.md", import.meta.url), "utf8");
    const table = page.slice(page.indexOf("## Plain orders")).match(/^\| .*$/gm) ?? [];
    const shown = table.flatMap((row) => [...row.matchAll(/(`+) ?(.+?) ?\1(?!`)/g)].map((code) => code[2]));
    expect(shown).toEqual(DOCUMENTED.map(([order]) => order));
  });

  test.each(named(DOCUMENTED))("$order", ({ order, steps }) => {
    expect(orders(order)).toEqual(steps);
  });
});

const WORDINGS: Record<string, readonly Row[]> = {
  "politeness and capitals change nothing": [
    ["Could you please read notes.txt?", read("notes.txt")],
    ["I want you to read ./a/b.md now", read("./a/b.md")],
    ["Hello! Please read a.txt, thanks", read("a.txt")],
    ["Use the Bash tool to run: echo hi", run("echo hi")],
    ["READ A.TXT", read("A.TXT")],
    ["say please", say("please")],
    ["Hi there!", { do: "greet" }],
    ["what can you do?", { do: "help" }],
  ],
  "quotes, backticks and fences keep text as it is": [
    ["write 'it is, then, ok' to a.txt", write("a.txt", "it is, then, ok")],
    ["write “a” to 'b c.txt'", write("b c.txt", "a")],
    ["create x.py with\n```python\nprint('a')\nprint('b')\n```", write("x.py", "print('a')\nprint('b')")],
    ["write this to x.js:\n```js\nconst a = 1;\n```", write("x.js", "const a = 1;")],
    ["write to notes.txt: read the docs and run tests", write("notes.txt", "read the docs and run tests")],
    ["write to notes.md:\n# Title\n\n- read a.txt\n- run it", write("notes.md", "# Title\n\n- read a.txt\n- run it")],
    ['run echo "hi there"', run('echo "hi there"')],
    ["run echo a; echo b", run("echo a; echo b")],
    ["run this:\n```sh\ncd src\nls\n```", run("cd src\nls")],
    ["`git status`", run("git status")],
    ["please say 'read a.txt'", say("read a.txt")],
    ["say don't and it's", say("don't and it's")],
    ["call the tool X with {not json", { do: "call", tool: "X", args: "{not json" }],
    ['use X {"path": "C:\\\\"}', { do: "call", tool: "X", args: '{"path": "C:\\\\"}' }],
  ],
  "then, and, commas and new lines join orders": [
    ["read a.txt then read b.txt", read("a.txt"), read("b.txt")],
    ["Read a.txt. Then say 'done'.", read("a.txt"), say("done")],
    ["First read a.txt; after that write 'x' to b.txt; finally run ls", read("a.txt"), write("b.txt", "x"), run("ls")],
    ["1. read a.txt\n2. run `ls`\n3. say bye", read("a.txt"), run("ls"), say("bye")],
    ["Please do the following:\n- write 'hi' to a.txt\n- read a.txt", write("a.txt", "hi"), read("a.txt")],
    ["You are in a test.\nRead a.txt", unknown("You are in a test"), read("a.txt")],
    ["say salt and pepper", say("salt and pepper")],
    ["make a to-do list:\n- read docs\n- write tests", todo("read docs", "write tests")],
    ["create a todo list with read docs, write tests and run ci", todo("read docs", "write tests", "run ci")],
    ["Ask an agent to read a.txt and write 'x' to b.txt, then say done", spawn("read a.txt and write 'x' to b.txt"), say("done")],
    ["ask two sub-agents to say hello", spawn("say hello", "say hello")],
    ["ask 1,000,000,000,000 sub-agents to say hello", spawn(...Array.from({ length: 100 }, () => "say hello"))],
  ],
  "words for what the step before brought": [
    ["read a.txt, then write its content to b.txt and run cat b.txt", read("a.txt"), write("b.txt", RESULT), run("cat b.txt")],
    ["run `date` and save the output to now.txt", run("date"), write("now.txt", RESULT)],
    ["read a.txt and say it", read("a.txt"), say(RESULT)],
    ["read a.txt and tell me what it says", read("a.txt")],
    ["write 'x' to a.txt, then read it", write("a.txt", "x"), read("a.txt")],
    ["read a.txt and replace foo with bar", read("a.txt"), edit("a.txt", "foo", "bar")],
    ["say hello and write it to a.txt", say("hello"), write("a.txt", "hello")],
    ["say it", say("it")],
    ["write it to a.txt", unknown("write it to a.txt")],
  ],
  "files, folders and numbers": [
    ["read @src/notes.txt", read("src/notes.txt")],
    ["read 'my notes.txt'", read("my notes.txt")],
    ["read the file notes", read("notes")],
    ["what is in notes.txt?", read("notes.txt")],
    ["create an empty file empty.txt", write("empty.txt", "")],
    ["delete the files a.txt and 'b c.txt'", run("rm -- a.txt 'b c.txt'")],
    ["list all the files in src", glob("**/*", "src")],
    ["find foo in the code", grep("foo")],
    ["stream 20,000 words", { do: "stream", pieces: 20_000, text: "word " }],
    ["stream 10k deltas", { do: "stream", pieces: 10_000, text: "word " }],
    ["stream a thousand chunks", { do: "stream", pieces: 1000, text: "word " }],
    ["count down from 3", { do: "count", from: 3, to: 1 }],
    ["wait 50 ms", { do: "wait", ms: 50 }],
    ["fail with status 503 3 times", fail(503, 3)],
    ["simulate a network failure", { do: "fail" }],
  ],
};

for (const [about, rows] of Object.entries(WORDINGS)) {
  describe(about, () => {
    test.each(named(rows))("$order", ({ order, steps }) => {
      expect(orders(order)).toEqual(steps);
    });
  });
}

describe("a ban, a question and an order that is not understood touch no file", () => {
  test.each([
    "do not read a.txt",
    "do not read and delete a.txt",
    "Please don't delete a.txt!",
    "never delete a.txt",
    "you should not delete a.txt",
    "how do I read b.txt and delete a.txt?",
    "what would happen if you delete a.txt?",
    "what happens if I read b.txt, then delete a.txt?",
    "should I delete a.txt?",
    "why did you delete a.txt?",
    "if a.txt is old, delete a.txt",
    "delete line 2 of a.txt",
    "remove the word 'foo' from a.txt",
    "remove everything from a.txt",
    "delete whatever a.txt mentions",
    "write 'a' to a.txt and 'b' to b.txt",
    "run `sleep 9` in the background",
    "dance with me",
    "Why is the sky blue?",
  ])("%s", (order) => {
    expect(orders(order).map((step) => step.do)).toEqual(["unknown"]);
  });

  test("an order after a ban counts", () => {
    expect(orders("do not read a.txt but read b.txt").at(-1)).toEqual(read("b.txt"));
    expect(orders("Do not read a.txt. Read b.txt.").at(-1)).toEqual(read("b.txt"));
  });
});

function named(rows: readonly Row[]) {
  return rows.map(([order, ...steps]) => ({ order, steps }));
}

describe("names and quoted text are taken as they are written", () => {
  const stem = fc.stringMatching(
    /^[A-Za-z0-9_\u00e0-\u00f6\u4e00-\u4eff][A-Za-z0-9_.\u00e0-\u00f6\u4e00-\u4eff-]{0,11}[A-Za-z0-9_\u4e00-\u4eff-]$/,
  );
  const ending = fc.constantFrom("txt", "md", "ts", "json", "tar.gz", "x1");
  const folder = fc.constantFrom("", "src/", "./", "a-b/c.d/", "../");
  const file = fc.tuple(folder, stem, ending).map(([where, name, end]) => `${where}${name}.${end}`);
  const words = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    .filter((text) => text.trim() === text && !/[\\{}\uE000\uE001]/.test(text));
  const inSingle = words.filter((text) => !/['‘’]/.test(text));
  const inDouble = words.filter((text) => !text.includes('"'));
  const inCode = words.filter((text) => !text.includes("`"));
  const inFence = fc.array(inCode, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
  const polite = fc.constantFrom("", "please ", "Could you ", "Now ", "I want you to ");
  const end = fc.constantFrom("", ".", "!", " please", " for me", "\n");

  function law<A>(
    name: string,
    value: fc.Arbitrary<A>,
    order: (name: string, value: A) => string,
    steps: (name: string, value: A) => Step[],
  ) {
    test(name, () => {
      fc.assert(
        fc.property(file, value, polite, end, (path, inner, before, after) => {
          expect(orders(`${before}${order(path, inner)}${after}`)).toEqual(steps(path, inner));
        }),
        { numRuns: 300 },
      );
    });
  }

  law(
    "read FILE",
    fc.constant(0),
    (path) => `read ${path}`,
    (path) => [read(path)],
  );
  law(
    "read FILE and FILE",
    file,
    (path, other) => `read ${path}.a and ${other}.b`,
    (path, other) => [read(`${path}.a`, `${other}.b`)],
  );
  law(
    "write 'TEXT' to FILE",
    inSingle,
    (path, text) => `write '${text}' to ${path}`,
    (path, text) => [write(path, text)],
  );
  law(
    'write "TEXT" to FILE',
    inDouble,
    (path, text) => `write "${text}" to ${path}`,
    (path, text) => [write(path, text)],
  );
  law(
    "write `TEXT` to FILE",
    inCode,
    (path, text) => `write \`${text}\` to ${path}`,
    (path, text) => [write(path, text)],
  );
  law(
    "create FILE with fence",
    inFence,
    (path, text) => `create ${path} with\n\`\`\`\n${text}\n\`\`\``,
    (path, text) => [write(path, text)],
  );
  law(
    'create a file named FILE containing "TEXT"',
    inDouble,
    (path, text) => `create a file named ${path} containing "${text}"`,
    (path, text) => [write(path, text)],
  );
  law(
    "replace in FILE",
    fc.tuple(inDouble, inDouble),
    (path, [from, to]) => `replace "${from}" with "${to}" in ${path}`,
    (path, [from, to]) => [edit(path, from, to)],
  );
  law(
    "run `COMMAND` then read FILE",
    inCode,
    (path, text) => `run \`${text}\` then read ${path}`,
    (path, text) => [run(text), read(path)],
  );
  law(
    'say "TEXT"',
    inDouble,
    (_path, text) => `say "${text}"`,
    (_path, text) => [say(text)],
  );
  law(
    'search for "TEXT" in FILE',
    inDouble,
    (path, text) => `search for "${text}" in ${path}`,
    (path, text) => [grep(text, path)],
  );
  law(
    "copy FILE to FILE",
    file,
    (path, other) => `copy ${path} to ${other}`,
    (path, other) => [read(path), write(other, RESULT)],
  );
});

describe("whatever the words are", () => {
  const VERBS = ["read", "write", "delete", "run", "say", "what", "my", "ask two agents", "todo", "call", "replace", "fail", "wait"];
  const OTHERS = ["a.txt", "it", "3", "and", "then", "to", "in", "with", "is", "*", "{", "not", "please", "https://x.y", "\uE000q7\uE001"];
  const SIGNS = [",", ".", ";", ":", "\n", "'", '"', "`", "```", "\\", "?", "-", "1."];
  const word = fc.constantFrom(...VERBS, ...OTHERS, ...SIGNS);
  const text = fc.oneof(
    fc.array(word, { maxLength: 30 }).map((words) => words.join(" ")),
    fc.array(fc.oneof(word, fc.string()), { maxLength: 30 }).map((words) => words.join("")),
  );

  test("there is at least one step, and the same words give the same steps", () => {
    fc.assert(
      fc.property(text, (words) => {
        const steps = orders(words);
        expect(steps.length).toBeGreaterThan(0);
        expect(orders(words)).toEqual(steps);
      }),
      { numRuns: 2000 },
    );
  });

  test.each(["read a.txt", "how ", "ask an agent to ", "write to a.txt: ", "replace ", "make a todo list: ", "call the tool X with {"])(
    "a prompt that goes on for long after %j does not hang",
    (head) => {
      for (const piece of [" ", "\n", "and ", "{", "'", " 'a", "`", '\\"', "to the ", "read, ", " with a", "what did I say "]) {
        expect(orders(`${head}${piece.repeat(20_000)}\nsay done`).length).toBeGreaterThan(0);
      }
    },
  );
});
