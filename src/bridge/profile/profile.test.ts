import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "../../../test/support/processes.js";
import { childEnvironment } from "../turn/environment.js";
import { loadProfile, parseProfile } from "./file.js";
import type { Wire } from "./profile.js";

const SOURCE = { path: "p.yaml", id: "/x/p.yaml", dir: "/x" };
const read = (text: string, wire?: Wire) => parseProfile(text, SOURCE, wire);
const PLACES = { MESSAGE: "", SESSION_ID: "", SESSION_NAME: "default", PROFILE_DIR: "/x" };

describe("a profile", () => {
  test("has the defaults of the protocol", async () => {
    expect(await read("command: ./my_agent.py")).toEqual({
      warnings: [],
      misspelt: [],
      profile: {
        id: "/x/p.yaml",
        dir: "/x",
        description: "",
        install: undefined,
        argv: ["./my_agent.py"],
        resumeArgs: [],
        unsplit: undefined,
        stdin: "none",
        cwd: undefined,
        env: {},
        envInherit: "minimal",
        envAllowlist: undefined,
        timeoutSecs: 1800,
        idleTimeoutSecs: 0,
        killGraceSecs: 5,
        maxReplyChars: undefined,
        truncationSuffix: "\n\n…(truncated)",
        includeStderrInReply: false,
        sendErrorReply: true,
        streaming: true,
        sessionLinePrefix: "AGENT_SESSION:",
        output: undefined,
        permission: false,
        protocol: "0.1",
        expands: [],
        dialect: undefined,
        provider: undefined,
        model: undefined,
        mode: undefined,
      },
    });
  });

  test("takes every key", async () => {
    const { profile, warnings } = await read(`
command: a  b
args: [x, 1, true, "{{MESSAGE}}"]
stdin: message
cwd: ~/work
env: { A: "\${A}", N: 1, B: true, E: }
env_inherit: all
env_allowlist: [A]
timeout_secs: 0.5
idle_timeout_secs: 3
kill_grace_secs: 0
max_reply_chars: 0
truncation_suffix: ""
include_stderr_in_reply: true
send_error_reply: false
streaming: false
session_line_prefix: "SID:"
permission: true
protocol: 0.2
split_command: true
expands: [mentions]
dialect: aionrs
provider: local
model: small
mode: auto_edit
`);
    expect(warnings).toEqual([]);
    expect(profile).toMatchObject({
      argv: ["a", "b", "x", "1", "true", "{{MESSAGE}}"],
      unsplit: "a  b",
      stdin: "message",
      cwd: "~/work",
      env: { A: "${A}", N: "1", B: "true", E: "" },
      envInherit: "all",
      envAllowlist: ["A"],
      timeoutSecs: 0.5,
      idleTimeoutSecs: 3,
      killGraceSecs: 0,
      maxReplyChars: 0,
      truncationSuffix: "",
      includeStderrInReply: true,
      sendErrorReply: false,
      streaming: false,
      sessionLinePrefix: "SID:",
      permission: true,
      protocol: "0.2",
      expands: ["mentions"],
      dialect: "aionrs",
      provider: "local",
      model: "small",
      mode: "auto_edit",
    });
  });

  test("may lie below `agentproc`, among what other programs keep there", async () => {
    const { profile, warnings } = await read(
      "name: x\ndescription: An agent\ncli: x\ncli_install: npm i x\ntested: '1'\nmaintainer: me\ntags: [a]\nnotes: n\nagentproc:\n  command: x\n",
    );
    expect(warnings).toEqual([]);
    expect(profile).toMatchObject({ argv: ["x"], protocol: "auto", description: "An agent" });
  });

  test("is warned about what is unknown, and about what is in the wrong place", async () => {
    const { warnings } = await read("agentproc:\n  command: x\n  time_out_secs: 5\ntimeout_secs: 5\nvia: hub\n");
    expect(warnings).toEqual([
      "p.yaml:3:3: unknown key 'time_out_secs' is ignored; did you mean 'timeout_secs'?",
      "p.yaml:4:1: 'timeout_secs' belongs below agentproc and is ignored here",
      "p.yaml:5:1: unknown key 'via' is ignored",
    ]);
  });

  test("gives words and variables as they were written, whatever YAML makes of them", async () => {
    const { profile } = await read(`
agentproc:
  command: a
  args: [1.10, 0123, True, -0, &id 12345678901234567890, 1e3]
  env: { ID: *id, HEX: 0x1F, V: 1.0, ON: TRUE, NONE: ~ }
`);
    expect(profile.argv).toEqual(["a", "1.10", "0123", "True", "-0", "12345678901234567890", "1e3"]);
    expect(profile.env).toEqual({ ID: "12345678901234567890", HEX: "0x1F", V: "1.0", ON: "TRUE", NONE: "" });
  });

  test("an empty value is none", async () => {
    expect((await read("command: a b\nargs:\ntimeout_secs: ~\n", "0.2")).profile).toMatchObject({ argv: ["a", "b"], timeoutSecs: 1800 });
  });

  test.each<[Wire, string, string[]]>([
    ["0.1", "command: a b\nargs: []", ["a", "b"]],
    ["0.1", "command: a b\nsplit_command: false", ["a b"]],
    ["0.2", "command: a b", ["a", "b"]],
    ["0.2", "command: a b\nargs: []", ["a b"]],
    ["0.3", "command: a b", ["a b"]],
    ["0.4", "command: a b\nsplit_command: true", ["a", "b"]],
    ["auto", "command: a b\nargs: [c]", ["a b", "c"]],
    ["auto", "command: a b", ["a", "b"]],
  ])("on %s: %j is %j", async (wire, text, argv) => {
    expect((await read(text, wire)).profile.argv).toEqual(argv);
  });

  test.each([
    ["command: x\nstreaming: 'false'", "p.yaml:2:12: streaming must be true or false, not 'false'"],
    ["command: [x]", "p.yaml:1:10: command must be a text, not a list"],
    ["command: ' '", "p.yaml:1:10: command must name a program, not ' '"],
    ["command: x\nargs: a b", "p.yaml:2:7: args must be a list of texts, not 'a b'"],
    ["command: x\nargs:\n  - a\n  - [b]", "p.yaml:4:5: args.1 must be a text, not a list"],
    ["command: x\nenv: [A]", "p.yaml:2:6: env must map variable names to texts, not a list"],
    ["command: x\nenv:\n  A: {B: 1}", "p.yaml:3:6: env.A must be a text, not a mapping"],
    ["command: x\nenv: {A: 1, 'B=C': 2}", "p.yaml:2:13: env.B=C must be the name of a variable, not 'B=C'"],
    ["command: x\nenv_allowlist: [A, 'b c']", "p.yaml:2:20: env_allowlist.1 must be the name of a variable, not 'b c'"],
    ["command: x\nstdin: pipe", "p.yaml:2:8: stdin must be none or message, not 'pipe'"],
    ["command: x\ntimeout_secs: soon", "p.yaml:2:15: timeout_secs must be a number of seconds, not 'soon'"],
    ["command: x\nkill_grace_secs: -1", "p.yaml:2:18: kill_grace_secs must be a number of seconds, 0 or more, not -1"],
    ["command: x\nmax_reply_chars: 1.5", "p.yaml:2:18: max_reply_chars must be a whole number, not 1.5"],
    ["command: x\nprotocol: 0.5", "p.yaml:2:11: protocol must be 0.1, 0.2, 0.3, 0.4, auto, not 0.5"],
    [
      "command: x\ndialect: agentproc@0.4",
      "p.yaml:2:10: dialect must name another protocol than AgentProc, whose revision 'protocol' tells, not 'agentproc@0.4'",
    ],
    ["agentproc:\n  command: 5", "p.yaml:2:12: command must be a text, not 5"],
    ["agentproc: x", "p.yaml:1:12: agentproc must hold the keys of the profile"],
    ["args: []", "p.yaml: command is missing: it names the program to run, as in 'command: ./my_agent.py'"],
    ["- command", "p.yaml: a profile is a mapping of keys to values, as in 'command: ./my_agent.py'"],
    ["", "p.yaml: a profile is a mapping of keys to values, as in 'command: ./my_agent.py'"],
    ["command: x\ncommand: y", "p.yaml:2:1: Map keys must be unique"],
    ["command: x\nargs: [{{MESSAGE}}]", 'p.yaml:2:9: With stringKeys, all keys must be strings; what begins with {{ needs quotes: "{{…}}"'],
    ["command: x\npermission: true", "p.yaml: 'permission: true' does not go with protocol 0.1, which cannot ask: name a later one"],
    [
      "command: x\npermission: true\nprotocol: 0.2\nstdin: message",
      "p.yaml: 'permission: true' does not go with 'stdin: message': the answers come on standard input",
    ],
    ["command: x\nprotocol: auto\nstdin: message", "p.yaml: 'protocol: auto' does not go with 'stdin: message': name the protocol"],
  ])("%j is refused", async (text, message) => {
    await expect(read(text)).rejects.toMatchObject({ fault: { code: "config", message } });
  });

  test("every problem is told at once", async () => {
    await expect(read("command: 1\nstreaming: 2")).rejects.toThrow(/^p\.yaml:1:10: .*\np\.yaml:2:12: /);
  });

  test("whatever its size is read at once, and told about in a page", async () => {
    const keys = (line: (index: number) => string): string => Array.from({ length: 4000 }, (_, index) => line(index)).join("\n");
    const { warnings } = await read(`command: x\n${keys((index) => `key${index}: 1`)}`);
    expect(warnings).toHaveLength(21);
    expect(warnings[0]).toBe("p.yaml:2:1: unknown key 'key0' is ignored");
    expect(warnings.at(-1)).toBe("p.yaml: and 3980 more keys are ignored");
    const nested = await read(`agentproc:\n  command: x\n${keys((index) => `key${index}: 1`)}`);
    expect(nested.warnings).toHaveLength(21);
    const env = await read(
      `command: x\nenv:\n${keys((index) => `  K${index}: "\${V${index}}"`)}\nenv_allowlist:\n${keys((index) => `  - W${index}`)}`,
    );
    expect(childEnvironment(env.profile, {}, PLACES, "/x").warnings).toHaveLength(21);
    await expect(read(`command: x\nenv:\n${keys((index) => `  K${index}: []`)}`)).rejects.toThrow(
      "p.yaml:3:7: env.K0 must be a text, not a list",
    );
    const twice = await read(`command: x\n${keys(() => "k: 1")}`).catch((error: Error) => error.message.split("\n"));
    expect(twice).toHaveLength(21);
    expect(twice).toMatchObject({ 0: "p.yaml:3:1: Map keys must be unique", 20: "p.yaml: and 3979 more such problems" });
  });

  test("a key that goes on for ever is not repeated", async () => {
    const { warnings } = await read(`command: x\n? ${"a".repeat(900_000)}\n: 1\n`);
    expect(warnings).toEqual([expect.stringMatching(/^p\.yaml:2:3: unknown key 'a{60}…' is ignored$/)]);
    await expect(read(`command: x\nstdin: ${"a".repeat(900_000)}`)).rejects.toThrow(/must be none or message, not 'a{60}…'$/);
  });

  test("what is no file of a sensible size is refused before it is read", async () => {
    const folder = scratch();
    execFileSync("mkfifo", [join(folder, "fifo")]);
    await expect(loadProfile(join(folder, "fifo"))).rejects.toThrow(`'${folder}/fifo' is no ordinary file`);
    await expect(loadProfile("/dev/zero")).rejects.toThrow("'/dev/zero' is no ordinary file");
    writeFileSync(join(folder, "huge"), "");
    truncateSync(join(folder, "huge"), 8 * 1024 ** 3);
    await expect(loadProfile(join(folder, "huge"))).rejects.toThrow("is 8589934592 bytes long; a profile may have 1048576");
    symlinkSync("loop", join(folder, "loop"));
    await expect(loadProfile(join(folder, "loop"))).rejects.toThrow(/The profile '.*loop' cannot be read: .*ELOOP/);
  });

  test("is known by its real path", async () => {
    const folder = scratch();
    writeFileSync(join(folder, "a.yaml"), "command: x\n");
    const { profile } = await loadProfile(`${folder}/./a.yaml`);
    expect(profile).toMatchObject({ id: join(folder, "a.yaml"), dir: folder });
    await expect(loadProfile(join(folder, "none.yaml"))).rejects.toThrow(`There is no profile '${folder}/none.yaml'`);
    await expect(loadProfile(folder)).rejects.toThrow(`'${folder}' is a folder; a profile is a file`);
  });
});

describe("the environment of an agent", () => {
  const bridge = { PATH: "/bin", HOME: "/h", SECRET: "s", A: "a", PWD: "/elsewhere", AGENT_MESSAGE: "ours", AGENT_IMAGE_URL: "ours" };
  const of = async (text: string) => childEnvironment((await read(`command: x\n${text}`)).profile, bridge, PLACES, "/x");

  test("is small, with what the profile adds", async () => {
    expect(await of("env: { B: '${SECRET}-${NOPE}', AGENT_MESSAGE: evil }")).toEqual({
      env: { PATH: "/bin", HOME: "/h", PWD: "/x", B: "s-" },
      warnings: [],
    });
  });

  test("may be everything but what the protocol alone says", async () => {
    expect((await of("env_inherit: all")).env).toEqual({ PATH: "/bin", HOME: "/h", PWD: "/x", SECRET: "s", A: "a" });
  });

  test("has nothing of what is not on the list", async () => {
    expect(await of("env: { A: '${A}', S: '${SECRET}' }\nenv_allowlist: [A]")).toEqual({
      env: { PATH: "/bin", HOME: "/h", PWD: "/x", A: "a", S: "" },
      warnings: ["${SECRET} is empty for the agent: env_allowlist does not name it"],
    });
  });
});
