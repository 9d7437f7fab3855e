/** `parley bridge run`, `check` and `profiles` for the people and machines that call them. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { run, scratch } from "../process/harness.js";
import { hasTerminal, terminal } from "../process/terminal.js";
import { Bench, E, node, P, S, says, sh } from "./harness.js";

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython) console.warn("skipped: one test of the bridge needs python3, which is not here");

describe("for people", () => {
  const run = ["run", "PROFILE", "--message", "hi"];

  test("partials and the reply are on stdout, everything else is not", async () => {
    expect(await new Bench(says(`${P}"a "`, `${P}"b"`, "c", `${S}s`, P)).plain(run)).toEqual({
      code: 0,
      stdout: "a b\nc\n",
      stderr: "",
    });
    expect(await new Bench(says(`${P}"a\\n"`)).plain(run)).toEqual({ code: 0, stdout: "a\n", stderr: "" });
    expect(await new Bench(sh("exit 0")).plain(run)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await new Bench(says("body", `${E}"boom"`)).plain(run)).toEqual({ code: 1, stdout: "", stderr: "parley: boom\n" });
    const thought = node(`console.log('{"type":"partial","text":"hm","role":"thinking"}'); console.log('{"type":"result","text":"x"}')`);
    expect(await new Bench(thought, { protocol: "0.4" }).plain(run)).toEqual({ code: 0, stdout: "x\n", stderr: "hm" });
  });

  test("the message may come on stdin", async () => {
    const bench = new Bench(sh('printf %s "$AGENT_MESSAGE"'));
    expect((await bench.plain(["run", "PROFILE", "--message", "-"], "two\nlines\n")).stdout).toBe("two\nlines\n");
  });

  test.each([
    [["run"], "Which profile?"],
    [["run", "PROFILE"], "There is no message"],
    [["run", "PROFILE", "--message", ""], "The message is empty, and nothing is attached"],
    [["run", "PROFILE", "--message", "x", "--wire", "9"], "--wire is 0.1, 0.2, 0.3, 0.4, auto, not '9'"],
    [["run", "PROFILE", "--message", "x", "--permission", "maybe"], "--permission is ask, allow or deny, not 'maybe'"],
    [["run", "PROFILE", "--message", "x", "--attachment", "{"], "--attachment takes a JSON object"],
    [["run", "PROFILE", "--message", "x", "--attachment", "{}"], "--attachment needs a type and a url"],
    [["run", "PROFILE", "--mesage", "x"], "did you mean '--message'?"],
    [["check"], "Which profile?"],
    [["walk"], "There is no 'bridge walk'. parley bridge run, check"],
    [[], "What? parley bridge run, check"],
  ])("wrong usage %j is told, with code 2", async (args, message) => {
    const { code, stdout, stderr } = await new Bench(says("x")).plain(args);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
  });

  test("a picture needs no words", async () => {
    expect(
      (await new Bench(sh('echo "$AGENT_IMAGE_URL"')).plain(["run", "PROFILE", "--message", "", "--image-url", "http://a/b"])).stdout,
    ).toBe("http://a/b\n");
  });

  test("a message on stdin that does not end is refused", async () => {
    const bench = new Bench(says("x"));
    const program = bench.start(["run", "PROFILE", "--message", "-"]);
    const told = text(program.stderr);
    const piece = "x".repeat(1024 * 1024);
    program.stdin.on("error", () => {});
    const more = (): void => {
      while (program.stdin.writable && program.stdin.write(piece));
    };
    program.stdin.on("drain", more);
    more();
    expect(await told).toContain("The message on stdin is longer than 16777216 bytes");
    expect(program.exitCode ?? (await once(program, "exit"))[0]).toBe(2);
  });

  test("each command has a help text", async () => {
    const bench = new Bench("");
    for (const [args, text] of [
      [["run", "--help"], "Usage: parley bridge run PROFILE --message TEXT"],
      [["check", "--help"], "Usage: parley bridge check PROFILE"],
      [["profiles", "--help"], "Usage: parley bridge profiles"],
      [["--help"], "parley bridge run"],
    ] as const) {
      expect(await bench.plain(args)).toMatchObject({ code: 0, stdout: expect.stringContaining(text) });
    }
  });

  test("a profile that is not there, or not right, is told with its place", async () => {
    const bench = new Bench("", { timeout_secs: "soon" });
    expect(await bench.plain(["run", "PROFILE", "--message", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/profile\.yaml:\d+:\d+: timeout_secs must be a number of seconds, not 'soon'/),
    });
    expect(await bench.plain(["run", "nobody", "--message", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no profile 'nobody': no such file, and none of the ready-made ones \(aionrs, .*claude, /),
    });
    expect(await bench.plain(["run", "./agent/below", "--message", "x"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^parley: The profile '\.\/agent\/below' cannot be read: ENOTDIR.*\n$/),
    });
    expect(await bench.plain(["run", ".", "--message", "x"])).toMatchObject({
      code: 1,
      stderr: "parley: '.' is a folder; a profile is a file\n",
    });
    expect(await bench.plain(["run", "./claude", "--message", "x"])).toMatchObject({
      code: 1,
      stderr: "parley: There is no profile './claude'\n",
    });
  });

  test.skipIf(!hasPython)("an agent in Python, as the protocol's own page has it", async () => {
    const agent = `#!/usr/bin/env python3
import json, os
print("AGENT_PARTIAL:" + json.dumps("thinking… "), flush=True)
print("AGENT_SESSION:" + (os.environ["AGENT_SESSION_ID"] or "py-1"))
print("You said: " + os.environ["AGENT_MESSAGE"])
`;
    const bench = new Bench(agent, { env: { PYTHONIOENCODING: "utf-8" } });
    expect((await bench.turn("héllo 😀")).result).toMatchObject({ reply: "You said: héllo 😀", session_id: "py-1" });
  });
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  const asks = node(`
    console.log(JSON.stringify({ type: "partial", text: "Let me see." }));
    console.log(JSON.stringify({ type: "permission_request", request_id: "r", tool_name: "Bash", input: { command: "ls \\u001b[2J" } }));
    let heard = "";
    process.stdin.on("data", (text) => {
      heard += text;
      const answer = heard.split("\\n").find((line) => line.includes("permission_response"));
      if (answer === undefined) return;
      console.log(JSON.stringify({ type: "partial", text: "it was " + JSON.parse(answer).behavior + " " + JSON.parse(answer).message }));
      process.stdin.destroy();
    });`);

  test("a profile that is checked does not steer it: what would run is seen", async () => {
    const bench = new Bench(says("x"), { args: ["evil", "\u001b[2K\r\u202e"], "un\u001b[8mknown": 1, cwd: "/no\u001b[8m" });
    const pty = terminal(["bridge", "check", "profile.yaml"], bench.env, bench.folder);
    expect(await pty.exited).toBe(1);
    for (const steering of ["\u001b[2K", "\u001b[8m", "\u202e"]) expect(pty.raw).not.toContain(steering);
    expect(pty.seen).toMatch(/^runs .* evil '\\u001b\[2K/m);
  });

  test("its end answers every question", async () => {
    const twice = node(`
      for (const id of ["r1", "r2"])
        console.log(JSON.stringify({ type: "permission_request", request_id: id, tool_name: "Bash", input: {} }));
      const said = [];
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        if (line.includes("permission_response")) said.push(JSON.parse(line).message);
        if (said.length === 2) console.log(JSON.stringify({ type: "result", text: said.join(", ") })), process.stdin.destroy();
      });`);
    const bench = new Bench(twice, { protocol: "0.4", permission: true });
    const pty = terminal(["bridge", "run", "profile.yaml", "--message", "hi"], bench.env, bench.folder);
    await pty.type("Allow Bash?", "\u0004");
    expect(await pty.exited).toBe(0);
    expect(pty.seen).toContain("the terminal was closed, the terminal was closed");
    expect(pty.seen).not.toContain("readline");
    await bench.processes.gone();
  });

  test.each([
    ["y\r", "it was allow undefined", 0],
    ["not now\r", "it was deny not now", 0],
    ["\u0003", "", 130],
  ])("%j answers the agent's question", async (keys, said, code) => {
    const bench = new Bench(asks, { protocol: "0.4", permission: true });
    const pty = terminal(["bridge", "run", "profile.yaml", "--message", "hi"], bench.env, bench.folder);
    await pty.type("Allow Bash?", keys);
    expect(await pty.exited).toBe(code);
    expect(pty.seen).toContain(said);
    expect(pty.seen).toMatch(/Let me see\.\r?\nBash\r?\n/);
    expect(pty.raw).not.toContain("\u001b[2J");
    await bench.processes.gone();
  });
});

describe("check", () => {
  test("says what would run, and that it is fine", async () => {
    const bench = new Bench(says("x"), { args: ["{{MESSAGE}}", "a b"], cwd: ".", env: { KEY: "${NOPE}" } });
    const { code, stdout, stderr } = await bench.plain(["check", "PROFILE"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^runs +\S+\/agent \{\{MESSAGE\}\} 'a b'$/m);
    expect(stdout).toMatch(/^gets .*\bKEY\b.*\bPATH\b/m);
    expect(stdout).toMatch(/is fine\n$/);
    expect(stderr).toBe(
      "parley: warning: ${NOPE} is not set here; the agent gets an empty text\n" +
        "parley: warning: a message that begins with - would be a flag of the program; put '--' before it, or use 'stdin: message'\n",
    );
  });

  test.each([
    ["no-such-agent x", {}, "command: 'no-such-agent' was not found"],
    ["/etc/passwd", {}, "command: '/etc/passwd' may not be executed; 'chmod +x' makes it so"],
    ["/etc", {}, "command: '/etc' is a folder, and no program"],
    ["sh", { cwd: "/no/such" }, "cwd: the folder '/no/such' does not exist"],
    ["sh", { dialect: "klingon" }, "dialect: Unknown dialect 'klingon'"],
  ])("finds what is wrong with %s %j", async (command, keys, problem) => {
    const bench = new Bench("", { command, ...keys });
    expect(await bench.plain(["check", "PROFILE"])).toMatchObject({ code: 1, stderr: expect.stringContaining(problem) });
    const { code, stdout } = await bench.plain(["check", "PROFILE", "--json"]);
    expect([code, JSON.parse(stdout)]).toEqual([1, expect.objectContaining({ ok: false, problems: [expect.stringContaining(problem)] })]);
  });

  test("starts nothing", async () => {
    const bench = new Bench(sh("touch ran"));
    await bench.plain(["check", "PROFILE"]);
    expect(readdirSync(bench.folder).sort()).toEqual(["agent", "profile.yaml"]);
  });

  test.each([
    [{ command: "sh", timout_secs: 5 }, "unknown key 'timout_secs' is ignored; did you mean 'timeout_secs'?"],
    [{ command: "sh", descripton: "x" }, "unknown key 'descripton' is ignored; did you mean 'description'?"],
    [{ comand: "sh" }, "unknown key 'comand' is ignored; did you mean 'command'?"],
    [{ command: "sh", stdin: 1, streming: true }, "unknown key 'streming' is ignored; did you mean 'streaming'?"],
  ])("finds the misspelt key in %j, and says which was meant", async (keys, problem) => {
    const folder = scratch({ "profile.yaml": stringify(keys) });
    const { code, stdout } = await run(["bridge", "check", "profile.yaml", "--json"], { cwd: folder });
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      expect.objectContaining({ ok: false, problems: expect.arrayContaining([expect.stringContaining(problem)]) }),
    ]);
  });

  test("A34: warns of unknown keys, and of a shell that would run the message", async () => {
    const bench = new Bench("", { command: "sh", args: ["-c", "echo {{MESSAGE}}"], split_command: true, time_out: 5 });
    const { code, stdout } = await bench.plain(["check", "PROFILE", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      protocol: "0.1",
      argv: ["sh", "-c", "echo {{MESSAGE}}"],
      program: expect.stringMatching(/\/sh$/),
      warnings: [
        expect.stringMatching(/profile\.yaml:\d+:1: unknown key 'time_out' is ignored/),
        expect.stringContaining("a shell would run what the message says"),
      ],
    });
  });

  test.each([
    [{ command: "{{MESSAGE}}" }, ["the message would say which program runs"]],
    [{ command: "sh", cwd: "{{MESSAGE}}" }, ["the message would say in which folder it runs"]],
    [{ command: "sh -x -- {{MESSAGE}}" }, []],
    [{ command: "sh -m {{MESSAGE}}" }, []],
  ])("of %j it warns %j", async (profile, warnings) => {
    const { stdout } = await new Bench("", profile).plain(["check", "PROFILE", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, warnings });
  });

  test("tells every problem of a profile to machines, too", async () => {
    const { code, stdout } = await new Bench("", { stdin: 1, streaming: 2 }).plain(["check", "PROFILE", "--json"]);
    expect([code, (JSON.parse(stdout) as { problems: string[] }).problems]).toEqual([
      1,
      [expect.stringContaining("stdin must be none or message"), expect.stringContaining("streaming must be true or false")],
    ]);
  });
});

describe("ready-made profiles", () => {
  test("tell how to install a program that is not there", async () => {
    const path = join(process.execPath, "..");
    const ran = await run(["bridge", "run", "codex", "--message", "hi"], { env: { PATH: path } });
    const why = "Could not start codex: 'codex' was not found; install it: npm install -g @openai/codex";
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(why)]);
    const checked = await run(["bridge", "check", "codex"], { env: { PATH: path } });
    expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining("install it: npm install -g @openai/codex")]);
  });

  const names = ["aionrs", "ante", "claude", "codex", "gemini", "opencode", "parley", "pi", "qwen", "rehearsal"];

  test("are listed, and each is in order", async () => {
    const bench = new Bench("");
    const listed = await bench.plain(["profiles"]);
    expect(listed.stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split(" ")[0]]))).toEqual(names);
    const rows = (await bench.plain(["profiles", "--json"])).stdout.trim().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as { name: string }).name)).toEqual(names);
    for (const name of names) {
      const { stdout } = await bench.plain(["check", name, "--json"]);
      const { problems, warnings } = JSON.parse(stdout) as { problems: string[]; warnings: string[] };
      expect(warnings.filter((warning) => !warning.includes("is not set here"))).toEqual([]);
      expect(problems.filter((problem) => !problem.includes("was not found"))).toEqual([]);
    }
  });

  test("none of them lets an agent do what it likes, and none makes the message a flag", () => {
    const folder = join(import.meta.dirname, "../../src/bridge/profiles");
    for (const file of readdirSync(folder)) {
      const text = readFileSync(join(folder, file), "utf8");
      expect(text).not.toMatch(/yolo|dangerously|full-auto|auto-approve|bypass|approval-mode/i);
      expect(text).not.toContain("{{MESSAGE}}");
      expect(parse(text)).toMatchObject({ name: file.replace(".yaml", ""), description: expect.any(String) });
    }
  });

  /** Runs a profile whose program only tells how it was started. */
  async function startOf(name: string, env: Record<string, string>, input: string): Promise<unknown> {
    const bench = new Bench("");
    const told = join(bench.folder, "told.json");
    const telling = `{ args: process.argv.slice(2), env: process.env, input: ${input} }`;
    mkdirSync(join(bench.folder, "bin"));
    bench.write(join("bin", name), node(`require("fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(${telling}))`));
    Object.assign(bench.env, env, { PATH: `${join(bench.folder, "bin")}${delimiter}${bench.env["PATH"] ?? ""}` });
    await bench.plain(["run", name, "--message", "hi"]);
    return JSON.parse(readFileSync(told, "utf8"));
  }

  const ASKS = '{"bash":"ask","edit":"ask","webfetch":"ask"}';

  test.each([
    ["opencode", { OPENCODE_PERMISSION: '{"bash":"allow"}' }, { args: ["acp"], env: { OPENCODE_PERMISSION: ASKS } }],
    ["codex", { CODEX_API_KEY: "k" }, { args: expect.arrayContaining(["app-server"]), env: { CODEX_API_KEY: "k" } }],
    ["claude", {}, { args: expect.arrayContaining(["--permission-prompt-tool"]) }],
    ["qwen", {}, { args: expect.arrayContaining(["--input-format"]) }],
  ])("%s with %j is driven over a protocol in which it asks", async (name, env, expected) => {
    const start = await startOf(name, env, "''");
    expect(start).toMatchObject(expected);
    expect(JSON.stringify(start)).not.toMatch(/yolo|bypass|dangerously/i);
  });

  test("pi, which cannot ask, is started with tools that only read", async () => {
    expect(await startOf("pi", {}, "require('fs').readFileSync(0, 'utf8')")).toMatchObject({
      args: expect.arrayContaining(["--tools", "read,grep,find,ls", "--no-extensions", "--no-approve"]),
      input: "hi",
    });
  });

  test("rehearsal works offline, and remembers", async () => {
    const bench = new Bench("");
    const first = await bench.plain(["run", "rehearsal", "--message", "say hello"]);
    expect(first).toEqual({ code: 0, stdout: "hello\n", stderr: "" });
    const files = readdirSync(join(bench.folder, "home/sessions"));
    await bench.plain(["run", "rehearsal", "--message", "say hello again"]);
    expect(readdirSync(join(bench.folder, "home/sessions"))).toEqual(files);
  });

  test("a file of that name comes first", async () => {
    const bench = new Bench(says("mine"));
    bench.write("rehearsal", readFileSync(join(bench.folder, "profile.yaml"), "utf8"));
    expect((await bench.plain(["run", "rehearsal", "--message", "say hello"])).stdout).toBe("mine\n");
  });
});
