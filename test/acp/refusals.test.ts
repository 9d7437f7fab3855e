/** `parley acp` in front of a client that asks for what cannot be: every request gets an answer that names what is wrong. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { PARLEY, environment, scratch, until } from "../process/harness.js";
import { Editor } from "./editor.js";

it("a folder that is not there, and one that is a file, are wrong parameters", async () => {
  const editor = new Editor();
  await editor.greet();
  await expect(editor.open({ cwd: join(editor.cwd, "nowhere") })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining("no such file"),
  });
  await expect(editor.open({ cwd: import.meta.filename })).rejects.toMatchObject({
    code: -32602,
    message: expect.stringContaining("not a folder"),
  });
});

it("a session that another process has open is in use, which is another answer than that it is not there", async () => {
  const home = scratch();
  const [one, two] = [new Editor({ env: { PARLEY_HOME: home } }), new Editor({ env: { PARLEY_HOME: home } })];
  const { sessionId } = await one.open();
  await two.greet();
  const place = { sessionId, cwd: one.cwd, mcpServers: [] };
  await expect(two.agent.request("session/load", place)).rejects.toMatchObject({ code: -32603, data: { retryable: true } });
  await expect(two.agent.request("session/delete", { sessionId })).rejects.toMatchObject({ code: -32603 });
  await one.finish();
  await expect(two.agent.request("session/load", place)).resolves.toMatchObject({ modes: { currentModeId: "default" } });
});

it("a prompt for a session that is being opened is told to wait for that", async () => {
  const editor = new Editor();
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "say one");
  const loading = editor.agent.request("session/load", { sessionId, cwd: editor.cwd, mcpServers: [] });
  await expect(editor.prompt(sessionId, "say early")).rejects.toMatchObject({ message: expect.stringContaining("is being opened") });
  await loading;
  await editor.prompt(sessionId, "say late");
  expect(editor.text(sessionId)).toMatch(/late$/);
});

it("whatever a client writes is answered, and the next request works", async () => {
  const child = spawn(process.execPath, [PARLEY, "acp", "--provider", "rehearsal"], { cwd: scratch(), env: environment() });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const lines = ["{oops", "[]", "12", "null", "", '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":2,"method":"__proto__","params":{}}'];
  const long = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"x":"${"a".repeat(17 * 2 ** 20)}"}}`;
  const broken =
    '{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":5,"clientInfo":{"name":7}}}';
  child.stdin.write([...lines, long, broken].map((line) => `${line}\n`).join(""));
  await until(() => said.includes('"id":4'));
  const answers = said.trimEnd().split("\n");
  const codes = answers.map((line) => /"code":(-\d+)/.exec(line)?.[1]);
  expect(codes).toEqual(["-32700", "-32600", "-32600", "-32600", "-32600", "-32601", "-32700", undefined]);
  expect(answers.at(-1)).toContain('"protocolVersion":1');
  child.stdin.end();
  await new Promise((resolve) => child.once("close", resolve));
  expect(child.exitCode).toBe(0);
});
