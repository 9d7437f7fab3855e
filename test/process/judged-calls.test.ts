/** What runs is what was judged: nothing that moved, was rewritten or goes by a shorter name since then. */
import { mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { official, outputText, raw, settled } from "../extensions/mcp-harness.js";
import { type NativeHost, scratch, start } from "./harness.js";

const bash = (command: string, id: string) => ({ tool: "Bash", args: { command }, id });

function ended(host: NativeHost, id: string) {
  const found = host.ofType("tool.ended").find(({ call }) => call === id);
  return { status: found?.status, text: found === undefined ? "" : outputText(found) };
}

test("a path that leads elsewhere by the time its call runs is not followed, be it within the workspace", async () => {
  const cwd = scratch({ "a.txt": "plain", "b.txt": "plain" });
  mkdirSync(join(cwd, "secrets"));
  writeFileSync(join(cwd, "secrets/key"), "sesame");
  const read = { tool: "Read", args: { file_path: "a.txt" }, id: "read" };
  const write = { tool: "Write", args: { file_path: "b.txt", content: "x" }, id: "write" };
  const host = start({ cwd, responses: [{ calls: [bash("ln -sf secrets/key a.txt", "link"), read] }, { call: write }, { say: "done" }] });
  await host.open({ approveTools: ["Bash", "Read"], rules: [{ deny: "Read(secrets/**)" }, { deny: "Write(secrets/**)" }] });
  host.prompt("go");
  await host.next("approval.requested");
  unlinkSync(join(cwd, "b.txt"));
  symlinkSync("secrets/key", join(cwd, "b.txt"));
  host.allow("write");
  await host.turnEnded();
  for (const id of ["read", "write"]) {
    expect(ended(host, id)).toMatchObject({ status: "failed", text: expect.stringContaining("secrets/key, and not to what was judged") });
  }
  expect(readFileSync(join(cwd, "secrets/key"), "utf8")).toBe("sesame");
  expect(await host.finish()).toBe(0);
});

test("a deny rule holds for a path as it is written and for where it leads, on either side of a link", async () => {
  const vault = scratch({ key: "sesame" });
  const cwd = scratch();
  symlinkSync(vault, join(cwd, "secrets"));
  symlinkSync(vault, join(cwd, "named"));
  mkdirSync(join(cwd, "src"));
  const read = (file: string, id: string) => ({ name: "Read", args: { file_path: file }, id });
  const host = start({ cwd, responses: [{ say: "ok" }] });
  await host.open({ mode: "yolo", rules: [{ deny: "Read(secrets/**)" }, { deny: `Read(${cwd}/named/*)` }, { allow: "Read" }] });
  const calls = [
    read("secrets/key", "as written"),
    read(join(cwd, "secrets/key"), "absolute"),
    read("src/../secrets/./key", "with dots"),
    read(join(vault, "key"), "behind the link of an absolute pattern"),
  ];
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  await host.turnEnded();
  for (const { id } of calls) expect.soft(ended(host, id), id).toMatchObject({ status: "denied" });
  expect(await host.finish()).toBe(0);
});

test("what a hook makes of arguments that the host approved in its own words was approved by nobody", async () => {
  const hook = `process.stdin.on("data", (d) => { const { call } = JSON.parse(d); if (call.args.command.includes("mine")) console.log(JSON.stringify({ args: { command: "touch rewritten" } })) })`;
  const config = { hooks: { pre_tool_use: [{ match: "Bash", command: [process.execPath, "-e", hook] }] } };
  const home = scratch({ "config.yaml": stringify(config) });
  const host = start({ env: { PARLEY_HOME: home }, responses: [{ call: bash("echo asked", "c1") }, { say: "done" }] });
  await host.open();
  host.prompt("go");
  await host.next("approval.requested");
  host.allow("c1", { args: { command: "echo mine" } });
  await host.turnEnded();
  expect(host.ofType("tool.ended")).toMatchObject([{ status: "denied", reason: expect.stringContaining("a hook changed") }]);
  expect(host.ofType("tool.started")).toEqual([]);
  expect(await host.finish()).toBe(0);
});

test("rules and lists find a server's tools by their whole names where those had to be shortened or told apart", async () => {
  const long = `server-${"x".repeat(60)}`;
  const mcpServers = { "a.b": raw("none"), "a-b": raw("none"), [long]: raw("none"), other: official() };
  const host = start({ responses: [{ say: "placeholder" }], then: "repeat" });
  const rules = [{ deny: "mcp__a-b__act" }, { deny: `mcp__${long}__act` }];
  await host.open({ mode: "yolo", mcpServers, rules, disallowedTools: ["mcp__a-b__other", `mcp__${long}__other`] });
  const { mcpServers: listed = [] } = await settled(host);
  const names = listed
    .flatMap(({ name, tools }) => (name === "a-b" || name === long ? tools : []))
    .map(({ qualifiedName }) => qualifiedName);
  expect(names).toHaveLength(4);
  const act = names.filter((name) => name.endsWith("__act"));
  const other = names.filter((name) => name.endsWith("__other"));
  host.send({ type: "turn.prompt", session: "s", parts: [], calls: act.map((name, at) => ({ id: `c${at}`, name, args: {} })) });
  await host.turnEnded();
  expect(host.ofType("tool.ended").map(({ status }) => status)).toEqual(["denied", "denied"]);
  for (const [at, name] of other.entries()) {
    host.send({ type: "turn.prompt", id: `p${at}`, session: "s", parts: [], calls: [{ name, args: {} }] });
    expect(await host.next("reply", ({ parent }) => parent === `p${at}`)).toMatchObject({
      status: "error",
      fault: { param: "calls[0].name" },
    });
  }
  expect(await host.finish()).toBe(0);
});

test("what forbids all of a server's tools forbids its resources, too", async () => {
  const host = start({ responses: [{ say: "ok" }], then: "repeat" });
  const mcpServers = { closed: official(), open: official(), gone: official() };
  await host.open({ mode: "yolo", mcpServers, rules: [{ deny: "mcp__closed__*" }], disallowedTools: ["mcp__gone__*"] });
  await settled(host);
  const read = (server: string) => ({ id: server, name: "ReadMcpResource", args: { server, uri: "memo://one" } });
  const list = (server: string) => ({ id: `list ${server}`, name: "ListMcpResources", args: { server } });
  const calls = [read("closed"), list("closed"), read("open"), read("gone")];
  host.send({ type: "turn.prompt", session: "s", parts: [], calls });
  await host.turnEnded();
  expect(calls.map(({ id }) => ended(host, id).status)).toEqual(["denied", "denied", "ok", "failed"]);
  expect(ended(host, "gone").text).toContain("No connected MCP server 'gone' has resources");
  expect(await host.finish()).toBe(0);
});

test("a secret is masked before an output is cut, whoever made it", async () => {
  const key = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
  const host = start({ env: { SOME_API_KEY: key }, responses: [{ call: { tool: "Dump", args: {}, id: "c" } }, { say: "done" }] });
  await host.open({ hostTools: [{ name: "Dump" }] });
  host.prompt("go");
  const { request } = await host.next("host.request");
  // The cut falls into the middle of one.
  host.send({ type: "host.answer", session: "s", request, ok: true, data: "-".repeat(20) + key.repeat(3000) });
  await host.turnEnded();
  const { text } = ended(host, "c");
  expect(text).toContain("[redacted]");
  for (let at = 0; at + 8 <= key.length; at++) expect(text).not.toContain(key.slice(at, at + 8));
  expect(await host.finish()).toBe(0);
});

test("a prompt's own list of tools limits their calls, too", async () => {
  const host = start({ responses: [{ say: "ok" }], then: "repeat" });
  await host.open({ mode: "yolo" });
  const calls = ["echo yes", "touch no"].map((command, at) => ({ id: `c${at}`, name: "Bash", args: { command } }));
  host.send({ type: "turn.prompt", session: "s", parts: [], calls, overrides: { tools: ["Bash(echo *)"] } });
  await host.turnEnded();
  expect(["c0", "c1"].map((id) => ended(host, id).status)).toEqual(["ok", "denied"]);
  host.send({ type: "turn.prompt", session: "s", parts: [], calls: [{ id: "c2", name: "Bash", args: { command: "echo on" } }] });
  await host.turnEnded(2);
  expect(ended(host, "c2").status).toBe("ok");
  expect(await host.finish()).toBe(0);
});
