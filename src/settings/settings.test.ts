import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { toFault } from "../core/errors.js";
import { chooseProvider, loadSettings, type Env, type Flags } from "./settings.js";
import { PROVIDERS } from "../core/providers/providers.js";
import { TIME_LIMITS } from "../core/limits.js";

const NO_HOOKS = { pre_tool_use: [], post_tool_use: [], prompt: [], stop: [], session_start: [], session_end: [] };

let root: string;
let home: string;
let workspace: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "parley-config-")));
  home = join(root, "home");
  workspace = join(root, "work");
  await mkdir(workspace);
});

afterEach(() => rm(root, { recursive: true, force: true }));

const load = (flags: Flags = {}, env: Env = {}) => loadSettings({ flags, env: { PARLEY_HOME: home, ...env }, cwd: workspace });
const fault = async (flags: Flags = {}, env: Env = {}) =>
  toFault(
    await load(flags, env).then(
      () => "no fault",
      (error: unknown) => error,
    ),
  );

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const putOwn = (text: string) => put(join(home, "config.yaml"), text);
const putTheirs = (text: string) => put(join(workspace, ".parley", "config.yaml"), text);

describe("without any file", () => {
  test("the defaults hold, and the home need not exist", async () => {
    const { settings, origins, warnings } = await load();
    expect(settings).toEqual({
      home,
      workspace,
      trusted: false,
      fork: false,
      keys: {},
      unusedKeys: [],
      maxTurns: 200,
      mode: "default",
      rules: [],
      mcpServers: {},
      hooks: NO_HOOKS,
      sandbox: { mode: "off", network: "off", hooks: true },
      sessions: { enabled: true, keep: 200 },
      env: {},
      limits: {
        contextTokens: 200_000,
        lineBytes: 16_777_216,
        approvalSeconds: 300,
        outputChars: 50_000,
        nesting: 1,
        answerMiB: 16,
        stuckSeconds: 60,
        retries: 10,
        retrySeconds: 600,
        ...TIME_LIMITS,
      },
      providers: {},
    });
    expect(warnings).toEqual([]);
    expect(origins.get("home")).toBe("PARLEY_HOME");
    expect(new Set([...origins].filter(([key]) => key !== "home").map(([, from]) => from))).toEqual(new Set(["default"]));
  });

  test("the home is ~/.parley", async () => {
    const { settings } = await loadSettings({ flags: {}, env: { HOME: root }, cwd: workspace });
    expect(settings.home).toBe(join(root, ".parley"));
  });

  test.each(["", "# nothing yet\n", "---\n", "{}"])("a file with nothing in it is the same: %j", async (text) => {
    await putOwn(text);
    expect((await load()).settings.maxTurns).toBe(200);
  });
});

describe("which source counts", () => {
  const flags = {
    maxTurns: 1,
    maxTokens: 2,
    system: "f",
    appendSystem: "f",
    thinking: "low",
    mode: "plan",
    approveTools: ["F"],
    allowedTools: ["F"],
    disallowedTools: ["F"],
  };
  const file = (n: number, word: string) =>
    stringify({
      maxTurns: n,
      maxTokens: n,
      systemPrompt: word,
      appendSystemPrompt: word,
      thinking: "high",
      approval: "auto_edit",
      allowTools: [word],
      allowedTools: [word],
      disallowedTools: [word],
      limits: { lineBytes: 1024 + n },
      sessions: { keep: n },
    });
  const seen = async (given: Flags) => {
    const { settings, origins } = await load(given);
    const { maxTurns, maxTokens, system, appendSystem, thinking, mode, approveTools, allowedTools, disallowedTools } = settings;
    return { values: [maxTurns, maxTokens, system, appendSystem, thinking, mode, approveTools, allowedTools, disallowedTools], origins };
  };

  test("flags beat the workspace's file, which beats the user's; what is disallowed adds up", async () => {
    const own = await putOwn(file(10, "own"));
    const theirs = await putTheirs(file(20, "theirs"));
    const byFlag = await seen({ ...flags, trustWorkspace: true });
    expect(byFlag.values).toEqual([1, 2, "f", "f", "low", "plan", ["F"], ["F"], ["own", "theirs", "F"]]);
    expect(byFlag.origins.get("maxTurns")).toBe("flag --max-turns");
    expect(byFlag.origins.get("system")).toBe("flag --system-prompt");
    expect(byFlag.origins.get("mode")).toBe("flag --approval-mode");
    expect(byFlag.origins.get("limits.lineBytes")).toBe(`${theirs}:14`);
    const trusted = await seen({ trustWorkspace: true });
    expect(trusted.values).toEqual([20, 20, "theirs", "theirs", "high", "auto_edit", ["theirs"], ["theirs"], ["own", "theirs"]]);
    expect(trusted.origins.get("mode")).toBe(`${theirs}:6`);
    const untrusted = await seen({});
    expect(untrusted.values).toEqual([10, 10, "own", "own", "high", "auto_edit", ["own"], ["own"], ["own"]]);
    expect(untrusted.origins.get("approveTools")).toBe(`${own}:7`);
    expect(untrusted.origins.get("limits.outputChars")).toBe("default");
  });

  test("a server's relative command is a file beside the config file that names it", async () => {
    const own = await putOwn("mcpServers: { a: { command: ./bin/a }, b: { command: b }, c: { command: /c } }");
    const theirs = await putTheirs("mcpServers: { d: { command: ../d } }");
    const { mcpServers } = (await load({ trustWorkspace: true })).settings;
    expect(Object.values(mcpServers).map(({ command }) => command)).toEqual([
      join(dirname(own), "bin/a"),
      "b",
      "/c",
      join(dirname(theirs), "../d"),
    ]);
  });

  test("limits are merged key by key", async () => {
    await putOwn("limits: { lineBytes: 2048, outputChars: 9 }");
    await putTheirs("limits: { outputChars: 8 }");
    const { limits } = (await load({ trustWorkspace: true })).settings;
    expect(limits).toEqual({
      contextTokens: 200_000,
      lineBytes: 2048,
      approvalSeconds: 300,
      outputChars: 8,
      nesting: 1,
      answerMiB: 16,
      stuckSeconds: 60,
      retries: 10,
      retrySeconds: 600,
      ...TIME_LIMITS,
    });
  });

  test("rules and hooks add up, so that a workspace cannot drop the user's", async () => {
    const own = await putOwn('rules:\n  - deny: "Bash(rm *)"\nhooks: { stop: [{ command: [a] }] }');
    const theirs = await putTheirs('rules: [{ allow: "Bash" }]\nhooks: { stop: [{ command: [b] }] }\nmcpServers: { x: { command: y } }');
    const { settings, origins, warnings } = await load({ trustWorkspace: true });
    expect(settings.rules).toEqual([{ deny: "Bash(rm *)" }, { allow: "Bash" }]);
    expect([origins.get("rules[0]"), origins.get("rules[1]")]).toEqual([`${own}:2`, `${theirs}:1`]);
    expect(settings.hooks.stop).toEqual([{ command: ["a"] }, { command: ["b"] }]);
    expect(origins.get("mcpServers.x")).toBe(`${theirs}:3`);
    expect(warnings).toEqual([]);
  });

  test("flags that say the same in fewer words", async () => {
    await putOwn("approval: plan\nsessions: { enabled: true }");
    const { settings, origins } = await load({ autoApprove: true, noSession: true, sessionId: "s", apiKey: "k" });
    expect(settings).toMatchObject({ mode: "yolo", sessions: { enabled: false }, sessionId: "s", apiKey: "k" });
    expect((await load({ resume: "latest" })).settings.resume).toBe("latest");
    expect([origins.get("mode"), origins.get("sessions.enabled")]).toEqual(["flag --auto-approve", "flag --no-session"]);
  });

  test("every wrong flag is named", async () => {
    expect(
      (await fault({ maxTurns: 0, maxTokens: Number.NaN, thinking: "hard", mode: "wild", workspace: "", autoApprove: true })).message,
    ).toBe(
      [
        "The configuration has 6 problems:",
        "  flag --max-tokens must be a whole number from 1, not NaN",
        "  flag --max-turns must be a whole number from 1, not 0",
        "  flag --workspace is empty; name a folder or leave it out",
        "  flag --thinking must be one of disabled, enabled, low, medium, high, deep, max, off, not 'hard'",
        "  flag --approval-mode must be one of default, auto_edit, plan, yolo, sandboxed, not 'wild'",
        "  flag --auto-approve and the approval mode 'wild' contradict each other; give one of them",
      ].join("\n"),
    );
  });
});

describe("provider, model and address", () => {
  const named = async (flags: Flags, env: Env = {}) => {
    const { settings } = await load(flags, env);
    const { model, baseUrl } = settings;
    return [chooseProvider(settings, { PARLEY_HOME: home, ...env }), model, baseUrl];
  };

  test.each<[string, Flags, Env, (string | undefined)[]]>([
    ["nothing", {}, {}, ["anthropic", "claude-x", "https://proxy.example"]],
    ["another provider: not that model, not that address", { provider: "openai" }, {}, ["openai", undefined, undefined]],
    ["behind an address any model may live", { model: "gpt-5.4" }, {}, ["anthropic", "gpt-5.4", "https://proxy.example"]],
    ["a script is the rehearsal's", { model: "plan.yaml" }, {}, ["rehearsal", "plan.yaml", undefined]],
    ["the environment's address beats the file's", {}, { ANTHROPIC_BASE_URL: "http://e" }, ["anthropic", "claude-x", "http://e"]],
    ["another vendor's address does not count", {}, { OPENAI_BASE_URL: "http://e" }, ["anthropic", "claude-x", "https://proxy.example"]],
    ["the flag's address beats all", { baseUrl: "http://f" }, { ANTHROPIC_BASE_URL: "http://e" }, ["anthropic", "claude-x", "http://f"]],
    ["an own provider brings its address", { provider: "lab" }, {}, ["lab", undefined, "http://lab/v1"]],
    ["a model that an own provider lists is its", { model: "small" }, {}, ["lab", "small", "http://lab/v1"]],
    ["empty is not given", { provider: "", model: "", baseUrl: "" }, {}, ["anthropic", "claude-x", "https://proxy.example"]],
  ])("against a file that names anthropic behind a proxy: %s", async (_, flags, env, expected) => {
    await putOwn(
      "provider: anthropic\nmodel: claude-x\nbaseUrl: https://proxy.example\nproviders: { lab: { kind: openai-compatible, baseUrl: 'http://lab/v1', models: { small: { context: 100 } } } }",
    );
    expect(await named(flags, env)).toEqual(expected);
  });

  test("without an address of its own, a vendor gives up a model that is plainly another's", async () => {
    await putOwn("provider: anthropic\nmodel: claude-x");
    expect(await named({ model: "gpt-5.4" })).toEqual(["openai", "gpt-5.4", undefined]);
    expect(await named({ model: "whatever" })).toEqual(["anthropic", "whatever", undefined]);
  });

  test("a provider that serves any model keeps it", async () => {
    await putOwn("provider: local");
    expect(await named({ model: "gpt-oss-20b" })).toEqual(["local", "gpt-oss-20b", undefined]);
  });

  test("an unknown provider is refused with the known ones", async () => {
    const own = await putOwn("model: x\nprovider: lap\nproviders: { lab: { kind: openai-compatible, baseUrl: 'http://lab/v1' } }");
    const known = `(known: ${Object.keys(PROVIDERS).join(", ")}, lab)`;
    expect((await fault({ provider: "antropic" })).message).toBe(
      `The configuration has 2 problems:\n  flag --provider: unknown provider 'antropic'; did you mean 'anthropic'? ${known}\n  ${own}:2:11: unknown provider 'lap'; did you mean 'lab'? ${known}`,
    );
  });

  test("an address must be one, wherever it comes from", async () => {
    expect((await fault({ provider: "openai" }, { OPENAI_BASE_URL: "localhost" })).message).toBe(
      "OPENAI_BASE_URL: the base URL must be an http or https URL",
    );
    expect((await fault({ baseUrl: "x" })).message).toBe("flag --base-url: the base URL must be an http or https URL");
  });

  test("a flag that names nothing is wrong usage; a file or a variable that does is a wrong configuration", async () => {
    expect((await fault({ provider: "nobody" })).code).toBe("usage");
    expect((await fault({ baseUrl: "x" })).code).toBe("usage");
    expect((await fault({ provider: "openai" }, { OPENAI_BASE_URL: "x" })).code).toBe("config");
    await putOwn("provider: nobody");
    expect((await fault({ provider: "nobody" })).code).toBe("config");
  });
});

describe("workspace and trust", () => {
  test("a workspace that is missing or no folder is a fault that names it", async () => {
    const file = await put(join(root, "file"), "");
    expect(await fault({ workspace: "nowhere" })).toEqual({
      code: "config",
      message: `the workspace ${join(workspace, "nowhere")} does not exist; make it, or name another one (--workspace)`,
      retryable: false,
    });
    expect((await fault({ workspace: file, trustWorkspace: true })).message).toBe(`the workspace ${file} is not a folder`);
  });

  test("an untrusted workspace's file is not even read, and one line says so", async () => {
    const theirs = await putTheirs("provider: [broken");
    const { settings, warnings } = await load();
    expect(settings.trusted).toBe(false);
    expect(warnings).toEqual([
      `${theirs} is ignored, since the workspace is not trusted; 'parley trust' or --trust-workspace changes that`,
    ]);
    expect((await fault({ trustWorkspace: true })).message).toContain(`${theirs}:1:`);
  });

  test.each([
    ["itself", () => workspace, true],
    ["a parent", () => root, true],
    ["a folder that only begins alike", () => join(root, "wor"), false],
    ["a sibling", () => join(root, "work2"), false],
    ["a child", () => join(workspace, "sub"), false],
    ["a relative path", () => ".", false],
    ["nothing", () => "", false],
  ])("trust.json lists %s", async (_, folder, expected) => {
    const list = await put(join(home, "trust.json"), JSON.stringify({ trusted: [folder()] }));
    await putTheirs("maxTurns: 7");
    const { settings, origins } = await load();
    expect([settings.trusted, settings.maxTurns]).toEqual([expected, expected ? 7 : 200]);
    expect(origins.get("trusted")).toBe(expected ? list : "default");
  });

  test("it is the real path that must be trusted", async () => {
    const link = join(root, "link");
    await symlink(workspace, link);
    await put(join(home, "trust.json"), JSON.stringify({ trusted: [link] }));
    expect((await load({ workspace: link })).settings.trusted).toBe(false);
    await put(join(home, "trust.json"), JSON.stringify({ trusted: [workspace] }));
    expect((await load({ workspace: link })).settings.trusted).toBe(true);
  });

  test.each(["{", "[]", '{"trusted":"/"}'])("a list that cannot be understood trusts nothing, with a warning: %s", async (text) => {
    const list = await put(join(home, "trust.json"), text);
    const { settings, warnings } = await load();
    expect(settings.trusted).toBe(false);
    expect(warnings).toEqual([expect.stringContaining(`${list} cannot be read, so no workspace counts as trusted`)]);
  });

  test("in the user's home folder there is one file, the user's", async () => {
    await putTheirs("maxTurns: 7\nbaseUrl: http://x");
    const { settings, warnings } = await load({}, { PARLEY_HOME: join(workspace, ".parley") });
    expect([settings.maxTurns, settings.baseUrl, warnings]).toEqual([7, "http://x", []]);
  });

  test("only the user's own file lets variables through to tools", async () => {
    await putOwn('env: { pass: [GITHUB_TOKEN, "PG*"] }');
    const theirs = await putTheirs("env: { pass: [AWS_SECRET_ACCESS_KEY] }");
    const { settings, warnings } = await load({ trustWorkspace: true });
    expect(settings.env.pass).toEqual(["GITHUB_TOKEN", "PG*"]);
    expect(warnings).toEqual([`${theirs}:1: env is ignored: only your own config.yaml may set it`]);
    await putOwn('env: { pass: ["*"] }');
    await expect(load()).rejects.toThrow("env.pass[0] must be the name of a variable, or its beginning and *");
  });

  test("a trusted workspace still does not choose addresses", async () => {
    const theirs = await putTheirs("model: m\nbaseUrl: http://evil.example");
    const { settings, warnings } = await load({ trustWorkspace: true });
    expect([settings.model, settings.baseUrl]).toEqual(["m", undefined]);
    expect(warnings).toEqual([`${theirs}:2: baseUrl is ignored: only your own config.yaml may set it`]);
  });
});

describe("files that cannot be used", () => {
  test("the problems of both files are listed", async () => {
    const own = await putOwn("modle: x\nmaxTurns: no");
    const theirs = await putTheirs("approval: nope");
    const { code, message } = await fault({ trustWorkspace: true });
    expect(code).toBe("config");
    expect(message).toContain("The configuration has 3 problems:");
    expect(message).toContain(`\n  ${own}:1:1: `);
    expect(message).toContain(`\n  ${own}:2:11: `);
    expect(message).toContain(`\n  ${theirs}:1:11: `);
  });

  test("a folder, a huge file and bytes that are no text", async () => {
    const path = join(home, "config.yaml");
    await mkdir(path, { recursive: true });
    expect((await fault()).message).toBe(`${path}: is a folder; a file is expected`);
    await rm(path, { recursive: true });
    await putOwn(`#${"x".repeat(1024 * 1024)}`);
    expect((await fault()).message).toBe(`${path}: is 1048577 bytes long; a config file may have 1048576`);
    await writeFile(path, Uint8Array.of(0x6d, 0xff, 0xfe));
    expect((await fault()).message).toBe(`${path}: is not UTF-8 text`);
  });

  test.skipIf(process.getuid?.() === 0)("a file without permission (skipped for root, who may read everything)", async () => {
    const own = await putOwn("model: x");
    await chmod(own, 0);
    expect((await fault()).message).toBe(`${own}: cannot be read: permission denied`);
  });
});
