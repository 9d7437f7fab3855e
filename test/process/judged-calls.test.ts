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
