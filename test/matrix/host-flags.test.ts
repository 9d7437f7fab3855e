/** A host starts a relay as it would start its own agent: with that program's flags, which stand behind `--drive B`. */
import { spawn } from "node:child_process";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { launchProgram } from "../aionrs/host.js";
import { AnteClient, Daemon } from "../ante/client.js";
import { environment, NativeHost, PARLEY, run, scratch } from "../process/harness.js";
import { QwenHost } from "../qwen/host.js";
import { start } from "../qwen-shipped/host.js";
import { fixture } from "../support/processes.js";
import { agents, driving } from "./agents.js";

const NODE = process.execPath;
const NATIVE = [NODE, PARLEY, ...(agents["native"] ?? [])];
const QWEN = [NODE, fixture("qwen-shipped.mjs"), "0.24", "ready"];

/** What the stand-in was started with. */
const Given = v.object({ argv: v.array(v.string()) });

describe("a host of qwen-shipped", () => {
  const FORMATS = ["--input-format", "stream-json", "--output-format", "stream-json", "--channel=SDK"];

  it("starts a relay with all that the SDK says; what is meant for the session reaches the driven agent", async () => {
    const session = "--model=m1 --system-prompt S --append-system-prompt -p --approval-mode auto-edit --max-session-turns 7";
    const tools = [
      "--core-tools",
      "read_file,run_shell_command",
      "--exclude-tools",
      "edit",
      "--allowed-tools",
      "run_shell_command(git status)",
    ];
    const more = "--auth-type openai --include-partial-messages --session-id 123e4567-e89b-42d3-a456-426614174999 --max-tool-calls 9";
    const last =
      "--max-subagent-depth 2 --include-directories /a,/b --extensions none --fallback-model m2 -d --openai-api-key sk-very-secret";
    const flags = [...FORMATS, ...session.split(" "), ...tools, ...more.split(" "), ...last.split(" ")];
    const host = start(["relay", "--as", "qwen-shipped", "--check", "--drive", "qwen-shipped", ...flags, "--", ...QWEN]);
    await host.initialize();
    const said = v.parse(Given, JSON.parse(String((await host.ask("given"))["result"]))).argv.join(" ");
    for (const words of [
      "--model m1 --system-prompt S --append-system-prompt -p --approval-mode auto-edit",
      "--core-tools read_file,run_shell_command --exclude-tools edit",
      "Bash(git status)",
      "--auth-type openai --include-partial-messages --session-id 123e4567-e89b-42d3-a456-426614174999",
      "--max-tool-calls 9 --max-subagent-depth 2 --include-directories /a,/b --fallback-model m2",
    ])
      expect(said).toContain(words);
    expect(host.of("stream_event").length).toBeGreaterThan(0);
    expect(await host.finish()).toBe(0);
    expect(host.stderr).toBe(["extensions", "debug", "openai-api-key"].map((flag) => `parley: --${flag} changes nothing here\n`).join(""));
  });

  it("reads its allowed tools as those that run unasked, where the relay's own flag names the only ones", async () => {
    const relay = ["relay", "--as", "qwen-shipped", "--drive", "native"];
    const host = start([...relay, ...FORMATS, "--allowed-tools", "Bash(echo *)", "--", ...NATIVE], { cwd: scratch({ "a.txt": "alpha" }) });
    await host.initialize();
    expect(await host.ask("run `echo hi`")).toMatchObject({ subtype: "success", result: expect.stringContaining("hi") });
    host.user("read a.txt");
    await host.permission();
    host.child.stdin.end();
    await host.exited;
  });

  it("goes on with the last session, and copies it", async () => {
    const relay = ["relay", "--as", "qwen-shipped", "--drive", "qwen-shipped", ...FORMATS, "-c", "--fork-session", "--", ...QWEN];
    const host = start(relay);
    await host.initialize();
    expect((await host.ask("given")).result).toContain('"--continue","--fork-session"');
    expect(await host.finish()).toBe(0);
  });

  it.each([
    [["--bogus"], /Unknown flag '--bogus'/],
    [["--approval-mode", "sometimes"], /approval-mode must be one of/],
    [["--output-format", "json"], /output-format is stream-json/],
    [["-p", "hi"], /--print is for one prompt/],
    [["hi"], /Unexpected argument 'hi'/],
  ])("hears in its own words what a relay does not do: %j", async (flags, why) => {
    const { code, stdout } = await run(["relay", "--as", "qwen-shipped", "--drive", "native", ...flags, "--", ...NATIVE]);
    expect(code).not.toBe(0);
    expect(stdout).toMatch(why);
  });

  it("is refused a sandbox, which a relay has none of", async () => {
    const { code } = await run(["relay", "--as", "qwen-shipped", "--drive", "native", ...FORMATS, "--sandbox", "--", ...NATIVE]);
    expect(code).toBe(44);
  });

  it("is told the version of the program that it asks for", async () => {
    expect((await run(["relay", "--as", "qwen-shipped", "--drive", "native", "-v", "--", ...NATIVE])).stdout.trim()).toMatch(/^0\.24\./);
  });
});

describe("other hosts", () => {
  it("of aionrs: short flags are its program's, keys are COMMAND's and not repeated, words beside the flags are nothing", async () => {
    const key = "sk-very-secret";
    const flags = [
      "--json-stream",
      "-p",
      "rehearsal",
      "-k",
      key,
      "-b",
      "http://127.0.0.1:1",
      "--no-color",
      "--log-level",
      "debug",
      "hello",
    ];
    const host = launchProgram([NODE, PARLEY, "relay", "--as", "aionrs", "--drive", "native", ...flags, "--", ...NATIVE]);
    await host.next("ready");
    host.message("m1", "say hello there");
    await host.stream("m1");
    expect(host.text("m1")).toBe("hello there");
    await host.finish();
    for (const flag of ["--api-key", "--base-url", "--no-color", "--log-level"]) expect(host.stderr).toContain(`${flag} changes nothing`);
    expect(host.stderr).not.toContain(key);
  });

  it("of Wayland Core: --force runs tools unasked", async () => {
    const flags = ["--json-stream", "--dialect", "wayland", "--force", "--assistant", "me"];
    const words = [NODE, PARLEY, "relay", "--as", "wayland", "--drive", "native", ...flags, "--", ...NATIVE];
    const host = launchProgram(words, { dialect: "wayland" });
    await host.next("ready");
    host.message("m1", "run `echo hi`");
    await host.stream("m1");
    expect(host.of("tool_request")).toEqual([]);
    await host.finish();
  });

  it("of Ante: serve --stdio", async () => {
    const command = ["relay", "--as", "ante", "--drive", "native", "serve", "--stdio", ...driving("ante"), "--", ...NATIVE];
    const client = new AnteClient(new Daemon({ command }));
    await client.start();
    client.send("Shutdown");
    expect(await client.closed).toBe(0);
  });

  it("of the RFC: the formats and a heartbeat of its own", async () => {
    const flags = ["--input-format", "stream-json", "--output-format", "stream-chunk-json", "--heartbeat", "0.05"];
    const words = [PARLEY, "relay", "--as", "qwen", "--drive", "native", ...flags, "--", ...NATIVE];
    const host = new QwenHost(spawn(NODE, words, { cwd: scratch(), env: environment() }));
    await host.next("result/heartbeat");
    await host.finish();
  });

  it("of our own wire: serve, its dialect and stdio", async () => {
    const flags = ["serve", "--dialect", "native", "--stdio", "--provider", "rehearsal"];
    const words = [PARLEY, "relay", "--as", "native", "--drive", "native", ...flags, "--", ...NATIVE];
    const host = new NativeHost(spawn(NODE, words, { cwd: scratch(), env: environment() }));
    await host.open();
    host.prompt("say hi");
    await host.turnEnded();
    expect(await host.finish()).toBe(0);
  });
});

it("the relay's own flags stand before --drive in its own words, and are known behind it", async () => {
  const input = '{"type":"session.open","session":"s","id":"o","open":"new"}\n';
  const words = ["relay", "--as", "native", "--tools", "Read", "--drive", "native", "--report", "json", "--check", "--", ...NATIVE];
  const { code, stdout, stderr } = await run(words, { input });
  expect(code).toBe(0);
  expect(stdout).toContain('"allowedTools":["Read"]');
  expect(JSON.parse(stderr)).toMatchObject({ as: "native" });
});
