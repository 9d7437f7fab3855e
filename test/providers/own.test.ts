/** Providers that a user names in the config: their wires, their keys, and what their servers do not take. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { OwnProvider } from "../../src/core/providers/own-provider.js";
import { openModel } from "../../src/engine/models/open.js";
import { modelServer, type ModelServer, type WireName } from "../support/model-server.js";
import { run, scratch } from "../process/harness.js";
import { talk, VENDORS, type VendorUnderTest } from "./harness.js";

const wires: [kind: NonNullable<OwnProvider["kind"]>, wire: WireName, more?: OwnProvider][] = [
  ["openai-compatible", "local"],
  ["anthropic", "anthropic"],
  ["openai", "openai-chat"],
  ["openai", "openai-responses", { api: "responses" }],
  ["gemini", "gemini"],
];

test.each(wires)("kind %s speaks to a server of the wire %s, with its own key", async (kind, wire, more = {}) => {
  const lab = labAt(wire, (server) => ({ kind, baseUrl: server.url, apiKeyEnv: "LAB_KEY", ...more }));
  const host = await talk(lab, [{ text: ["Here."] }], { env: { ANTHROPIC_API_KEY: "theirs-0123", OPENAI_API_KEY: "theirs-0123" } });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
  expect(JSON.stringify(host.server.requests)).not.toContain("theirs-0123");
});

test.each(["anthropic", "openai", "gemini"] as const)(
  "kind %s without a key variable sends no key, least of all the vendor's",
  async (kind) => {
    const wire = kind === "openai" ? "openai-chat" : kind;
    const lab = labAt(wire, (server) => ({ kind, baseUrl: server.url }));
    for (const variable of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]) vi.stubEnv(variable, "theirs-0123");
    onTestFinished(() => void vi.unstubAllEnvs());
    const host = await talk(lab, []);
    expect(await host.turn("hi")).toMatchObject({ outcome: "failed", fault: { status: 401 } });
    expect(JSON.stringify(host.server.requests)).not.toContain("theirs-0123");
  },
);

describe("what is missing is named", () => {
  const open = (lab: OwnProvider) =>
    openModel({ provider: "lab" }, undefined, {
      env: {},
      providers: { lab: { kind: "anthropic", baseUrl: "http://lab", ...lab } },
      chosen: "lab",
    });

  test("the key", () => expect(open({ apiKeyEnv: "LAB_KEY" })).rejects.toThrow("LAB_KEY not set"));

  test("a variable in a header", () =>
    expect(open({ headers: { "x-team": "${TEAM}" } })).rejects.toThrow("TEAM not set; the headers of the provider 'lab' ask for it"));
});

test.each(["LAB_KEY", "--api-key"])("a key that cannot be sent: %s is named, the key is not", async (name) => {
  const key = "lab-0123456789-\u201Cquoted\u201D";
  const lab: OwnProvider = { kind: "anthropic", baseUrl: "http://lab", apiKeyEnv: "LAB_KEY" };
  const source = { env: { LAB_KEY: key }, providers: { lab }, chosen: "lab", ...(name === "--api-key" && { apiKey: key }) };
  await expect(openModel({ provider: "lab" }, undefined, source)).rejects.toThrow(
    `${name} holds a line break or another character that no key has; copy it again`,
  );
});

test("the line end behind a key is none of it", async () => {
  const lab = labAt("anthropic", (server) => ({ kind: "anthropic", baseUrl: server.url, apiKeyEnv: "LAB_KEY" }));
  const host = await talk(lab, [{ text: ["Here."] }], { source: ({ key }) => ({ env: { LAB_KEY: `${key}\r\n` } }) });
  expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
});

describe("switches for servers that take less", () => {
  const compat = { includeUsage: false, reasoningEffort: false };
  const plain = labAt("plain", (server) => ({ kind: "openai-compatible", baseUrl: server.url, apiKeyEnv: "LAB_KEY", compat }));

  test("without stream_options and reasoning_effort, and that is said", async () => {
    const host = await talk(plain, [{ text: ["Here."], uncounted: true }], { config: { thinking: "high" } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.of("notice")).toMatchObject([{ text: "How much small thinks cannot be set (compat.reasoningEffort is false)" }]);
  });

  test("without the switches such a server refuses", async () => {
    const lab = labAt("plain", (server) => ({ kind: "openai-compatible", baseUrl: server.url, apiKeyEnv: "LAB_KEY" }));
    const host = await talk(lab, [{ text: ["Here."] }]);
    expect(await host.turn("hi")).toMatchObject({
      outcome: "failed",
      fault: { status: 400, message: expect.stringContaining("stream_options") },
    });
  });

  test("max_completion_tokens instead of max_tokens", async () => {
    const field = { compat: { maxTokensField: "max_completion_tokens" as const } };
    const lab = labAt("openai-chat", (server) => ({ kind: "openai-compatible", baseUrl: server.url, apiKeyEnv: "LAB_KEY", ...field }));
    const host = await talk(lab, [{ text: ["Here."] }], { config: { model: "gpt-5.4", maxTokens: 700 } });
    expect(await host.turn("hi")).toMatchObject({ outcome: "completed" });
    expect(host.body(1)).toMatchObject({ max_completion_tokens: 700 });
  });
});

test("the built command takes a provider out of the user's config file", async () => {
  const server = await modelServer("anthropic", [{ text: ["Hello from the lab"] }]);
  const config = {
    provider: "lab",
    providers: { lab: { kind: "anthropic", baseUrl: server.url, apiKeyEnv: "LAB_PASS_PHRASE", models: { "claude-sonnet-4-6": {} } } },
  };
  const { stdout, stderr, code } = await run(["-p", "hi"], {
    env: { LAB_PASS_PHRASE: server.key, PARLEY_HOME: scratch({ "config.yaml": JSON.stringify(config) }) },
  });
  expect({ stdout: stdout.trim(), stderr, code }).toMatchObject({ stdout: "Hello from the lab", code: 0 });
});

test("what a header carries is told nowhere, though the server repeats it: neither the host, nor the log, nor a recording", async () => {
  const pass = "innocent-9f8e7d6c";
  const server = await modelServer("local", [{ error: { status: 400, message: `${pass} may not come in` } }]);
  const headers = { "x-pass": "Bearer ${TEAM}" };
  const lab = { kind: "openai-compatible", baseUrl: server.url, headers, models: { small: {} } };
  const home = scratch({ "config.yaml": JSON.stringify({ provider: "lab", providers: { lab } }) });
  const { stdout, stderr, code } = await run(["-p", "hi"], {
    env: { TEAM: pass, PARLEY_HOME: home, PARLEY_RECORD: join(home, "run.yaml") },
  });
  expect({ stdout, stderr, code }).toMatchObject({ stdout: "", stderr: expect.stringContaining("[redacted] may not come in"), code: 1 });
  const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["run.yaml", "log.jsonl"]));
  for (const { parentPath, name } of files) expect(readFileSync(join(parentPath, name), "utf8")).not.toContain(pass);
});

function labAt(wire: WireName, provider: (server: ModelServer) => OwnProvider): VendorUnderTest {
  const { local } = VENDORS;
  return {
    ...local,
    wire,
    provider: "lab",
    model: "small",
    source: (server) => ({ env: { LAB_KEY: server.key }, providers: { lab: provider(server) }, chosen: "lab" }),
  };
}
