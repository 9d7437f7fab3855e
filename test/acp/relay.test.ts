/** An editor in front of agents that are not ours, and under the name of one of them. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PARLEY, scratch } from "../process/harness.js";
import { launchers } from "../support/launchers.js";
import { modelServer } from "../support/model-server.js";
import { fixture } from "../support/processes.js";
import { Editor } from "./editor.js";

const relayed = (): string[] => [process.execPath, PARLEY, "relay", "--as", "acp", "--drive", "acp", "--check"];
const AGENT = ["--", process.execPath, fixture("acp-agent.mjs")];

it("files, terminals and forms of the editor reach an agent behind a relay", async () => {
  const buffers = new Map<string, string>();
  const editor = new Editor({
    command: relayed(),
    args: AGENT,
    buffers,
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, elicitation: { form: {} } },
    fill: () => ({ action: "accept", content: { answer1: "blue" } }),
  });
  const path = join(editor.cwd, "a.txt");
  buffers.set(path, "unsaved");
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "use my files and ask me");
  expect(editor.text()).toContain('{"action":"accept","content":{"colour":"blue"}}');
  expect(editor.text()).toMatch(/^unsaved hi\s+0/);
  expect(buffers.get(path)).toBe("unsaved!");
  expect(editor.commands).toEqual(["echo hi", "release"]);
  await editor.finish();
  expect(editor.stderr).not.toContain("grammar");
});

it("a permission, a plan, a mode, a failure and a cancelled turn go through a relay", async () => {
  const answers = ["allow", "reject", "allow-tool"];
  const editor = new Editor({ command: relayed(), args: AGENT, permit: () => answers.shift() });
  const { sessionId, modes, configOptions } = await editor.open();
  expect(modes).toMatchObject({ currentModeId: "default", availableModes: [{ id: "default" }, { id: "yolo" }] });
  expect(configOptions?.find(({ id }) => id === "model")).toMatchObject({ currentValue: "small", options: [{}, { value: "lab/big" }] });
  for (const _ of [1, 2, 3, 4]) await editor.prompt(sessionId, "run it");
  // The fourth is covered by the yes for the tool, which the relay keeps.
  expect(editor.asked).toHaveLength(3);
  expect(editor.calls().map(({ status }) => status)).toEqual(["completed", "failed", "completed", "completed"]);
  await editor.prompt(sessionId, "plan");
  expect(editor.of("plan")).toMatchObject([{ entries: [{ content: "one", status: "in_progress" }] }]);
  await editor.agent.request("session/set_config_option", { sessionId, configId: "model", value: "lab/big" });
  await editor.prompt(sessionId, "what is");
  expect(editor.text()).toContain("ask lab/big");
  await expect(editor.prompt(sessionId, "fail")).rejects.toMatchObject({ data: { retryable: true } });
  const waits = editor.prompt(sessionId, "wait");
  await editor.told(() => editor.text().includes("waiting"));
  await editor.agent.notify("session/cancel", { sessionId });
  expect(await waits).toMatchObject({ stopReason: "cancelled" });
  await expect(editor.prompt(sessionId, "die")).rejects.toMatchObject({ message: expect.stringContaining("SIGKILL") });
  expect(await editor.exited).not.toBe(0);
  expect(editor.stderr).not.toContain("grammar");
});

it.each([
  ["gemini", "--acp"],
  ["qwen", "--acp"],
  ["opencode", "acp"],
  ["reasonix", "acp"],
])("the program %s, named alone, is asked to speak the protocol by '%s'", async (name, words) => {
  const folder = scratch({
    [name]: `#!/bin/sh\n[ "$*" = '${words}' ] || exit 7\nexec '${process.execPath}' '${fixture("acp-agent.mjs")}'\n`,
  });
  chmodSync(join(folder, name), 0o755);
  const editor = new Editor({ command: relayed(), args: ["--", join(folder, name)] });
  const { sessionId } = await editor.open();
  await editor.prompt(sessionId, "you there");
  expect(editor.text()).toBe("hello you there");
  await editor.finish();
});

it("under the name gemini it is that program in its ACP mode, variables and flags included", async () => {
  const server = await modelServer("gemini", [{ text: ["from ", "gemini"] }]);
  const editor = new Editor({
    command: [join(await launchers(), "gemini"), "--acp", "-m", "gemini-3-flash-preview"],
    args: [],
    env: { GEMINI_API_KEY: server.key, GOOGLE_GEMINI_BASE_URL: server.url, GEMINI_MODEL: "gemini-2.5-pro" },
  });
  const { sessionId, configOptions } = await editor.open();
  expect(configOptions?.find(({ id }) => id === "model")).toMatchObject({ currentValue: "gemini-3-flash-preview" });
  await editor.prompt(sessionId, "hello");
  expect(editor.text()).toBe("from gemini");
  await editor.finish();
});
