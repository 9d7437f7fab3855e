import { spawn } from "node:child_process";
import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, it, onTestFinished } from "vitest";
import { environment, NativeHost, PARLEY, start } from "../process/harness.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";
import { put, tree } from "./files.js";

it("memory files reach the model's system prompt, the general ones first", async () => {
  const repository = tree({ "AGENTS.md": "Use tabs.", "pkg/CLAUDE.md": "Use spaces here.\n@more.md", "pkg/more.md": "And more." });
  mkdirSync(join(repository, ".git"));
  const server = await modelServer("anthropic", [{ text: ["ok"] }]);
  const env = environment({
    ANTHROPIC_API_KEY: server.key,
    ANTHROPIC_BASE_URL: server.url,
    PARLEY_HOME: tree({ "AGENTS.md": "I am Kim." }),
  });
  const args = [PARLEY, "serve", "--dialect", "native", "--provider", "anthropic"];
  const host = new NativeHost(spawn(process.execPath, args, { cwd: join(repository, "pkg"), env }));
  await host.open();
  host.prompt("go");
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  const sent = JSON.stringify(server.requests[0]?.body);
  const order = ["I am Kim.", "Use tabs.", "Use spaces here.", "And more."].map((text) => sent.indexOf(text));
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(sent).toContain("- explore: ");
  expect(await host.finish()).toBe(0);
});

it("a changed file is told in the next message, and the system prompt stays as it was", async () => {
  const cwd = tree({ "AGENTS.md": "Version one." });
  const { host, server } = await talk(cwd, [{ text: ["1"] }, { text: ["2"] }, { text: ["3"] }, { text: ["4"] }, { text: ["5"] }]);
  await ask(host, "first");
  put(cwd, { "AGENTS.md": "Version two, and longer." });
  await ask(host, "second");
  await ask(host, "third");
  put(cwd, { "CLAUDE.md": "A second file." });
  await ask(host, "fourth");
  rmSync(join(cwd, "AGENTS.md"));
  await ask(host, "fifth");
  const requests = server.requests.map(({ body }) => v.parse(Request, body));
  expect(new Set(requests.map(({ system }) => JSON.stringify(system))).size).toBe(1);
  expect(JSON.stringify(requests[0]?.system)).toContain("Version one.");
  expect(requests.map(({ messages }) => lastUser(messages))).toEqual([
    "first",
    expect.stringMatching(/^second\nNote: the instructions in .*AGENTS\.md changed since you were told\..*Version two, and longer\.$/s),
    "third",
    expect.stringMatching(
      /^fourth\nSince this conversation began there is more to know: the instructions in .*CLAUDE\.md.*A second file\.$/s,
    ),
    expect.stringMatching(/^fifth\nNote: the instructions in .*AGENTS\.md no longer count\.$/),
  ]);
  expect(await host.finish()).toBe(0);
});

it("instructions of a folder below come with the first file that is read there, once in a conversation", async () => {
  const cwd = tree({
    "sub/AGENTS.md": "Below: use tabs.",
    "sub/deep/CLAUDE.md": "Deeper: no tabs.",
    "sub/deep/a.txt": "A",
    "sub/b.txt": "B",
  });
  const read = (file_path: string): Reply => ({ calls: [{ name: "Read", args: { file_path } }] });
  const { host, server } = await talk(cwd, [read("sub/deep/a.txt"), read("sub/b.txt"), { text: ["done"] }]);
  await ask(host, "look");
  const results = server.requests.map(({ body }) => JSON.stringify(v.parse(Request, body).messages.at(-1)));
  expect(JSON.stringify(server.requests[0]?.body)).not.toContain("use tabs");
  expect(results[1]).toMatch(/Below: use tabs\..*Deeper: no tabs\./);
  expect(results[2]).toContain("B");
  expect(results[2]).not.toContain("tabs");
  expect(await host.finish()).toBe(0);
});

it("the system prompt tells where the agent works, and a host's own prompt keeps that", async () => {
  const cwd = realpathSync(tree({ "AGENTS.md": "Ours." }));
  const { host, server } = await talk(cwd, [{ text: ["1"] }]);
  await ask(host, "go");
  const system = JSON.stringify(v.parse(Request, server.requests[0]?.body).system);
  for (const part of [
    "You are Parley",
    "Environment",
    `Working folder: ${cwd}`,
    "Git repository: none",
    "Model: claude-sonnet-4-5",
    "Ours.",
  ])
    expect(system).toContain(part);
  const own = await talk(cwd, [{ text: ["1"] }], ["--system-prompt", "You are a poet.", "--append-system-prompt", "Rhyme."]);
  await ask(own.host, "go");
  const given = JSON.stringify(v.parse(Request, own.server.requests[0]?.body).system);
  expect(given).not.toContain("You are Parley");
  expect(given).toMatch(/You are a poet\..*Environment.*Working folder: .*Ours\..*Rhyme\./);
  expect([await host.finish(), await own.host.finish()]).toEqual([0, 0]);
});

it("cycles, huge and missing files are one line each, and the session goes on", async () => {
  const cwd = tree({
    "AGENTS.md": "Start.\n@a.md\n@huge.md\n@gone.md\n@../secret.md",
    "a.md": "A.\n@AGENTS.md",
    "huge.md": "x".repeat(200_000),
  });
  const host = start({ cwd, responses: [{ expect: { system: "/Start\\.[^]*A\\./" }, say: "1" }, { say: "2" }] });
  await host.open();
  host.prompt("go");
  await host.turnEnded();
  host.prompt("go");
  expect(await host.turnEnded(2)).toMatchObject({ outcome: "completed" });
  const root = realpathSync(cwd);
  expect(host.ofType("notice").map(({ kind, text }) => `${kind} ${text.replaceAll(`${root}/`, "")}`)).toEqual([
    "memory a.md includes AGENTS.md, which includes it in turn; it is read once",
    "memory huge.md is 200000 bytes long, and at most 131072 are read; it is left out",
    "memory AGENTS.md:4: there is no file gone.md to include",
    `memory AGENTS.md:5: there is no file ${join(root, "../secret.md")} to include`,
  ]);
  expect(await host.finish()).toBe(0);
});

it("files that come and go in the workspace's root hold no turn up", async () => {
  const cwd = tree({ "AGENTS.md": "Be brief." });
  const writer = spawn("sh", ["-c", "while :; do echo > coming; rm coming; done"], { cwd, stdio: "ignore" });
  onTestFinished(() => void writer.kill("SIGKILL"));
  const host = start({ cwd, responses: [{ say: "ok" }], then: "repeat" });
  await host.open();
  for (let turn = 1; turn <= 150; turn++) {
    host.prompt("go");
    expect(await host.turnEnded(turn)).toMatchObject({ outcome: "completed" });
  }
  expect(await host.finish()).toBe(0);
});

const Request = v.object({
  system: v.unknown(),
  messages: v.array(
    v.object({ role: v.string(), content: v.union([v.string(), v.array(v.looseObject({ text: v.optional(v.string()) }))]) }),
  ),
});

function lastUser(messages: v.InferOutput<typeof Request>["messages"]): string {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text }) => text).join("\n");
}

async function talk(cwd: string, script: readonly Reply[], more: string[] = []): Promise<{ host: NativeHost; server: ModelServer }> {
  const server = await modelServer("anthropic", script);
  const env = environment({ ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url });
  const args = [PARLEY, "serve", "--dialect", "native", "--provider", "anthropic", "--model", "claude-sonnet-4-5", ...more];
  const host = new NativeHost(spawn(process.execPath, args, { cwd, env }));
  await host.open();
  return { host, server };
}

/** The next turn, to its good end. */
async function ask(host: NativeHost, text: string): Promise<void> {
  const before = host.ofType("turn.ended").length;
  host.prompt(text);
  expect(await host.turnEnded(before + 1)).toMatchObject({ outcome: "completed" });
}
