import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSettings, type Flags } from "../../settings/settings.js";
import { PROVIDERS } from "../../core/providers/providers.js";
import { showConfig } from "./show-config.js";

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "parley-show-")));
});
afterEach(() => rm(home, { recursive: true }));

async function loaded(text: string, flags: Flags = {}) {
  await mkdir(join(home, "work"), { recursive: true });
  await writeFile(join(home, "config.yaml"), text);
  return loadSettings({ flags, env: { PARLEY_HOME: home }, cwd: join(home, "work") });
}

test("each value stands under its name in a config file, beside its origin", async () => {
  const text = showConfig(
    await loaded("approval: auto_edit\nallowTools: [Read]\nrules:\n  - deny: Bash(rm *)", { model: "claude-x", maxTurns: 5 }),
    "text",
    {},
  );
  const rows = text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {2,}/));
  expect(rows).toContainEqual(["model", "claude-x", "flag --model"]);
  expect(rows).toContainEqual(["maxTurns", "5", "flag --max-turns"]);
  expect(rows).toContainEqual(["approval", "auto_edit", join(home, "config.yaml:1")]);
  expect(rows).toContainEqual(["allowTools", '["Read"]', join(home, "config.yaml:2")]);
  expect(rows).toContainEqual(["rules[0]", '{"deny":"Bash(rm *)"}', join(home, "config.yaml:4")]);
  expect(rows).toContainEqual(["limits.lineBytes", "16777216", "default"]);
  expect(rows).toContainEqual(["provider", "anthropic", "the model's name"]);
  expect(rows).toContainEqual(["home", home, "PARLEY_HOME"]);
});

test("the columns are straight, whatever the values", async () => {
  const text = showConfig(await loaded('systemPrompt: "a\\nb\\e[31m"\nappendSystemPrompt: ' + "x".repeat(500)), "text", {});
  const lines = text.trimEnd().split("\n");
  expect(new Set(lines.map((line) => line.lastIndexOf("  ")).values()).size).toBe(1);
  expect(text).not.toContain("\u001B");
  expect(text).toContain(`${"x".repeat(59)}…`);
});

test("nothing that is secret, or may be, is shown", async () => {
  const config = await loaded(
    [
      "baseUrl: https://user:SECRET@proxy.example/v1?key=SECRET",
      "mcpServers:",
      "  files: { command: node, args: [--token, SECRET], env: { TOKEN: SECRET } }",
      "  remote: { url: 'https://example.com/mcp?token=SECRET', headers: { Authorization: SECRET } }",
      "hooks: { stop: [{ command: [notify, --password=SECRET] }] }",
      "providers: { lab: { kind: openai-compatible, baseUrl: 'http://SECRET@lab/v1', apiKeyEnv: LAB_KEY, headers: { X: SECRET } } }",
    ].join("\n"),
    { apiKey: "SECRET" },
  );
  for (const text of [showConfig(config, "text", {}), showConfig(config, "json", {})]) {
    expect(text).not.toContain("SECRET");
    expect(text).toContain("set (hidden)");
    expect(text).toContain("https://proxy.example/v1 (the rest is hidden)");
    expect(text).toContain("LAB_KEY");
  }
});

test("as JSON, with the warnings", async () => {
  const shown: unknown = JSON.parse(
    showConfig(await loaded("approval: plan\nhooks: { stop: [{ command: [a] }] }", { apiKey: "k" }), "json", {}),
  );
  expect(shown).toMatchObject({
    settings: {
      approval: { value: "plan", from: join(home, "config.yaml:1") },
      apiKey: { value: "set (hidden)", from: "flag --api-key" },
      model: { value: null, from: "default" },
      "sessions.enabled": { value: true, from: "default" },
      "hooks.stop[0]": { value: { program: "a" }, from: join(home, "config.yaml:2") },
    },
    warnings: [],
  });
});

test("what a run uses although no setting names it: the provider of a key, its model, and that the key is set", async () => {
  const rows = async (text: string, env: Record<string, string>, flags: Flags = {}) => {
    const { settings } = JSON.parse(showConfig(await loaded(text, flags), "json", env));
    return [settings.provider, settings.model, settings.apiKey];
  };
  const hidden = { value: "set (hidden)", from: "ANTHROPIC_API_KEY" };
  const nothing = { value: null, from: "default" };
  const anthropic = PROVIDERS.anthropic.defaultModel;
  expect(await rows("", {})).toEqual([nothing, nothing, nothing]);
  expect(await rows("", { ANTHROPIC_API_KEY: "SECRET" })).toEqual([
    { value: "anthropic", from: "ANTHROPIC_API_KEY" },
    { value: anthropic, from: "default of anthropic" },
    hidden,
  ]);
  expect(await rows("model: unheard-of", { ANTHROPIC_API_KEY: "SECRET" })).toMatchObject([
    { value: "anthropic", from: "ANTHROPIC_API_KEY" },
    {},
    {},
  ]);
  expect(await rows("provider: openai", { ANTHROPIC_API_KEY: "SECRET" })).toEqual([
    { value: "openai", from: join(home, "config.yaml:1") },
    { value: PROVIDERS.openai.defaultModel, from: "default of openai" },
    nothing,
  ]);
  expect(await rows("", { ANTHROPIC_API_KEY: "SECRET" }, { apiKey: "k" })).toMatchObject([
    {},
    {},
    { value: "set (hidden)", from: "flag --api-key" },
  ]);
  const lab =
    "provider: lab\nproviders: { lab: { kind: openai-compatible, baseUrl: 'http://lab/v1', apiKeyEnv: LAB_KEY, models: { m1: {} } } }";
  expect(await rows(lab, { LAB_KEY: "SECRET" })).toMatchObject([
    { value: "lab" },
    { value: "m1", from: "default of lab" },
    { value: "set (hidden)", from: "LAB_KEY" },
  ]);
});
