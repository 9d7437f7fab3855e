/** `parley login`: where a key is kept, who may read it, and which other source of a key counts before it. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run, scratch, script } from "../process/harness.js";
import { hasTerminal, terminal } from "../process/terminal.js";
import { modelServer } from "../support/model-server.js";

const KEY = "sk-test-of-the-login-0123456789";

async function loggedIn(provider: string, key = KEY): Promise<string> {
  const home = scratch();
  const { code, stdout, stderr } = await run(["login", provider], { input: `${key}\n`, env: { PARLEY_HOME: home } });
  expect([code, stderr, stdout]).toEqual([0, "", expect.stringContaining(join(home, "credentials"))]);
  expect(stdout).not.toContain(key);
  return home;
}

describe("a key that is kept", () => {
  test("is in a file for its owner alone, and opens the provider", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hello."] }]);
    const home = await loggedIn("anthropic", server.key);
    expect(statSync(join(home, "credentials")).mode & 0o777).toBe(0o600);
    const env = { PARLEY_HOME: home, ANTHROPIC_BASE_URL: server.url };
    expect(await run(["-p", "hi"], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(server.requests[0]?.headers["x-api-key"]).toBe(server.key);
  });

  test("counts behind the variable and behind --api-key", async () => {
    const server = await modelServer("anthropic", [{ text: ["one"] }, { text: ["two"] }]);
    const home = await loggedIn("anthropic", "sk-wrong-key-0123456789");
    const env = { PARLEY_HOME: home, ANTHROPIC_BASE_URL: server.url };
    expect(await run(["-p", "hi"], { env: { ...env, ANTHROPIC_API_KEY: server.key } })).toMatchObject({ code: 0 });
    expect(await run(["-p", "hi", "--api-key", server.key], { env })).toMatchObject({ code: 0 });
    const refused = await run(["-p", "hi"], { env });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("check the key of 'parley login anthropic'")]);
  });

  test("does not choose the provider where a variable chooses another", async () => {
    const env = { PARLEY_HOME: await loggedIn("anthropic"), XAI_API_KEY: "sk-test-xai-0123456789" };
    expect((await run(["config"], { env })).stdout).toMatch(/^provider +xai +XAI_API_KEY$/m);
  });

  test("is told by config and doctor, and never shown", async () => {
    const env = { PARLEY_HOME: await loggedIn("openai") };
    const config = await run(["config"], { env });
    expect(config.stdout).toMatch(/^apiKey +set \(hidden\) +'parley login openai'$/m);
    const doctor = await run(["doctor"], { env });
    expect(doctor.stdout).toContain("kept by 'parley login openai'");
    expect(config.stdout + doctor.stdout).not.toContain(KEY);
  });

  test.each([[[]], [["--json"]]])("is not shown by config %j where a variable counts before it", async (flags) => {
    const env = { PARLEY_HOME: await loggedIn("openai"), OPENAI_API_KEY: "sk-test-another-one-0123456789" };
    const { stdout } = await run(["config", ...flags], { env });
    expect(stdout).toContain("set (hidden)");
    expect(stdout).not.toContain(KEY);
    expect(stdout).not.toContain("unusedKeys");
  });

  test("is not for the agent's eyes: its file is asked about in every mode, and its value is masked", async () => {
    const home = await loggedIn("openai");
    const read = { call: { tool: "Read", args: { file_path: join(home, "credentials") } } };
    const echo = { call: { tool: "Bash", args: { command: `echo ${KEY}` } } };
    const model = script([read, echo, { say: "done" }]);
    const { stdout, stderr } = await run(["-p", "go", "--json", "--yolo", "--provider", "rehearsal", "--model", model], {
      env: { PARLEY_HOME: home },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      calls: [
        { tool: "Read", status: "denied" },
        { tool: "Bash", status: "ok" },
      ],
    });
    expect(stdout + stderr).not.toContain(KEY);
  });

  test("of a server of the config is kept under the server's name", async () => {
    const server = await modelServer("local", [{ text: ["Hello."] }]);
    const home = scratch({
      "config.yaml": `provider: lab\nproviders: { lab: { kind: openai-compatible, baseUrl: "${server.url}", apiKeyEnv: LAB_KEY, models: { small: {} } } }\n`,
    });
    const env = { PARLEY_HOME: home };
    expect(await run(["login", "lab"], { input: server.key, env })).toMatchObject({ code: 0 });
    expect(await run(["-p", "hi"], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${server.key}`);
  });

  test("is forgotten by parley logout", async () => {
    const env = { PARLEY_HOME: await loggedIn("openai") };
    expect(await run(["logout", "openai"], { env })).toMatchObject({ code: 0, stdout: "The key of openai is forgotten.\n" });
    expect(await run(["-p", "hi", "--provider", "openai"], { env })).toMatchObject({ code: 1 });
    expect(await run(["logout", "openai"], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No key of 'openai' is kept"),
    });
  });
});

describe("a file of keys", () => {
  test("that others may read is told", async () => {
    const home = await loggedIn("openai");
    chmodSync(join(home, "credentials"), 0o644);
    const { stderr } = await run(["config"], { env: { PARLEY_HOME: home } });
    expect(stderr).toContain(`chmod 600 ${join(home, "credentials")}`);
  });

  test("that is damaged gives no key and is not overwritten", async () => {
    const home = scratch({ credentials: "openai: mine" });
    const env = { PARLEY_HOME: home };
    expect((await run(["-p", "say hi"], { env })).stderr).toContain("so no key in it counts");
    expect(await run(["login", "openai"], { input: KEY, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("mend it or remove it"),
    });
    expect(readFileSync(join(home, "credentials"), "utf8")).toBe("openai: mine");
  });
});

test.each([
  [[], KEY, "Which provider?"],
  [["antropic"], KEY, "did you mean 'anthropic'?"],
  [["bedrock"], KEY, "AWS's own credentials"],
  [["openai"], "", "There is no key"],
  [["openai"], "two words", "The key holds a blank"],
])("login %j with %j is wrong usage", async (args, input, why) => {
  const home = scratch();
  expect(await run(["login", ...args], { input, env: { PARLEY_HOME: home } })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(why),
  });
  expect(existsSync(join(home, "credentials"))).toBe(false);
});

/** A keyring in a folder, by the command of Linux. */
function keyring(): { PATH: string; held(): string } {
  const folder = scratch({
    "secret-tool": `#!/bin/sh
at="$(dirname "$0")/kept"
case "$1" in
  store) cat > "$at" ;;
  lookup) cat "$at" ;;
  clear) rm "$at" ;;
esac
`,
  });
  chmodSync(join(folder, "secret-tool"), 0o755);
  return { PATH: `${folder}:${process.env["PATH"] ?? ""}`, held: () => readFileSync(join(folder, "kept"), "utf8") };
}

describe.skipIf(process.platform !== "linux")("--keyring", () => {
  test("keeps the key in the system's keyring, and the file tells only where it is", async () => {
    const server = await modelServer("anthropic", [{ text: ["Hello."] }]);
    const { PATH, held } = keyring();
    const env = { PATH, PARLEY_HOME: scratch(), ANTHROPIC_BASE_URL: server.url };
    expect(await run(["login", "anthropic", "--keyring"], { input: server.key, env })).toMatchObject({ code: 0 });
    expect(held()).toBe(server.key);
    expect(readFileSync(join(env.PARLEY_HOME, "credentials"), "utf8")).not.toContain(server.key);
    expect(await run(["-p", "hi"], { env })).toMatchObject({ code: 0, stdout: "Hello.\n" });
    expect(await run(["logout", "anthropic"], { env })).toMatchObject({ code: 0 });
    expect(held).toThrow("ENOENT");
  });

  test("says what to do where there is none", async () => {
    const env = { PATH: join(process.execPath, ".."), PARLEY_HOME: scratch() };
    writeFileSync(join(env.PARLEY_HOME, "credentials"), '{"openai":{"keyring":true}}', { mode: 0o600 });
    expect(await run(["login", "openai", "--keyring"], { input: KEY, env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("install it (libsecret-tools), or leave --keyring out"),
    });
    expect((await run(["config"], { env })).stderr).toContain("'secret-tool' was not found");
  });
});

describe.skipIf(!hasTerminal)("at a terminal", () => {
  test("the key is asked for and not shown", async () => {
    const home = scratch();
    const pty = terminal(["login", "openai"], { PARLEY_HOME: home });
    await pty.type("The key of openai (it is not shown): ", `${KEY}\r`);
    expect(await pty.exited).toBe(0);
    expect(pty.seen).not.toContain(KEY);
    expect(readFileSync(join(home, "credentials"), "utf8")).toContain(KEY);
  });

  test("Ctrl-C leaves, and nothing is kept", async () => {
    const home = scratch();
    const pty = terminal(["login", "openai"], { PARLEY_HOME: home });
    await pty.type("The key of openai", "\u0003");
    expect([await pty.exited, existsSync(join(home, "credentials"))]).toEqual([130, false]);
  });
});
