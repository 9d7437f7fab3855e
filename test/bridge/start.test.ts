/** How an agent is started: command, arguments, environment, input. The numbered cases 46 to 63. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Bench, node, says, sh } from "./harness.js";

/** Prints its arguments as JSON. */
const ARGV = node("console.log(JSON.stringify(process.argv.slice(2)))");
/** Prints these variables as JSON; null for what is unset. */
const env = (...names: string[]): string =>
  node(`console.log(JSON.stringify(${JSON.stringify(names)}.map((name) => process.env[name] ?? null)))`);

async function json(bench: Bench, message?: string, options?: Parameters<Bench["turn"]>[1]): Promise<unknown> {
  const { result } = await bench.turn(message, options);
  expect(result.error).toBe("");
  return JSON.parse(result.reply);
}

describe("what cannot be started", () => {
  test("C46: a command that is not there is named", async () => {
    const { error, result } = await new Bench("", { command: "no-such-agent --flag" }).turn();
    expect([error, result.exit_code]).toEqual(["Could not start no-such-agent: 'no-such-agent' was not found", 1]);
  });

  test("C47: a file that may not be executed", async () => {
    const bench = new Bench(sh("echo hi"));
    chmodSync(join(bench.folder, "agent"), 0o644);
    expect(await bench.turn()).toMatchObject({
      error: expect.stringMatching(/may not be executed; 'chmod \+x' makes/),
      result: { exit_code: 1 },
    });
  });

  test("what no argument and no variable can hold is named", async () => {
    const long = "x".repeat(200_000);
    const inWords = new Bench(says("hi"), { stdin: "message", args: ["{{MESSAGE}}"] });
    expect((await inWords.plain(["run", "PROFILE", "--message", "-"], long)).stderr).toContain("take {{MESSAGE}} out of 'args'");
    const inEnv = new Bench(says("hi"), { stdin: "message", env: { M: "{{MESSAGE}}" } });
    expect((await inEnv.plain(["run", "PROFILE", "--message", "-"], long)).stderr).toContain("the variable M of the profile is too long");
    const half = `data:,${"x".repeat(100_000)}`;
    const attached = await new Bench(says("hi")).turn("hi", { flags: ["--file-url", half, "--image-url", half] });
    expect(attached.error).toContain("and the latter such attachments, too");
  });

  test("C48: a folder that is not there is named, and not the command", async () => {
    const { error } = await new Bench(says("hi"), { cwd: "/no/such/folder" }).turn();
    expect(error).toMatch(/: the folder '\/no\/such\/folder' does not exist$/);
  });

  test("an interpreter that is not there", async () => {
    const { error } = await new Bench("#!/no/such/python\n").turn();
    expect(error).toMatch(/: the interpreter that '.*\/agent' names was not found$/);
  });

  test("a path with blanks that was split", async () => {
    const bench = new Bench("");
    mkdirSync(join(bench.folder, "my agents"));
    const file = bench.write("my agents/run", says("hi"));
    const profile = bench.write("spaced.yaml", `command: "${file}"\nargs: []\n`);
    const { code, stderr } = await bench.plain(["run", profile, "--message", "hi"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("'split_command: false' keeps it whole")]);
    writeFileSync(profile, `command: "${file}"\nsplit_command: false\n`);
    expect(await bench.plain(["run", profile, "--message", "hi"])).toEqual({ code: 0, stdout: "hi\n", stderr: "" });
    expect(await bench.plain(["run", profile, "--message", "hi", "--wire", "0.2"])).toMatchObject({ code: 0, stdout: "hi\n" });
  });

  test("a command beside the profile is meant from the agent's folder", async () => {
    const bench = new Bench(says("hi"), { command: "./agent", cwd: "/" });
    expect((await bench.turn()).error).toContain("beside the profile it is '{{PROFILE_DIR}}/agent'");
  });
});

describe("the command line", () => {
  test("A1, C49: is split at blanks, and quotes are characters", async () => {
    const bench = new Bench(ARGV, { command: '{{PROFILE_DIR}}/agent  a  "b c"' });
    expect(await json(bench)).toEqual(["a", '"b', 'c"']);
  });

  test("C50: whatever the message says, it is one word", async () => {
    const message = "a b; $(id) $& {{SESSION_ID}} $` '\" \\ \n{{MESSAGE}} 😀";
    expect(await json(new Bench(ARGV, { args: ["{{MESSAGE}}", "x{{MESSAGE}}y"] }), message)).toEqual([message, `x${message}y`]);
  });

  test("C56: an empty value is an empty word", async () => {
    expect(await json(new Bench(ARGV, { args: ["{{SESSION_ID}}", "{{SESSION_NAME}}"] }))).toEqual(["", "default"]);
  });

  test("placeholders count in the command and the folder, too", async () => {
    const bench = new Bench(node("console.log(JSON.stringify([process.cwd(), process.argv[2]]))"), {
      command: "{{PROFILE_DIR}}/agent {{SESSION_NAME}}",
      cwd: "{{SESSION_NAME}}",
    });
    mkdirSync(join(bench.folder, "room 1"));
    expect(await json(bench, "hi", { flags: ["--session-name", "room 1"] })).toEqual([join(bench.folder, "room 1"), "room 1"]);
  });

  test("~ is the home of the bridge", async () => {
    const bench = new Bench(node("console.log(JSON.stringify(process.cwd()))"), { cwd: "~/sub" });
    mkdirSync(join(bench.folder, "sub"));
    expect(await json(bench)).toBe(join(bench.folder, "sub"));
  });
});

describe("the environment", () => {
  test("A3, C51: a message is never expanded", async () => {
    expect(await json(new Bench(env("X"), { env: { X: "{{MESSAGE}}" } }), "${HOME} $HOME {{SESSION_NAME}}")).toEqual([
      "${HOME} $HOME {{SESSION_NAME}}",
    ]);
  });

  test("C52: ${NAME} is the bridge's variable, or nothing", async () => {
    const bench = new Bench(env("K"), { env: { K: "${NOPE}-${HOME}" } });
    expect(await json(bench)).toEqual([`-${bench.folder}`]);
  });

  test("C53: other forms are text", async () => {
    expect(await json(new Bench(env("D"), { env: { D: "$HOME ${HOME:-x}" } }))).toEqual(["$HOME ${HOME:-x}"]);
  });

  test("A30, C54: a profile cannot speak for the bridge", async () => {
    const names = { AGENT_MESSAGE: "evil", AGENT_IMAGE_URL: "evil", AGENT_SESSION_ID: "evil" };
    expect(await json(new Bench(env(...Object.keys(names)), { env: names }), "real")).toEqual(["real", null, ""]);
  });

  test("C55: what the list does not name stays with the bridge", async () => {
    const bench = new Bench(env("B", "SECRET", "A"), { env: { B: "${B}", A: "${A}" }, env_allowlist: ["A", "PARLEY_TEST_MARK"] });
    const { result, stderr } = await bench.turn("hi", { env: { A: "a", B: "b", SECRET: "s" } });
    expect(JSON.parse(result.reply)).toEqual(["", null, "a"]);
    expect(stderr).toContain("${B} is empty for the agent: env_allowlist does not name it");
  });

  test("is small, unless the profile inherits all of it", async () => {
    const given = { env: { SECRET: "s", AGENT_FILE_URL: "ours" } };
    const names = ["SECRET", "AGENT_FILE_URL", "HOME", "AGENT_PROTOCOL_VERSION", "AGENT_FROM_USER"];
    const small = new Bench(env(...names));
    expect(await json(small, "hi", given)).toEqual([null, null, small.folder, "0.1", ""]);
    const whole = new Bench(env(...names), { env_inherit: "all" });
    expect(await json(whole, "hi", { ...given, flags: ["--from", "ann"] })).toEqual(["s", null, whole.folder, "0.1", "ann"]);
  });

  test("C61: a single image or file has a variable of its own", async () => {
    const bench = new Bench(env("AGENT_IMAGE_URL", "AGENT_FILE_URL", "AGENT_ATTACHMENTS"));
    const [image, file, list] = (await json(bench, "look", {
      flags: [
        "--image-url",
        "http://a/1",
        "--file-url",
        "http://a/2",
        "--attachment",
        '{"kind":"image","url":"http://a/3","filename":"three"}',
      ],
    })) as string[];
    expect([image, file]).toEqual([null, "http://a/2"]);
    expect(JSON.parse(list ?? "")).toEqual([
      { type: "image", url: "http://a/1", name: "" },
      { type: "file", url: "http://a/2", name: "" },
      { type: "image", url: "http://a/3", name: "three" },
    ]);
    expect(await json(bench)).toEqual([null, null, null]);
  });
});

describe("standard input", () => {
  test("C57: is empty by default", async () => {
    expect((await new Bench(sh("cat; echo eof")).turn("hi", { input: "not for the agent" })).result.reply).toBe("eof");
  });

  test("A31, C58: is the message, byte for byte, where the profile says so", async () => {
    const agent = node(`console.log(JSON.stringify(require("node:fs").readFileSync(0, "utf8")))`);
    expect(await json(new Bench(agent, { stdin: "message" }), "a\nb")).toBe("a\nb");
  });

  test("C59: nobody minds who does not read it, however long it is", async () => {
    const long = "x".repeat(1024 * 1024);
    const bench = new Bench(sh('echo "${#AGENT_MESSAGE}"'), { stdin: "message" });
    const { result, stderr } = await bench.turn("-", { input: long });
    expect(result).toMatchObject({ reply: "0", exit_code: 0 });
    expect(stderr).toContain("fits into no environment variable");
    const plain = await new Bench(sh("echo hi")).turn("-", { input: long });
    expect(plain).toMatchObject({
      error: expect.stringMatching(/longer than the system allows; 'stdin: message' or/),
      result: { exit_code: 1 },
    });
  });

  test("A29, C60: a NUL in the message is refused in words", async () => {
    const { error, result } = await new Bench(sh("echo hi")).turn("-", { input: "a\0b" });
    expect([error, result.exit_code]).toEqual([expect.stringContaining("NUL character"), 1]);
    const words = await new Bench(ARGV, { args: ["{{MESSAGE}}"], stdin: "message" }).turn("-", { input: "a\0b" });
    expect(words.error).toContain("an argument would hold a NUL character");
  });
});

describe("stderr", () => {
  test("A36, C62: reaches the user only where the profile says so", async () => {
    const agent = sh("echo oops >&2; exit 1");
    const hidden = await new Bench(agent).turn();
    expect([hidden.error, hidden.result.reply]).toEqual(["The agent failed with exit code 1", ""]);
    expect((await new Bench(agent, { include_stderr_in_reply: true }).turn()).error).toBe(
      "The agent failed with exit code 1\n\nstderr:\noops",
    );
    const good = await new Bench(sh("echo oops >&2; echo fine"), { include_stderr_in_reply: true }).turn();
    expect(good.result.reply).toBe("fine\n\nstderr:\noops");
  });
});

test("A8, C63: a prefix of its own for session lines, beside the protocol's", async () => {
  expect((await new Bench(says("SID:q"), { session_line_prefix: "SID:" }).turn()).result).toMatchObject({ session_id: "q", reply: "" });
  expect((await new Bench(says("SID:q", "AGENT_SESSION:r"), { session_line_prefix: "SID:" }).turn()).result.session_id).toBe("r");
});
