/** Titles and archives of sessions, and openings that a client takes back, as the official SDK asks for them. */
import { spawn } from "node:child_process";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { expect, it, onTestFinished } from "vitest";
import { PARLEY, environment, scratch, until } from "../process/harness.js";
import { Editor } from "./editor.js";

const titles = async (editor: Editor, more: Partial<acp.ListSessionsRequest> = {}): Promise<(string | null | undefined)[]> =>
  (await editor.agent.request("session/list", { cwd: editor.cwd, ...more })).sessions.map(({ title }) => title);

it("a session is renamed, open or not, and tells its new title", async () => {
  const editor = new Editor();
  expect((await editor.greet()).agentCapabilities?.sessionCapabilities).toMatchObject({ title: {}, archive: {} });
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "say one");
  expect(await titles(editor)).toEqual(["say one"]);
  expect(await editor.agent.request("session/set_title", { sessionId, title: " Mine " })).toEqual({ title: "Mine" });
  await editor.told(() => editor.of("session_info_update", sessionId).some(({ title }) => title === "Mine"));
  expect(await titles(editor)).toEqual(["Mine"]);
  await editor.agent.request("session/close", { sessionId });
  expect(await editor.agent.request("session/set_title", { sessionId, title: "Yours" })).toEqual({ title: "Yours" });
  expect(await titles(editor)).toEqual(["Yours"]);
  await editor.agent.request("session/load", { sessionId, cwd: editor.cwd, mcpServers: [] });
  expect(editor.of("session_info_update", sessionId).at(-1)).toMatchObject({ title: "Yours" });
  await expect(editor.agent.request("session/set_title", { sessionId: "none", title: "x" })).rejects.toMatchObject({ code: -32002 });
  await editor.finish();
});

it("an archived session is closed and out of the way until it is brought back", async () => {
  const editor = new Editor();
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "say one");
  await editor.agent.request("session/archive", { sessionId });
  expect(await titles(editor)).toEqual([]);
  expect(await titles(editor, { archived: "only" })).toEqual(["say one"]);
  expect(await titles(editor, { archived: "include" })).toEqual(["say one"]);
  await expect(titles(editor, { archived: "some" })).rejects.toMatchObject({ code: -32602 });
  await expect(editor.prompt(sessionId, "say two")).rejects.toMatchObject({ code: -32002 });
  await editor.agent.request("session/unarchive", { sessionId });
  expect(await titles(editor)).toEqual(["say one"]);
  await expect(editor.agent.request("session/archive", { sessionId: "none" })).rejects.toMatchObject({ code: -32002 });
  await editor.finish();
});

it("an opening that is taken back is answered at once, and its session is not there", async () => {
  const cwd = scratch();
  const child = spawn(process.execPath, [PARLEY, "acp", "--provider", "rehearsal"], { cwd, env: environment() });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const line = (record: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...record })}\n`;
  // One write: the second line is there before the session can be open.
  child.stdin.write(
    line({ id: 1, method: "initialize", params: { protocolVersion: 1 } }) +
      line({ id: 2, method: "session/new", params: { cwd, mcpServers: [] } }) +
      line({ method: "$/cancel_request", params: { requestId: 2 } }) +
      line({ id: 3, method: "session/new", params: { cwd, mcpServers: [] } }),
  );
  const answers = (id: number): unknown[] =>
    said
      .split("\n")
      .filter((text) => text !== "")
      .map((text): unknown => JSON.parse(text))
      .filter((record) => typeof record === "object" && record !== null && "id" in record && record.id === id);
  await until(() => answers(3).length > 0);
  expect(answers(2)).toMatchObject([{ error: { code: -32800 } }]);
  expect(answers(3)).toMatchObject([{ result: { sessionId: expect.any(String) } }]);
  const exited = new Promise((resolve) => child.once("close", resolve));
  child.stdin.end();
  expect(await exited).toBe(0);
  expect(answers(2)).toHaveLength(1);
});
