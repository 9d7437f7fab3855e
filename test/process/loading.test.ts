/**
 * A file that is opened too many is what a start and a first turn cost: how many of the build's files a process loads, as V8 tells it, and that
 * only the chat loads the packages that draw it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as v from "valibot";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { chat, hasTerminal } from "../chat/chat.js";
import { modelServer } from "../support/model-server.js";
import { run, scratch, start } from "./harness.js";

const Coverage = v.object({ result: v.array(v.object({ url: v.string() })) });

test("a first turn loads what every turn needs in one file, and what its provider needs in another", async () => {
  const server = await modelServer("local", [{ text: ["hi"] }]);
  const told = scratch();
  const host = start({ provider: "local", args: ["--base-url", server.url, "--model", "m"], env: { NODE_V8_COVERAGE: told } });
  await host.open();
  host.prompt("say hi");
  await host.turnEnded();
  host.child.stdin.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });

  expect(loaded(told)).toEqual(["dist.js", "main.js", "native.js", "parley.js", "rolldown-runtime.js", "rules.js", "start.js", "turn.js"]);
});

/** Words of the packages that draw the chat, which nothing else in the build says. */
const DRAWING = { "pi-tui": "pi-crash.log", marked: "github.com/markedjs/marked", "highlight.js": "hljs-" };

const code = { say: "say Here it is:\n\n```js\nconst heron = 1;\n```\n" };

describe("what draws the chat", () => {
  test.each([
    ["one prompt", ["-p", code.say, "--provider", "rehearsal"]],
    ["the native dialect", ["serve", "--dialect", "native", "--provider", "rehearsal"]],
    ["aionrs", ["--json-stream", "--provider", "rehearsal"]],
    ["Ante", ["serve", "--provider", "rehearsal"]],
    ["Qwen", ["--input-format", "stream-json", "--output-format", "stream-json", "--provider", "rehearsal"]],
    ["ACP", ["acp", "--provider", "rehearsal"]],
    ["AgentProc", ["agentproc", "--provider", "rehearsal"]],
    ["Codex", ["--dialect", "codex", "app-server"]],
    ["Claude Code", ["--dialect", "claude", "--input-format", "stream-json", "--output-format", "stream-json", "--print", "--verbose"]],
  ])("is not loaded by %s", async (_, args) => {
    const told = scratch();
    await run(args, { env: { NODE_V8_COVERAGE: told } });
    expect(loaded(told)).toContain("start.js");
    expect(drawingIn(told)).toEqual([]);
  });

  test.skipIf(!hasTerminal)("is loaded by the chat", async () => {
    const told = scratch();
    const talk = chat({ env: { NODE_V8_COVERAGE: told }, responses: [code] });
    await talk.enter("show me code");
    await talk.shows("const heron = 1;", "tokens in");
    await talk.leave();
    expect(drawingIn(told)).toEqual(Object.keys(DRAWING));
  });
});

/** The drawing packages in the files that a process has loaded. */
function drawingIn(folder: string): string[] {
  const sources = addresses(folder).map((url) => readFileSync(url.startsWith("file:") ? fileURLToPath(url) : url, "utf8"));
  return Object.entries(DRAWING).flatMap(([name, words]) => (sources.some((source) => source.includes(words)) ? [name] : []));
}

/** The names of the build's files, without their hashes. */
function loaded(folder: string): string[] {
  return addresses(folder)
    .map((url) => basename(url).replace(/-[\w-]{8}\.js$/, ".js"))
    .sort();
}

function addresses(folder: string): string[] {
  const scripts = readdirSync(folder).flatMap((file) => v.parse(Coverage, JSON.parse(readFileSync(join(folder, file), "utf8"))).result);
  return scripts.map(({ url }) => url).filter((url) => url.includes("/dist/"));
}
