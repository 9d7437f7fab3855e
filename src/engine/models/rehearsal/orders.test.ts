import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { orders } from "./orders.js";
import { RESULT, type Step } from "./step.js";

const read = (...files: string[]): Step => ({ do: "read", files });
const write = (file: string, content: string | typeof RESULT): Step => ({ do: "write", file, content });
const run = (command: string): Step => ({ do: "run", command });
const say = (text: string | typeof RESULT): Step => ({ do: "say", text });
const edit = (file: string, from: string, to: string): Step => ({ do: "edit", file, from, to });
const grep = (pattern: string, path?: string): Step => ({ do: "grep", pattern, ...(path !== undefined && { path }) });
const glob = (pattern: string, path?: string): Step => ({ do: "glob", pattern, ...(path !== undefined && { path }) });
const todo = (...items: string[]): Step => ({ do: "todo", items });
const spawn = (...prompts: string[]): Step => ({
  do: "spawn",
  tasks: prompts.map((prompt, index) => ({ name: `agent-${index + 1}`, prompt })),
});
const wait = (ms: number | "forever"): Step => ({ do: "wait", ms });
const fail = (status: number, times?: number): Step => ({ do: "fail", status, ...(times !== undefined && { times }) });
const think = (about: string): Step => ({ do: "think", about });
const stream = (pieces: number, text = "word "): Step => ({ do: "stream", pieces, text });
const remember = (fact: string, value: string): Step => ({ do: "remember", fact, value });
const recall = (fact: string): Step => ({ do: "recall", what: { fact } });
const CUT: Step = { do: "cut" };

const WORDINGS: Record<string, readonly [order: string, ...steps: Step[]][]> = {
  reading: [
    ["read notes.txt", read("notes.txt")],
    ["read @src/notes.txt", read("src/notes.txt")],
    ["Read the file notes.txt.", read("notes.txt")],
    ["Please read notes.txt", read("notes.txt")],
    ["Could you please read notes.txt?", read("notes.txt")],
    ["can you open src/index.ts for me?", read("src/index.ts")],
    ["I want you to read ./a/b.md now", read("./a/b.md")],
    ["READ A.TXT", read("A.TXT")],
    ["read a.txt and b.txt", read("a.txt", "b.txt")],
    ["read a.txt, b.txt and c.txt", read("a.txt", "b.txt", "c.txt")],
    ["read 'my notes.txt'", read("my notes.txt")],
    ["read `notes.txt`", read("notes.txt")],
    ["show me package.json", read("package.json")],
    ["cat a.txt", read("a.txt")],
    ["what is in notes.txt?", read("notes.txt")],
    ["what's in the file notes.txt?", read("notes.txt")],
    ["What does notes.txt say?", read("notes.txt")],
    ["what does README.md contain", read("README.md")],
    ["look at src/a.ts", read("src/a.ts")],
    ["summarize README.md", read("README.md")],
    ["explain what src/a.ts does", read("src/a.ts")],
    ["read the README", read("README")],
    ["read the file notes", read("notes")],
    ["read notes", read("notes")],
    ["read\nnotes.txt", read("notes.txt")],
    ["tell me what a.txt says", read("a.txt")],
    ["read a.txt and tell me what it says", read("a.txt")],
    ["read .gitignore", read(".gitignore")],
    ["read the first 10 lines of a.txt", { do: "read", files: ["a.txt"], limit: 10 }],
    ["read the last 2 lines of a.txt", run("tail -n 2 -- a.txt")],
    ["show lines 5 to 8 of a.txt", { do: "read", files: ["a.txt"], offset: 4, limit: 4 }],
    ["Hello! Please read a.txt, thanks", read("a.txt")],
    ["use the Read tool to read a.txt", read("a.txt")],
    ["use the Read tool on a.txt", read("a.txt")],
    ["Could you have a look at the file config.yaml?", read("config.yaml")],
    ["You are in a test.\nRead a.txt", { do: "unknown", text: "You are in a test" }, read("a.txt")],
  ],
  writing: [
    ["write 'hello' to out.txt", write("out.txt", "hello")],
    ['Write "hello world" to out.txt.', write("out.txt", "hello world")],
    ["write hello to out.txt", write("out.txt", "hello")],
    ["write hello world into out.txt", write("out.txt", "hello world")],
    ["save 'x = 1' as config.ini", write("config.ini", "x = 1")],
    ["put hello into x", write("x", "hello")],
    ["put 'hello' in the file x.txt", write("x.txt", "hello")],
    ["create a file named x.md containing hello there", write("x.md", "hello there")],
    ["create a file called 'my file.md' with the content 'hi'", write("my file.md", "hi")],
    ["Create a file hello.txt with the text Hello World", write("hello.txt", "Hello World")],
    ["make hello.py that says print(1)", write("hello.py", "print(1)")],
    ["create hello.py that prints hello", write("hello.py", 'print("hello")\n')],
    ["create a new file out.txt with content: one two", write("out.txt", "one two")],
    ["create an empty file empty.txt", write("empty.txt", "")],
    ["touch a.txt", write("a.txt", "")],
    ["write to notes.txt: read the docs and run tests", write("notes.txt", "read the docs and run tests")],
    ["write to notes.md:\n# Title\n\n- read a.txt\n- run it", write("notes.md", "# Title\n\n- read a.txt\n- run it")],
    ["create x.py with\n```python\nprint('a')\nprint('b')\n```", write("x.py", "print('a')\nprint('b')")],
    ["write this to x.js:\n```js\nconst a = 1;\n```", write("x.js", "const a = 1;")],
    ["write `a = 1` to 'b c.txt'", write("b c.txt", "a = 1")],
    ["please create the file docs/a.md with 'text'", write("docs/a.md", "text")],
    ["write a haiku to haiku.txt", write("haiku.txt", "a haiku")],
    ["write a poem and save it to poem.txt", write("poem.txt", "a poem")],
    ["create a file x.txt saying it's fine", write("x.txt", "it's fine")],
    ["Write the following to a.txt: hello there, then read it", write("a.txt", "hello there"), read("a.txt")],
    ["create a file hello.txt with hello in it", write("hello.txt", "hello")],
    ['write "a" to a.txt and "b" to b.txt', write("a.txt", "a"), write("b.txt", "b")],
    ["Please write 'hello' to a.txt using the Write tool", write("a.txt", "hello")],
    ["read notes.txt and write a summary to summary.txt", read("notes.txt"), write("summary.txt", RESULT)],
    ["write the contents of a.txt to b.txt", read("a.txt"), write("b.txt", RESULT)],
    ["append 'more' to a.txt", { do: "append", file: "a.txt", content: "more" }],
    ["add the line 'more' to the end of a.txt", { do: "append", file: "a.txt", content: "more" }],
    ["copy a.txt to b.txt", read("a.txt"), write("b.txt", RESULT)],
    ["duplicate the file a.txt as b.txt", read("a.txt"), write("b.txt", RESULT)],
    ["delete a.txt", run("rm -- a.txt")],
    ["please delete the files a.txt and 'b c.txt'.", run("rm -- a.txt 'b c.txt'")],
    ["delete a.txt if it exists", run("rm -- a.txt")],
    ["append the output of `date +%Y` to y.txt", run("date +%Y >> y.txt")],
    ["append the output of `a; b` to 'y z.txt'", run("(a; b) >> 'y z.txt'")],
    ["write 3 lines to l.txt: one, two, three", write("l.txt", "one\ntwo\nthree\n")],
    ["create three files x1, x2 and x3", write("x1", ""), write("x2", ""), write("x3", "")],
    ["create the files a.txt and b.txt", write("a.txt", ""), write("b.txt", "")],
    ["clear a.txt", write("a.txt", "")],
    ["read a.txt and clear it.txt", read("a.txt"), write("it.txt", "")],
    ["create a file TODO.md with 'x'", write("TODO.md", "x")],
    ["write TODO to a.txt", write("a.txt", "TODO")],
    ["rename a.txt to b.txt", run("mv -- a.txt b.txt")],
    ["create a folder called build", run("mkdir -p -- build")],
  ],
  editing: [
    ["replace foo with bar in a.txt", edit("a.txt", "foo", "bar")],
    ["change 'x' to 'y' in f.txt", edit("f.txt", "x", "y")],
    ["In a.txt, replace foo with bar", edit("a.txt", "foo", "bar")],
    ["in a.txt replace foo by bar", edit("a.txt", "foo", "bar")],
    ["edit a.txt: change one to two", edit("a.txt", "one", "two")],
    ["edit a.txt and replace 'a b' with 'c d'", edit("a.txt", "a b", "c d")],
    ["replace the word foo with the word bar in the file a.txt", edit("a.txt", "foo", "bar")],
    ["replace all foo with bar in a.txt", { do: "edit", file: "a.txt", from: "foo", to: "bar", all: true }],
    ["replace every occurrence of `a` with `b` in src/x.ts", { do: "edit", file: "src/x.ts", from: "a", to: "b", all: true }],
    ["read a.txt and replace foo with bar", read("a.txt"), edit("a.txt", "foo", "bar")],
    ["change the port from 3000 to 4000 in config.json", edit("config.json", "3000", "4000")],
    ["remove the word 'foo' from a.txt", edit("a.txt", "foo", "")],
    ["remove the line gamma from a.txt", edit("a.txt", "gamma", "")],
    ["delete the word beta from a.txt", edit("a.txt", "beta", "")],
    ["remove TODO from a.txt", edit("a.txt", "TODO", "")],
    ["delete TODO from a.txt", edit("a.txt", "TODO", "")],
    ["remove gamma in a.txt", edit("a.txt", "gamma", "")],
    ["remove all foo from a.txt", { do: "edit", file: "a.txt", from: "foo", to: "", all: true }],
    ["edit a.txt so that gamma becomes GAMMA", edit("a.txt", "gamma", "GAMMA")],
    ["fix the typo in a.txt: beta -> betta", edit("a.txt", "beta", "betta")],
    ["set alpha to x in a.txt", edit("a.txt", "alpha", "x")],
  ],
  running: [
    ["run `ls -la`", run("ls -la")],
    ["run ls -la", run("ls -la")],
    ["execute echo hi", run("echo hi")],
    ["run the command: npm test", run("npm test")],
    ["run the command `npm test`", run("npm test")],
    ["$ ls", run("ls")],
    ["`git status`", run("git status")],
    ["git status", run("git status")],
    ["what does `date` print", run("date")],
    ["what does the command `date` print?", run("date")],
    ["What is the output of `uname`?", run("uname")],
    ['run echo "hi there"', run('echo "hi there"')],
    ["run 'echo hi' in the terminal", run("echo hi")],
    ["run echo a; echo b", run("echo a; echo b")],
    ["run echo a && echo b | wc -l", run("echo a && echo b | wc -l")],
    ["can you run ls?", run("ls")],
    ["Run the tests.", run("npm test")],
    ["run `sleep 100` in the background", { do: "run", command: "sleep 100", background: true }],
    ["use Bash to run pwd", run("pwd")],
    ["Use the Bash tool to run: echo hi", run("echo hi")],
    ["Call the Bash tool with the command `ls`", run("ls")],
    ["execute the command `ls` and then `pwd`", run("ls"), run("pwd")],
    ["echo hello > a.txt", run("echo hello > a.txt")],
    ["run hello.py", run("python3 hello.py")],
    ["save the output of `date` to d.txt", run("date"), write("d.txt", RESULT)],
    ["run sleep 5 with a timeout of 1 second", { do: "run", command: "sleep 5", timeoutMs: 1000 }],
    ["run `sleep 5` with a 200 ms timeout", { do: "run", command: "sleep 5", timeoutMs: 200 }],
    ["run this:\n```sh\ncd src\nls\n```", run("cd src\nls")],
  ],
  searching: [
    ["search for TODO in src", grep("TODO", "src")],
    ["find foo in the code", grep("foo")],
    ["grep bar", grep("bar")],
    ["grep bar src", grep("bar", "src")],
    ["search the code for 'foo bar'", grep("foo bar")],
    ["search src for TODO", grep("TODO", "src")],
    ["look for TODO", grep("TODO")],
    ["find all TODO comments in src/", grep("TODO", "src/")],
    ["find all occurrences of foo in a.txt", grep("foo", "a.txt")],
    ["search for TODO in *.ts files", { do: "grep", pattern: "TODO", glob: "*.ts" }],
    ["search for todo ignoring case", { do: "grep", pattern: "todo", ignoreCase: true }],
    ["where is openRehearsal defined?", grep("openRehearsal")],
    ["which files contain foo?", grep("foo")],
    ["where is TODO used?", grep("TODO")],
    ["which files contain TODO?", grep("TODO")],
    ["list all TODOs in src", grep("TODO", "src")],
    ["how many TODOs are there?", grep("TODO")],
    ["find all *.ts files", glob("**/*.ts")],
    ["can you grep for TODO?", grep("TODO")],
    ["list files in this directory", glob("**/*")],
    ["list files", glob("**/*")],
    ["list all the files in src", glob("**/*", "src")],
    ["glob **/*.md", glob("**/*.md")],
    ["find all typescript files", glob("**/*.ts")],
    ["find files named a.txt", glob("**/a.txt")],
    ["what files are here?", glob("**/*")],
    ["list the current directory", glob("*")],
    ["find the file a.txt", glob("**/a.txt")],
  ],
  "other tools": [
    ["make a todo list: a, b, c", todo("a", "b", "c")],
    ["plan the steps a, b, c", todo("a", "b", "c")],
    ["create a todo list with read docs, write tests and run ci", todo("read docs", "write tests", "run ci")],
    ["make a to-do list:\n- read docs\n- write tests", todo("read docs", "write tests")],
    ["update the todo list with a and b", todo("a", "b")],
    ["todo: one; two", todo("one", "two")],
    ["fetch https://example.com/x", { do: "fetch", url: "https://example.com/x" }],
    ["what is on https://example.com?", { do: "fetch", url: "https://example.com" }],
    ["download https://example.com/a.txt to b.txt", { do: "fetch", url: "https://example.com/a.txt" }, write("b.txt", RESULT)],
    ["ask a sub-agent to read a.txt", spawn("read a.txt")],
    ["Spawn an agent to read a.txt and write 'x' to b.txt", spawn("read a.txt and write 'x' to b.txt")],
    ["spawn two agents: read a.txt; read b.txt", spawn("read a.txt", "read b.txt")],
    ["spawn two agents: one to read a.txt and one to read b.txt", spawn("read a.txt", "read b.txt")],
    ["spawn two agents: one reads a.txt, the other reads b.txt", spawn("read a.txt", "read b.txt")],
    ["ask two sub-agents to read a.txt and b.txt", spawn("read a.txt", "read b.txt")],
    ["Ask one subagent to read a.txt and another to run `date`", spawn("read a.txt", "run `date`")],
    ["use 2 subagents to say hello", spawn("say hello", "say hello")],
    ["ask a subagent to read a.txt, then say done", spawn("read a.txt"), say("done")],
    ['call the tool Weather with {"city": "Rome"}', { do: "call", tool: "Weather", args: '{"city": "Rome"}' }],
    ['use Read {"file_path": "a.txt"}', { do: "call", tool: "Read", args: '{"file_path": "a.txt"}' }],
    ["call the tool mcp__x__y", { do: "call", tool: "mcp__x__y", args: {} }],
    ["call the tool Read with {not json", { do: "call", tool: "Read", args: "{not json" }],
  ],
  talking: [
    ["say hello", say("hello")],
    ["Say hello.", say("hello")],
    ["say please", say("please")],
    ["please say 'read a.txt'", say("read a.txt")],
    ["repeat after me: I am here", say("I am here")],
    ["echo hi there", say("hi there")],
    ["answer with OK", say("OK")],
    ["reply with exactly: PONG", say("PONG")],
    ["Reply with the word pong", say("pong")],
    ['print "hello"', say("hello")],
    ["say ho 3 times", say("ho ho ho")],
    ["think about the sea", think("the sea")],
    ["think hard then read a.txt", think(""), read("a.txt")],
    ["Think carefully about life, then say 42", think("life"), say("42")],
    ["stream 500 pieces", stream(500)],
    ["stream 10k deltas", stream(10_000)],
    ["stream a thousand chunks", stream(1000)],
    ["Please stream 20,000 words", stream(20_000)],
    ["stream 3 pieces of 'ab'", stream(3, "ab")],
    ["count to 5", { do: "count", from: 1, to: 5 }],
    ["count from 3 to ten", { do: "count", from: 3, to: 10 }],
    ["count down from 3", { do: "count", from: 3, to: 1 }],
    ["wait 2 seconds", wait(2000)],
    ["sleep 50 ms then say ok", wait(50), say("ok")],
    ["wait forever", wait("forever")],
    ["hang", wait("forever")],
    ["wait until I interrupt you", wait("forever")],
    ["hello", { do: "greet" }],
    ["Hi there!", { do: "greet" }],
    ["help", { do: "help" }],
    ["what can you do?", { do: "help" }],
  ],
  failing: [
    ["fail", fail(500)],
    ["fail like a rate limit", fail(429)],
    ["fail with a 500", fail(500)],
    ["fail with status 429", fail(429)],
    ["fail twice with a 429, then say ok", fail(429, 2), say("ok")],
    ["simulate an authentication error", fail(401)],
    ["simulate an overloaded provider error", fail(529)],
    ["overloaded", fail(529)],
    ["pretend the server is unavailable", fail(503)],
    ["hit a rate limit", fail(429)],
    ["simulate a network failure", { do: "fail" }],
    ["cut the stream", CUT],
    ["disconnect in the middle", CUT],
    ["say hello and cut the connection", say("hello"), CUT],
  ],
  remembering: [
    ["remember the word plum", remember("word", "plum")],
    ["Please remember the secret word: 'plum tree'.", remember("secret word", "plum tree")],
    ["remember that my dog is Rex", remember("dog", "Rex")],
    ["my name is Ada", remember("name", "Ada")],
    ["call me Ada", remember("name", "Ada")],
    ["my favourite colour is blue.", remember("favourite colour", "blue")],
    ["what word did I tell you to remember?", recall("word")],
    ["What was the word I told you?", recall("word")],
    ["what did I ask you to remember?", recall("")],
    ["what is my name?", recall("name")],
    ["Do you know my name?", recall("name")],
    ["who am I?", recall("name")],
    ["what did I say first?", { do: "recall", what: "first" }],
    ["what did I say before?", { do: "recall", what: "previous" }],
    ["what was my last message?", { do: "recall", what: "previous" }],
    ["what do you know?", { do: "recall", what: "context" }],
    ["what context do you have?", { do: "recall", what: "context" }],
    ["Summarize the conversation so far.", { do: "recall", what: "conversation" }],
  ],
  sequences: [
    ["read a.txt, then write its content to b.txt and run cat b.txt", read("a.txt"), write("b.txt", RESULT), run("cat b.txt")],
    ["read a.txt then read b.txt", read("a.txt"), read("b.txt")],
    ["run `date` and save the output to now.txt", run("date"), write("now.txt", RESULT)],
    ["Read a.txt. Then say 'done'.", read("a.txt"), say("done")],
    ["1. read a.txt\n2. run `ls`\n3. say bye", read("a.txt"), run("ls"), say("bye")],
    ["First read a.txt; after that write 'x' to b.txt; finally run ls", read("a.txt"), write("b.txt", "x"), run("ls")],
    ["write 'print(1)' to a.py and run it", write("a.py", "print(1)"), run("python3 a.py")],
    ["read a.txt and say it", read("a.txt"), say(RESULT)],
    ["create a.txt with 'one' and b.txt with 'two'", write("a.txt", "one"), write("b.txt", "two")],
    ["write 'one' to a.txt and write 'two' to b.txt", write("a.txt", "one"), write("b.txt", "two")],
    ["read a.txt and b.txt and write both to c.txt", read("a.txt", "b.txt"), write("c.txt", RESULT)],
    ["Please do the following:\n- write 'hi' to a.txt\n- read a.txt", write("a.txt", "hi"), read("a.txt")],
  ],
  unknown: [
    ["dance with me", { do: "unknown", text: "dance with me" }],
    ["Why is the sky blue?", { do: "unknown", text: "Why is the sky blue?" }],
    ["what is the meaning of life", { do: "unknown", text: "what is the meaning of life" }],
  ],
};

describe("what is no order, or not understood, touches no file", () => {
  test.each([
    "do not read a.txt",
    "do not delete a.txt",
    "Please do not delete a.txt!",
    "do not read and delete a.txt",
    "don't delete a.txt",
    "never delete a.txt",
    "you should not delete a.txt",
    "how do I delete a.txt?",
    "how do I read b.txt and delete a.txt?",
    "what would happen if you delete a.txt?",
    "what happens if I read b.txt, then delete a.txt?",
    "should I delete a.txt?",
    "why did you delete a.txt?",
    "delete line 2 of a.txt",
    "delete the second line of a.txt",
    "remove the empty lines from a.txt",
    "remove everything from a.txt",
    "delete whatever a.txt mentions",
  ])("%s", (order) => {
    expect(orders(order).map((step) => step.do)).toEqual(["unknown"]);
  });

  test("what comes after it still counts", () => {
    expect(orders("do not read a.txt but read b.txt").at(-1)).toEqual(read("b.txt"));
    expect(orders("Do not read a.txt. Read b.txt.").at(-1)).toEqual(read("b.txt"));
    expect(orders("do not forget the word plum")).toEqual([remember("word", "plum")]);
  });
});

for (const [about, wordings] of Object.entries(WORDINGS)) {
  describe(about, () => {
    test.each(wordings.map(([order, ...steps]) => ({ order, steps })))("$order", ({ order, steps }) => {
      expect(orders(order)).toEqual(steps);
    });
  });
}

describe("what stands in the words is taken exactly", () => {
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

test.each([" ", "\n", "and ", "{", "'", "`", "to the "])("a prompt of 20,000 times %j does not hang", (piece) => {
  expect(orders(`read a.txt${piece.repeat(20_000)}\nsay done`)).toContainEqual(expect.objectContaining({ do: "read" }));
});
