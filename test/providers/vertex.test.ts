/** Vertex AI: whose account, which project and region, and how long a token is used. */
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Model } from "../../src/engine/models/model.js";
import { openModel } from "../../src/engine/models/open.js";
import { vertex } from "../../src/engine/models/providers/vertex.js";
import { launchWith } from "../aionrs/host.js";
import { scratch } from "../process/harness.js";
import { modelServer, type ModelServer, type Reply } from "../support/model-server.js";
import { tokenServer, type TokenServer } from "../support/token-server.js";
import { talk, VENDORS } from "./harness.js";

/** The machine that runs the tests may be one of Google's. */
const NO_MACHINE = { METADATA_SERVER_DETECTION: "none" };
const PROJECT = { VERTEX_PROJECT_ID: "project-1", VERTEX_REGION: "europe-west4" };

describe("credentials", () => {
  test.each<[kind: TokenServer["grants"][number], what: string, env: (tokens: TokenServer) => Record<string, string>]>([
    ["service account", "a file that is named", ({ serviceAccount }) => ({ GOOGLE_APPLICATION_CREDENTIALS: serviceAccount })],
    ["user", "a file that is named", ({ user }) => ({ GOOGLE_APPLICATION_CREDENTIALS: user })],
    ["user", "gcloud's file in the home", ({ user }) => ({ HOME: gcloudHome(user) })],
    ["user", "gcloud's file elsewhere", ({ user }) => ({ CLOUDSDK_CONFIG: join(gcloudHome(user), ".config", "gcloud") })],
    ["machine", "the server of the machine", ({ url }) => ({ GCE_METADATA_HOST: new URL(url).host, HOME: scratch() })],
  ])("%s: %s", async (kind, _, env) => {
    const { server, tokens } = await vertexServer([{ text: ["ok"] }]);
    expect(await answer(await opened(server, env(tokens)))).toBe("ok");
    expect(tokens.grants).toEqual([kind]);
    expect(server.requests[0]?.headers["authorization"]).toBe(`Bearer ${server.key}`);
  });

  test("a file that is not there for one request may be there for the next", async () => {
    const { server, tokens } = await vertexServer([{ text: ["ok"] }]);
    const file = changed(tokens.user, {});
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: file });
    renameSync(file, `${file}.old`);
    await expect(answer(model)).rejects.toThrow("which does not exist");
    renameSync(`${file}.old`, file);
    expect(await answer(model)).toBe("ok");
  });

  test("a key that is given is a token, and nothing is asked for", async () => {
    const { server, tokens } = await vertexServer([{ text: ["ok"] }]);
    expect(await answer(await opened(server, {}, server.key))).toBe("ok");
    expect(tokens.grants).toEqual([]);
  });

  test("the project that pays for a user's requests is named in them", async () => {
    const { server, tokens } = await vertexServer([{ text: ["ok"] }]);
    const file = changed(tokens.user, { quota_project_id: "payer-1" });
    await answer(await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: file }));
    expect(server.requests[0]?.headers["x-goog-user-project"]).toBe("payer-1");
  });

  test("what Google refuses is told with the remedy, and without secrets", async () => {
    const { server, tokens } = await vertexServer([]);
    const file = changed(tokens.user, { refresh_token: "1//another-token-0123456789" });
    await expect(answer(await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: file }))).rejects.toMatchObject({
      fault: {
        code: "provider",
        status: 400,
        retryable: false,
        message: `${tokens.url}/token gave no token and answered 400: invalid_grant: Bad refresh token (check GOOGLE_APPLICATION_CREDENTIALS)`,
      },
    });
    expect(server.requests).toEqual([]);
  });

  test("an endpoint that is down may be tried again", async () => {
    const { server } = await vertexServer([]);
    const tokens = await tokenServer([server.key], { down: 503 });
    const asked = answer(await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: tokens.serviceAccount }));
    await expect(asked).rejects.toMatchObject({ fault: { status: 503, retryable: true } });
  });

  test("an interrupt does not wait for a token", async () => {
    const { server, tokens } = await vertexServer([]);
    const deaf = createServer(() => {});
    deaf.listen(0, "127.0.0.1");
    await once(deaf, "listening");
    onTestFinished(() => {
      deaf.closeAllConnections();
      deaf.close();
    });
    const address = deaf.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const file = changed(tokens.user, { token_uri: `http://127.0.0.1:${port}/token` });
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: file });
    const interrupt = new AbortController();
    deaf.once("request", () => interrupt.abort());
    await expect(answer(model, interrupt.signal)).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("tokens", () => {
  test("one serves many requests", async () => {
    const { server, tokens } = await vertexServer([{ text: ["one"] }, { text: ["two"] }]);
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: tokens.serviceAccount });
    expect([await answer(model), await answer(model)]).toEqual(["one", "two"]);
    expect(tokens.grants).toHaveLength(1);
  });

  test("requests at the same time wait for one exchange", async () => {
    const { server, tokens } = await vertexServer([{ text: ["one"] }, { text: ["one"] }]);
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: tokens.serviceAccount });
    expect(await Promise.all([answer(model), answer(model)])).toEqual(["one", "one"]);
    expect(tokens.grants).toHaveLength(1);
  });

  test("one that is about to run out is replaced before the next request", async () => {
    const { server } = await vertexServer([{ text: ["one"] }, { text: ["two"] }]);
    const tokens = await tokenServer([server.key], { expiresIn: 30 });
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: tokens.serviceAccount });
    expect([await answer(model), await answer(model)]).toEqual(["one", "two"]);
    expect(tokens.grants).toHaveLength(2);
  });

  test("one that is refused after it was good is replaced once", async () => {
    const refused = { error: { status: 401, message: "expired" } };
    const { server, tokens } = await vertexServer([{ text: ["one"] }, refused, { text: ["two"] }, refused, refused]);
    const model = await opened(server, { GOOGLE_APPLICATION_CREDENTIALS: tokens.serviceAccount });
    expect([await answer(model), await answer(model)]).toEqual(["one", "two"]);
    expect(tokens.grants).toHaveLength(2);
    await expect(answer(model)).rejects.toThrow("vertex answered 401: expired (check GOOGLE_APPLICATION_CREDENTIALS)");
    expect(tokens.grants).toHaveLength(3);
  });

  test("neither they nor what they are had for are told when the vendor repeats them", async () => {
    const { vertexGemini } = VENDORS;
    const server = await modelServer("vertex-gemini", []);
    const { tokens } = server;
    const lines = tokens?.privateKey.split("\n") ?? [];
    const host = await talk(vertexGemini, [{ error: { status: 400, message: `Bad: ${server.key} ${lines[1]}` } }], {
      env: { GOOGLE_APPLICATION_CREDENTIALS: tokens?.serviceAccount ?? "" },
    });
    const { reason } = await host.turn("hi");
    expect(reason).toContain("Bad: [redacted] [redacted]");
  });
});

describe("what is missing is said before anything is sent", () => {
  test.each<[what: string, env: (files: Files) => Record<string, string>, words: RegExp]>([
    ["no project", () => ({ VERTEX_PROJECT_ID: "" }), /^VERTEX_PROJECT_ID not set; it is the id/],
    ["no region", () => ({ VERTEX_REGION: "Europe!" }), /^VERTEX_REGION 'Europe!' is not a region/],
    ["no credentials", () => ({}), /^GOOGLE_APPLICATION_CREDENTIALS not set; .*gcloud auth application-default login/],
    [
      "no file",
      () => named("/nonexistent/key.json"),
      /^GOOGLE_APPLICATION_CREDENTIALS names '\/nonexistent\/key.json', which does not exist/,
    ],
    ["no JSON", ({ file }) => named(file("secret-0123")), /is not a credentials file of Google Cloud/],
    ["no refresh token", ({ changedUser }) => named(changedUser({ refresh_token: "" })), /are incomplete: refresh_token is missing/],
    ["no PEM", ({ changedAccount }) => named(changedAccount({ private_key: "secret-0123" })), /The private_key in .* is not a key in PEM/],
    [
      "a federation",
      ({ changedUser }) => named(changedUser({ type: "external_account" })),
      /of the type 'external_account', which cannot be/,
    ],
  ])("%s", async (_, env, words) => {
    const tokens = await tokenServer([]);
    const files: Files = {
      file: (text) => join(scratch({ "key.json": text }), "key.json"),
      changedUser: (fields) => changed(tokens.user, fields),
      changedAccount: (fields) => changed(tokens.serviceAccount, fields),
    };
    const source = { env: { ...PROJECT, ...NO_MACHINE, HOME: scratch(), ...env(files) }, providers: {}, chosen: undefined };
    const asked = openModel({ provider: "vertex" }, undefined, source);
    await expect(asked).rejects.toMatchObject({ fault: { code: "config", message: expect.stringMatching(words) } });
    await expect(asked).rejects.not.toThrow("secret-0123");
  });
});

describe("addresses", () => {
  const at = "/projects/p/locations";
  const google = "publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
  const claude = "publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict";
  test.each([
    ["gemini-2.5-pro", "", `https://aiplatform.googleapis.com/v1${at}/global/${google}`],
    ["gemini-2.5-pro", "us-central1", `https://us-central1-aiplatform.googleapis.com/v1${at}/us-central1/${google}`],
    ["gemini-2.5-pro", "eu", `https://aiplatform.eu.rep.googleapis.com/v1${at}/eu/${google}`],
    ["claude-sonnet-4-5@20250929", "", `https://us-east5-aiplatform.googleapis.com/v1${at}/us-east5/${claude}`],
    ["claude-sonnet-4-5@20250929", "global", `https://aiplatform.googleapis.com/v1${at}/global/${claude}`],
  ])("%s in %j", async (id, region, expected) => {
    const env = { GOOGLE_CLOUD_PROJECT: "p", GOOGLE_CLOUD_LOCATION: region };
    const access = { provider: "vertex", id, address: undefined, apiKey: "token", keyName: undefined, headers: undefined, secrets: [] };
    const asked: string[] = [];
    const loaded = await vertex.load({ ...access, api: undefined, compat: {}, env }, async (input) => {
      asked.push(input instanceof Request ? input.url : input.toString());
      return new Response("{}", { status: 500 });
    });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    await expect(loaded.model.doStream({ prompt })).rejects.toMatchObject({ statusCode: 500 });
    expect(asked).toEqual([expected]);
  });

  test.each(["", "/", "/v1", "/v1/"])("a base URL that ends in %j", async (path) => {
    const { server } = await vertexServer([{ text: ["ok"] }]);
    expect(await answer(await opened({ ...server, url: server.url + path }, {}, server.key))).toBe("ok");
  });

  test.each(["", "/", "/v1beta", "/v1beta/"])("gemini, with a base URL that ends in %j", async (path) => {
    const server = await modelServer("gemini", [{ text: ["ok"] }]);
    const source = { env: { GOOGLE_API_KEY: server.key }, providers: {}, chosen: "gemini", baseUrl: server.url + path };
    expect(await answer(await openModel({ provider: "gemini" }, undefined, source))).toBe("ok");
    expect(server.requests).toMatchObject([{ path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse" }]);
  });
});

describe("the built command", () => {
  test.each([
    ["vertex-claude", "claude-sonnet-4-6", {}],
    ["vertex-gemini", "gemini-2.5-flash", PROJECT],
  ] as const)("--json-stream with %s: thinks, calls and answers", async (wire, model, place) => {
    const cwd = scratch({ "note.txt": "the sea\n" });
    const calls = [{ name: "Read", args: { file_path: "note.txt" } }];
    const server = await modelServer(wire, [{ thinking: ["Hm."], signature: "sig-1", calls }, { text: ["The ", "sea."] }]);
    const env = { VERTEX_PROJECT_ID: "project-1", ...place, GOOGLE_APPLICATION_CREDENTIALS: server.tokens?.serviceAccount ?? "" };
    const flags = ["--provider", "vertex", "--model", model, "--base-url", server.url, "--auto-approve", "--thinking", "low"];
    const host = launchWith(flags, { cwd, env });
    await host.next("ready");
    host.message("m1", "what is in it?");
    await host.stream("m1");
    expect([host.text("m1"), host.of("error")]).toEqual(["The sea.", []]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain("the sea");
    expect(JSON.stringify(server.requests[1]?.body)).toContain("sig-1");
    expect(host.lines.join("\n")).not.toContain(server.key);
  });

  test("without credentials there is no ready", async () => {
    const host = launchWith(["--provider", "vertex"], { env: { VERTEX_PROJECT_ID: "project-1", ...NO_MACHINE } });
    expect((await host.exited).code).toBe(1);
    expect(host.events).toMatchObject([
      { type: "error", error: { code: "config_error", message: expect.stringContaining("GOOGLE_APPLICATION_CREDENTIALS not set") } },
    ]);
  });

  test("gemini answers a turn, and without its key there is no ready", async () => {
    const server = await modelServer("gemini", [{ text: ["Hello ", "there."] }]);
    const flags = ["--provider", "gemini", "--base-url", server.url];
    const host = launchWith(flags, { env: { GEMINI_API_KEY: server.key } });
    await host.next("ready");
    host.message("m1", "hi");
    await host.stream("m1");
    expect(host.text("m1")).toBe("Hello there.");

    const keyless = launchWith(flags);
    expect((await keyless.exited).code).toBe(1);
    expect(keyless.events).toMatchObject([{ error: { code: "config_error", message: "GEMINI_API_KEY not set" } }]);
  });
});

interface Files {
  file(text: string): string;
  changedUser(fields: Record<string, unknown>): string;
  changedAccount(fields: Record<string, unknown>): string;
}

function named(path: string): Record<string, string> {
  return { GOOGLE_APPLICATION_CREDENTIALS: path };
}

async function vertexServer(script: readonly Reply[]): Promise<{ server: ModelServer; tokens: TokenServer }> {
  const server = await modelServer("vertex-gemini", script);
  if (server.tokens === undefined) throw new Error("The server gives out no tokens");
  return { server, tokens: server.tokens };
}

function opened(server: ModelServer, env: Record<string, string>, apiKey?: string): Promise<Model> {
  const source = { env: { ...PROJECT, ...env }, providers: {}, chosen: "vertex", baseUrl: server.url, apiKey };
  return openModel({ provider: "vertex", model: "gemini-2.5-flash" }, undefined, source);
}

/** A home in which gcloud has written that file. */
function gcloudHome(file: string): string {
  const home = scratch();
  mkdirSync(join(home, ".config", "gcloud"), { recursive: true });
  copyFileSync(file, join(home, ".config", "gcloud", "application_default_credentials.json"));
  return home;
}

function changed(file: string, fields: Record<string, unknown>): string {
  const path = join(scratch(), "changed.json");
  writeFileSync(path, JSON.stringify(Object.assign(JSON.parse(readFileSync(file, "utf8")), fields)));
  return path;
}

async function answer(model: Model, signal = new AbortController().signal): Promise<string> {
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "hi" }] }];
  let text = "";
  for await (const batch of model.stream({ system: "", messages, tools: [] }, signal)) {
    for (const part of batch) if (part.type === "text") text += part.text;
  }
  return text;
}
