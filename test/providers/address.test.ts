/** Where a request goes and with which key, however the user wrote it down. */
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/core/config.js";
import type { ModelSource } from "../../src/engine/models/access.js";
import { openModel } from "../../src/engine/models/open.js";
import { run } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

describe("base URLs are forgiven a missing or doubled /v1 and slashes", () => {
  test.each(["", "/", "/v1", "/v1/", "/v1/v1", "/v1//"])("anthropic at %j", async (path) => {
    const server = await modelServer("anthropic", [{ text: ["ok"] }]);
    expect(await ask({ env: { ANTHROPIC_API_KEY: server.key, ANTHROPIC_BASE_URL: server.url + path } })).toBe("ok");
    expect(server.requests).toMatchObject([{ path: "/v1/messages", headers: { "x-api-key": server.key } }]);
  });

  test.each(["", "/v1/", "/v1/v1"])("openai at %j", async (path) => {
    const server = await modelServer("openai-chat", [{ text: ["ok"] }]);
    expect(await ask({ env: { OPENAI_API_KEY: server.key, OPENAI_BASE_URL: server.url + path } })).toBe("ok");
  });

  test("a version of its own is left alone", async () => {
    const server = await modelServer("local", []);
    const asked = ask({ chosen: "local", baseUrl: `${server.url}/api/v4/` }, { provider: "local" });
    await expect(asked).rejects.toThrow("There is no POST /api/v4/chat/completions");
  });

  test("what is no address is said so", async () => {
    const asked = openModel({ provider: "local" }, { baseUrl: "nowhere" }, sourceOf({}));
    await expect(asked).rejects.toMatchObject({ fault: { code: "config", message: "The base URL 'nowhere' is not an http or https URL" } });
  });
});

describe("keys", () => {
  test("a missing one is named before anything is sent", async () => {
    await expect(openModel({ provider: "anthropic" }, undefined, sourceOf({}))).rejects.toMatchObject({
      fault: { code: "config", message: "ANTHROPIC_API_KEY not set" },
    });
  });

  test("the flag's key is for the provider of the start, and a refused one names the flag", async () => {
    const server = await modelServer("anthropic", []);
    const asked = ask({ chosen: "anthropic", apiKey: "sk-wrong-0123456789", baseUrl: server.url }, { provider: "anthropic" });
    await expect(asked).rejects.toThrow("anthropic answered 401: invalid key [redacted] (check --api-key)");
  });

  test("a provider of the config: its address, its key variable, its headers", async () => {
    const server = await modelServer("local", [{ text: ["ok"] }]);
    const lab = {
      kind: "openai-compatible" as const,
      baseUrl: server.url,
      apiKeyEnv: "LAB_KEY",
      headers: { "x-team": "${TEAM}" },
      models: { small: { context: 4096 } },
    };
    expect(await ask({ env: { LAB_KEY: "lab-key-0123", TEAM: "blue" }, providers: { lab } }, { model: "small" })).toBe("ok");
    expect(server.requests).toMatchObject([
      { headers: { authorization: "Bearer lab-key-0123", "x-team": "blue" }, body: { model: "small" } },
    ]);
  });
});

test("openai speaks chat completions at an address of its own, unless it is told otherwise", async () => {
  const chat = await modelServer("openai-chat", [{ text: ["chat"] }]);
  const responses = await modelServer("openai-responses", [{ text: ["responses"] }]);
  const at = (url: string, key: string) => ({ env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: url } });
  expect(await ask(at(chat.url, chat.key), { provider: "openai" })).toBe("chat");
  const told = { ...at(responses.url, responses.key), providers: { openai: { api: "responses" as const } } };
  expect(await ask(told, { provider: "openai" })).toBe("responses");
});

test("the built command: --base-url and --api-key, an answer on stdout, the key nowhere", async () => {
  const server = await modelServer("anthropic", [{ text: ["Hello ", "from afar"] }]);
  const flags = ["--provider", "anthropic", "--base-url", server.url, "--api-key", server.key];
  const { code, stdout, stderr } = await run(["-p", "hi", ...flags]);
  expect(stdout).toContain("Hello from afar");
  expect(stdout + stderr).not.toContain(server.key);
  expect(code).toBe(0);
});

function sourceOf(source: Partial<ModelSource>): ModelSource {
  return { env: {}, providers: {}, chosen: undefined, ...source };
}

/** The whole answer to one question. */
async function ask(source: Partial<ModelSource>, config: SessionConfig = {}): Promise<string> {
  const model = await openModel(config, undefined, sourceOf(source));
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] }];
  let text = "";
  for await (const batch of model.stream({ system: "", messages, tools: [] }, new AbortController().signal)) {
    for (const part of batch) if (part.type === "text") text += part.text;
  }
  return text;
}
