/** `parley models`: what is known by names, and the lists of providers. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { KNOWN_NAMES } from "../../src/engine/models/known-names.js";
import { run, scratch } from "../process/harness.js";
import { modelServer } from "../support/model-server.js";

interface Asked {
  path: string;
  headers: IncomingHttpHeaders;
}

/** A server that answers every request with this body. */
async function listing(body: unknown, status = 200): Promise<{ url: string; asked: Asked[]; close(): Promise<unknown> }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? "", headers: request.headers });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    asked,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function rowsOf(args: string[], env: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(["models", ...args, "--json"], { env });
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

test.each(Object.keys(KNOWN_NAMES))("the known names of %s are those of its package", (provider) => {
  const folder = join(import.meta.dirname, "../../node_modules/@ai-sdk", provider === "gemini" ? "google" : provider);
  const types = readFileSync(join(folder, "dist/index.d.ts"), "utf8");
  expect(KNOWN_NAMES[provider]?.filter((name) => !types.includes(`'${name}'`))).toEqual([]);
});

test("without a key the models are known by their names, with what is known of them", async () => {
  const { code, stdout, stderr } = await run(["models"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^anthropic +claude-sonnet-4-6 \(default\) +1,000,000 +128,000 +yes +yes +3\/15$/m);
  expect(stdout).toMatch(/^openai +gpt-4\.1 +1,047,576 +32,768 +no +yes$/m);
  const [row] = await rowsOf(["xai"]);
  expect(row).toEqual({ provider: "xai", model: "grok-4.7", context: 500_000, thinking: true, images: true, from: "name" });
});

test("a provider that was named and cannot be asked says why, and shows what is known", async () => {
  const keyless = await run(["models", "anthropic"]);
  expect([keyless.code, keyless.stderr]).toEqual([0, expect.stringContaining("ANTHROPIC_API_KEY not set; set it, or keep the key")]);
  expect(keyless.stdout).toContain("claude-sonnet-4-6");
  const { url } = await listing({ error: { message: "invalid x-api-key" } }, 401);
  const refused = await run(["models", "anthropic", "--base-url", url], { env: { ANTHROPIC_API_KEY: "sk-wrong-0123456789" } });
  expect([refused.code, refused.stderr]).toEqual([0, expect.stringMatching(/invalid x-api-key.*check ANTHROPIC_API_KEY/)]);
});

test("a provider of which nothing is known and nobody answers is a failure", async () => {
  const { url, close } = await listing({});
  await close();
  const { code, stdout, stderr } = await run(["models", "local", "--base-url", url]);
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("start the model server")]);
  expect(await run(["models", "nobody"])).toMatchObject({ code: 2, stderr: expect.stringContaining("unknown provider 'nobody'") });
});

const KEY = "sk-test-0123456789";

test.each([
  [
    "anthropic",
    {
      data: [
        {
          id: "claude-next-9",
          max_input_tokens: 5000,
          max_tokens: 600,
          capabilities: { thinking: { supported: true }, image_input: { supported: false } },
        },
      ],
    },
    "/v1/models?limit=1000",
    { "x-api-key": KEY },
    { model: "claude-next-9", context: 5000, output: 600, thinking: true, images: false },
  ],
  [
    "openai",
    { data: [{ id: "gpt-5.4" }] },
    "/v1/models",
    { authorization: `Bearer ${KEY}` },
    { model: "gpt-5.4", default: true, context: 1_050_000 },
  ],
  [
    "gemini",
    {
      models: [
        { name: "models/embedding-001", supportedGenerationMethods: ["embedContent"] },
        { name: "models/gemini-next", inputTokenLimit: 7000, outputTokenLimit: 80, supportedGenerationMethods: ["generateContent"] },
      ],
    },
    "/v1beta/models?pageSize=1000",
    { "x-goog-api-key": KEY },
    { model: "gemini-next", context: 7000, output: 80 },
  ],
  ["xai", { data: [{ id: "grok-4.7" }] }, "/v1/models", { authorization: `Bearer ${KEY}` }, { model: "grok-4.7", context: 500_000 }],
  [
    "openrouter",
    {
      data: [
        {
          id: "acme/one",
          context_length: 9000,
          top_provider: { max_completion_tokens: 90 },
          architecture: { input_modalities: ["text", "image"] },
          supported_parameters: ["tools", "reasoning"],
        },
      ],
    },
    "/v1/models",
    { authorization: `Bearer ${KEY}` },
    { model: "acme/one", context: 9000, output: 90, thinking: true, images: true },
  ],
  ["local", { data: [{ id: "small", meta: { n_ctx_train: 4096 } }] }, "/v1/models", {}, { model: "small", context: 4096 }],
])("%s is asked for its list", async (provider, body, path, headers, row) => {
  const { url, asked } = await listing(body);
  const rows = await rowsOf([provider, "--base-url", url, ...(provider === "local" ? [] : ["--api-key", KEY])]);
  expect(rows).toEqual([expect.objectContaining({ provider, from: "provider", ...row })]);
  expect(asked).toEqual([{ path, headers: expect.objectContaining(headers) }]);
});

test("models of the config are there with their facts and prices, and the cost of a turn follows from these", async () => {
  const server = await modelServer("local", [{ text: ["Hello."], usage: { input: 1000, output: 100 } }]);
  const models = "small: { context: 32768, prices: { input: 2, output: 10 } }";
  const home = scratch({
    "config.yaml": `providers: { lab: { kind: openai-compatible, baseUrl: "${server.url}", models: { ${models} } } }\n`,
  });
  const env = { PARLEY_HOME: home };
  const { stdout } = await run(["-p", "hi", "--json", "--provider", "lab"], { env });
  expect(JSON.parse(stdout)).toMatchObject({ text: "Hello.", cost: 0.003 });
  await server.close();
  expect(await rowsOf(["lab"], env)).toEqual([
    expect.objectContaining({ model: "small", default: true, context: 32768, prices: { input: 2, output: 10 }, from: "config" }),
  ]);
});
