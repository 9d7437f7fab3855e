/** Further folders of a workspace: what lies in them is inside, and nothing else is. */
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { plainText } from "../../src/core/content.js";
import { put, tree } from "../extensions/files.js";
import { type NativeHost, scratch, start } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";
import { resume } from "./sessions.js";

const output = (host: NativeHost, call: string): string =>
  plainText(host.ofType("tool.ended").find((event) => event.call === call)?.output ?? []);

test("files there are read, found, searched and written unasked; what lies beside is asked about", async () => {
  const [lib, beside] = [tree({ "src/a.ts": "const heron = 1;\n" }), tree({ "b.txt": "b" })];
  const cwd = scratch();
  const host = start({ cwd, responses: [{ say: "Done." }, { say: "Done." }, { say: "Done." }] });
  await host.open({ mode: "auto_edit", directories: [lib] });
  const at = (name: string): string => join(lib, name);
  host.send({
    type: "turn.prompt",
    session: "s",
    parts: [],
    calls: [
      { id: "read", name: "Read", args: { file_path: at("src/a.ts") } },
      { id: "glob", name: "Glob", args: { pattern: "**/*.ts", path: lib } },
      { id: "grep", name: "Grep", args: { pattern: "heron", path: lib } },
      { id: "write", name: "Write", args: { file_path: at("new.txt"), content: "new" } },
    ],
  });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(host.ofType("approval.requested")).toEqual([]);
  expect(output(host, "read")).toContain("heron");
  expect(output(host, "glob")).toContain(at("src/a.ts"));
  expect(output(host, "grep")).toContain(`${at("src/a.ts")}:1:const heron`);
  expect(readFileSync(at("new.txt"), "utf8")).toBe("new");

  symlinkSync(beside, at("link"));
  const outside = [join(beside, "b.txt"), at("link/b.txt"), `${lib}/../${basename(beside)}/b.txt`];
  const calls = outside.map((file_path, nth) => ({ id: `out${nth}`, name: "Read", args: { file_path } }));
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  const asked = await host.next("approval.requested");
  expect(asked.calls.map(({ id }) => id)).toEqual(["out0", "out1", "out2"]);
  for (const { id } of asked.calls) host.deny(id);
  await host.turnEnded(2);

  host.send({
    type: "turn.prompt",
    session: "s",
    parts: [],
    calls: [{ id: "hook", name: "Write", args: { file_path: at(".git/hooks/pre-commit"), content: "x" } }],
  });
  const governing = await host.next("approval.requested", ({ calls: [call] }) => call?.id === "hook");
  expect(governing.message).toContain("decides what is run");
  host.deny("hook");
  await host.turnEnded(3);
  expect(existsSync(at(".git"))).toBe(false);
  expect(await host.finish()).toBe(0);
});

test("relative ones are taken from the workspace, the model is told of them, and a rule for the workspace does not allow them", async () => {
  const base = tree({ "app/x.txt": "", "lib/src/a.ts": "" });
  const server = await modelServer("anthropic", [{ text: ["Hello."] }, { text: ["Hello."] }]);
  const env = { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url };
  const host = start({ cwd: join(base, "app"), provider: "anthropic", env, args: ["--model", "claude-sonnet-4-6"] });
  await host.open({ directories: ["../lib"], rules: [{ allow: "Write(src/**)" }], approveTools: [] });
  host.send({
    type: "turn.prompt",
    session: "s",
    parts: [],
    calls: [{ id: "w", name: "Write", args: { file_path: "../lib/src/b.ts", content: "b" } }],
  });
  const asked = await host.next("approval.requested");
  expect(asked.message).not.toContain("outside");
  host.allow("w");
  await host.turnEnded();
  expect(existsSync(join(base, "lib/src/b.ts"))).toBe(true);
  expect(JSON.stringify(server.requests[0]?.body)).toContain(join(base, "lib"));
  expect(await host.finish()).toBe(0);
});

test("a mention reaches them by their absolute path", async () => {
  const lib = tree({ "a.md": "A heron stands here.", "b.md": "And another." });
  const host = start({ responses: [{ expect: { lastUser: "/heron[^]*another/" }, say: "Seen." }] });
  await host.open({ directories: [lib] });
  host.send({ type: "turn.prompt", session: "s", mentions: true, parts: [{ type: "text", text: `Look at @${lib}/*.md` }] });
  expect(await host.turnEnded()).toMatchObject({ outcome: "completed" });
  expect(await host.finish()).toBe(0);
});

describe("one that is not there", () => {
  test.each([
    ["missing", "does not exist"],
    ["x.txt", "is not a folder"],
  ])("%s", async (name, why) => {
    const [cwd, home] = [tree({ "x.txt": "" }), scratch()];
    const host = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ say: "never" }] });
    host.send({ type: "session.open", session: "s", open: "new", config: { directories: [name] } });
    expect(await host.next("reply")).toMatchObject({
      status: "error",
      fault: { code: "config", param: "directories", message: expect.stringContaining(`${join(cwd, name)} ${why}`) },
    });
    expect(existsSync(join(home, "sessions", "s"))).toBe(false);
    expect(await host.finish()).toBe(0);
  });
});

test("a resumed session has them again, and they do not change while it runs", async () => {
  const [cwd, home] = [scratch(), scratch()];
  put(cwd, { "more/a.txt": "a" });
  const host = start({ cwd, env: { PARLEY_HOME: home }, responses: [{ say: "Hello." }] });
  await host.open({ directories: ["more"] });
  host.prompt("Hi");
  await host.turnEnded();
  host.send({ type: "session.configure", session: "s", patch: { directories: ["/"] } });
  expect(await host.next("reply")).toMatchObject({ status: "error", fault: { code: "config", param: "directories" } });
  expect(await host.finish()).toBe(0);
  const again = await resume(home, [{ say: "Hello." }], cwd);
  expect(await again.next("session.ready")).toMatchObject({ config: { directories: ["more"] } });
  expect(await again.finish()).toBe(0);
});
