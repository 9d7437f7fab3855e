/** The tools of the agent, by the built command and a scripted model server. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { put, tree } from "../extensions/files.js";
import { environment, NativeHost, PARLEY, run, until } from "../process/harness.js";
import { modelServer, type ModelServer, type Reply, type WireName } from "../support/model-server.js";

const SECONDS = 120_000;

/** The words of all tools' results in a request. */
function lastResults(server: ModelServer, nth = -1): string {
  return JSON.stringify(v.parse(v.looseObject({ messages: v.array(v.unknown()) }), server.requests.at(nth)?.body).messages.at(-1));
}

function toolsOf(server: ModelServer): string[] {
  const Named = v.looseObject({ name: v.optional(v.string()), function: v.optional(v.looseObject({ name: v.string() })) });
  const { tools } = v.parse(v.looseObject({ tools: v.array(Named) }), server.requests[0]?.body);
  return tools.map(({ name, function: inner }) => name ?? inner?.name ?? "");
}

const WIRES = {
  gpt: ["openai-chat", "openai", "gpt-5.1"],
  claude: ["anthropic", "anthropic", "claude-sonnet-4-5"],
} as const satisfies Record<string, readonly [WireName, string, string]>;

interface Talk {
  model?: keyof typeof WIRES;
  cwd?: string;
  env?: Record<string, string>;
  config?: Record<string, unknown>;
  settings?: unknown;
}

async function talk(script: readonly Reply[], { model = "claude", cwd = tree({}), env = {}, config, settings }: Talk = {}) {
  const [wire, provider, id] = WIRES[model];
  const server = await modelServer(wire, script);
  const home = tree({});
  if (settings !== undefined) writeFileSync(join(home, "config.yaml"), stringify(settings));
  const name = provider.toUpperCase();
  const base = wire === "openai-chat" ? `${server.url}/v1` : server.url;
  const given = { [`${name}_API_KEY`]: server.key, [`${name}_BASE_URL`]: base, PARLEY_HOME: home, ...env };
  const args = [PARLEY, "serve", "--dialect", "native", "--provider", provider, "--model", id];
  const host = new NativeHost(spawn(process.execPath, args, { cwd, env: environment(given) }));
  await host.open(config);
  return { host, server, cwd };
}

const done: Reply = { text: ["done"] };
const call = (name: string, args: Record<string, unknown>): Reply => ({ calls: [{ name, args }] });
const patch = (...lines: string[]): Reply => call("apply_patch", { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });

it("a GPT model is offered apply_patch in place of Edit, and told how to use it; Claude is not", { timeout: SECONDS }, async () => {
  const gpt = await talk([done], { model: "gpt" });
  gpt.host.prompt("go");
  await gpt.host.turnEnded();
  expect(toolsOf(gpt.server)).toEqual(expect.arrayContaining(["apply_patch", "Write", "Read"]));
  expect(toolsOf(gpt.server)).not.toContain("Edit");
  expect(JSON.stringify(gpt.server.requests[0]?.body)).toContain("Change files with apply_patch: one patch may");
  const claude = await talk([done]);
  claude.host.prompt("go");
  await claude.host.turnEnded();
  expect(toolsOf(claude.server)).toEqual(expect.arrayContaining(["Edit", "Write"]));
  expect(toolsOf(claude.server)).not.toContain("apply_patch");
  expect(JSON.stringify(claude.server.requests[0]?.body)).not.toContain("apply_patch");
  expect([await gpt.host.finish(), await claude.host.finish()]).toEqual([0, 0]);
});

it("without Write there is no apply_patch, and a GPT model edits with Edit", { timeout: SECONDS }, async () => {
  const { host, server } = await talk([done], { model: "gpt", config: { disallowedTools: ["Write"] } });
  host.prompt("go");
  await host.turnEnded();
  expect(toolsOf(server)).toContain("Edit");
  expect(toolsOf(server)).not.toContain("apply_patch");
  expect(JSON.stringify(server.requests[0]?.body)).toContain("Change existing files with Edit");
  expect(await host.finish()).toBe(0);
});

it("a patch is asked about as a whole, and runs with the yes", { timeout: SECONDS }, async () => {
  const cwd = tree({ "a.txt": "one\n", "b.txt": "two\n" });
  const script = [
    call("Read", { file_path: "a.txt" }),
    patch("*** Update File: a.txt", "@@", "-one", "+1", "*** Delete File: b.txt"),
    done,
  ];
  const { host } = await talk(script, { model: "gpt", cwd, config: { mode: "auto_edit" } });
  host.prompt("go");
  const { calls } = await host.next("approval.requested");
  expect(calls).toMatchObject([
    {
      name: "apply_patch",
      category: "edit",
      title: "Apply a patch: update a.txt, delete b.txt",
      preview: [{ type: "diff" }, { type: "diff" }],
    },
  ]);
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n");
  host.allow(calls[0]?.id ?? "");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect([readFileSync(join(cwd, "a.txt"), "utf8"), existsSync(join(cwd, "b.txt"))]).toEqual(["1\n", false]);
  expect(await host.finish()).toBe(0);
});

it.each(["Edit(keys/**)", "Write(keys/**)", "edit(keys/**)"])(
  "the rule deny: %s holds for every file of a patch, also in yolo",
  async (deny) => {
    const cwd = tree({ "a.txt": "one\n", "keys/k.txt": "k\n" });
    const update = ["*** Update File: a.txt", "@@", "-one", "+1"];
    const script = [
      call("Read", { file_path: "a.txt" }),
      patch(...update, "*** Add File: keys/new.txt", "+x"),
      patch(...update, "*** Delete File: keys/k.txt"),
      patch("*** Update File: a.txt", "*** Move to: ./keys/../keys/a.txt"),
      done,
    ];
    const { host, server } = await talk(script, { model: "gpt", cwd, config: { mode: "yolo", rules: [{ deny }] } });
    host.prompt("go");
    expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
    expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "denied", "denied", "denied"]);
    expect(lastResults(server)).toContain(`denied by the rule ${deny}`);
    expect([readFileSync(join(cwd, "a.txt"), "utf8"), existsSync(join(cwd, "keys/new.txt")), existsSync(join(cwd, "keys/k.txt"))]).toEqual([
      "one\n",
      false,
      true,
    ]);
    expect(await host.finish()).toBe(0);
  },
  SECONDS,
);

it("a patch cannot put a mask where a secret stands", { timeout: SECONDS }, async () => {
  const secret = "correct-horse-battery";
  const cwd = tree({ "compose.yml": `image: db\npassword: ${secret}\n` });
  const script = [
    call("Read", { file_path: "compose.yml" }),
    patch("*** Update File: compose.yml", "@@", "-image: db", "+image: db2", "+password: [redacted]"),
    patch("*** Update File: compose.yml", "@@", " image: db", "-password: [redacted]", "+password: x"),
    patch("*** Update File: compose.yml", "@@", "-image: db", "+image: db2"),
    done,
  ];
  const { host, server } = await talk(script, { model: "gpt", cwd, env: { POSTGRES_PASSWORD: secret }, config: { mode: "yolo" } });
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "failed", "failed", "ok"]);
  expect(lastResults(server, -3)).toContain("stands for a secret");
  expect(lastResults(server, -2)).toContain("Quote only text beside it");
  expect(readFileSync(join(cwd, "compose.yml"), "utf8")).toBe(`image: db2\npassword: ${secret}\n`);
  expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain(secret);
  expect(await host.finish()).toBe(0);
});

it("an edit with other space than the file's is made, and a miss shows what is near", { timeout: SECONDS }, async () => {
  const cwd = tree({ "a.py": "def f():\n    if x:  \n        return 1\n" });
  const script = [
    call("Read", { file_path: "a.py" }),
    call("Edit", { file_path: "a.py", old_string: "if x:\n    return 2", new_string: "if x:\n    return 3" }),
    call("Edit", { file_path: "a.py", old_string: "if x:\n    return 1", new_string: "if y:\n    return 3" }),
    call("Edit", {
      file_path: "a.py",
      edits: [
        { old_string: "f()", new_string: "g()" },
        { old_string: "return 3", new_string: "return 4" },
      ],
    }),
    done,
  ];
  const { host, server } = await talk(script, { cwd, config: { mode: "auto_edit" } });
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(lastResults(server, 2)).toMatch(/The nearest lines are:.* {5}2\\t {4}if x:.* {5}3\\t {8}return 1/s);
  expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["ok", "failed", "ok", "ok"]);
  expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe("def g():\n    if y:\n        return 4\n");
  expect(await host.finish()).toBe(0);
});

const questions = [
  {
    question: "Which database?",
    header: "Database",
    options: [{ label: "PostgreSQL", description: "as in production" }, { label: "SQLite" }],
  },
  { question: "Which checks?", options: [{ label: "lint" }, { label: "types" }], multiple: true },
];

it("AskUser puts its questions to the host, and the model gets the answers", { timeout: SECONDS }, async () => {
  const { host, server } = await talk([call("AskUser", { questions }), done]);
  host.prompt("go");
  const { request, kind, data } = await host.next("host.request");
  expect({ kind, data }).toEqual({ kind: "question", data: { questions } });
  const answers = [{ labels: ["SQLite"] }, { labels: ["lint", "types"], text: "and the tests" }];
  host.send({ type: "host.answer", session: "s", request, ok: true, data: { answers } });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(host.ofType("approval.requested")).toEqual([]);
  expect(lastResults(server)).toContain("Which database?\\n→ SQLite\\n\\nWhich checks?\\n→ lint, types, and the tests");
  expect(await host.finish()).toBe(0);
});

it("AskUser says at once that nobody can answer: in one shot, and where a wire has no questions", { timeout: SECONDS }, async () => {
  const shot = await modelServer("anthropic", [call("AskUser", { questions }), done]);
  const env = { ANTHROPIC_API_KEY: shot.key, ANTHROPIC_BASE_URL: shot.url };
  const flags = ["--provider", "anthropic", "--model", "claude-sonnet-4-5"];
  expect(await run(["-p", "go", ...flags], { env })).toMatchObject({ code: 0, stdout: "done\n" });
  expect(lastResults(shot)).toContain("Nobody answered: nobody can be asked here. Do not ask again.");
  const server = await modelServer("anthropic", [call("AskUser", { questions }), done]);
  const serverEnv = environment({ ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url });
  const child = spawn(process.execPath, [PARLEY, "--json-stream", ...flags], { cwd: tree({}), env: serverEnv });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (bytes: Buffer) => (said += bytes.toString()));
  child.stdin.write(`${JSON.stringify({ type: "message", msg_id: "m", content: "go" })}\n`);
  await until(() => said.includes('"stream_end"'));
  child.stdin.end();
  expect(lastResults(server)).toContain("Nobody answered: this host does not answer question requests.");
});

it("a host that asks the user by a tool of its own is not given AskUser", { timeout: SECONDS }, async () => {
  const { host, server } = await talk([done], { config: { hostTools: [{ name: "ask_user_question", description: "Asks." }] } });
  host.prompt("go");
  await host.turnEnded();
  expect(toolsOf(server)).toContain("ask_user_question");
  expect(toolsOf(server)).not.toContain("AskUser");
  expect(await host.finish()).toBe(0);
});

it("a todo list that goes stale is brought to mind, and again only as much later", { timeout: SECONDS }, async () => {
  const cwd = tree({ "a.txt": "a\n" });
  const todos = [
    { content: "first", status: "completed" },
    { content: "second", status: "in_progress" },
  ];
  const reads = Array.from({ length: 21 }, (_, at) => call("Read", { file_path: "a.txt", limit: at + 1 }));
  const { host, server } = await talk([call("TodoWrite", { todos }), ...reads, done], { cwd });
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  const told = server.requests.flatMap((_, at) => (lastResults(server, at).includes("todo list was not changed for 10 steps") ? [at] : []));
  expect(told).toEqual([11, 21]);
  expect(lastResults(server, 11)).toContain("- second (in progress)");
  expect(lastResults(server, 11)).not.toContain("first");
  expect(await host.finish()).toBe(0);
});

it("Read tells of notebooks, missing files and lines to go on from", { timeout: SECONDS }, async () => {
  const cwd = tree({ "src/user.ts": "a\nb\nc\n", "n.ipynb": JSON.stringify({ cells: [{ cell_type: "code", source: ["print(1)"] }] }) });
  mkdirSync(join(cwd, "lib"));
  put(cwd, { "lib/x.txt": "x" });
  const script = [
    call("Read", { file_path: "src/user.ts", offset: 1, limit: 1 }),
    call("Read", { file_path: "lib/user.ts" }),
    call("Read", { file_path: "n.ipynb" }),
    done,
  ];
  const { host, server } = await talk(script, { cwd });
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(lastResults(server, 1)).toContain("     1\\ta\\n(lines 1 to 1 of 3; read on with offset 2)");
  expect(lastResults(server, 2)).toContain("Did you mean src/user.ts?");
  expect(lastResults(server, 3)).toContain("--- cell 1 of 1 (code) ---");
  expect(await host.finish()).toBe(0);
});
