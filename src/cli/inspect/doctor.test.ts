import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toFault } from "../../core/errors.js";
import { loadSettings, type Env, type Flags } from "../../settings/settings.js";
import { runDoctor, type Surroundings } from "./doctor.js";

let root: string;
let surroundings: Surroundings;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "parley-doctor-")));
  await mkdir(join(root, "work"));
  await mkdir(join(root, "bin"));
  surroundings = { cwd: join(root, "work"), nodeVersion: "20.19.0", stdout: {} };
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** The report, and its lines by name. */
async function examine({ flags = {}, env = {}, ...other }: { flags?: Flags; env?: Env } & Partial<Surroundings> = {}) {
  const whole = { PARLEY_HOME: join(root, "home"), PATH: join(root, "bin"), ...env };
  const loaded = await loadSettings({ flags, env: whole, cwd: surroundings.cwd }).catch(toFault);
  const { text, ok } = await runDoctor(loaded, whole, { ...surroundings, ...other });
  const entries = text.split(/\n(?=\S)/).map((entry) => [entry.slice(2, 14).trim(), entry.trimEnd().replaceAll(/\n +/g, "\n")] as const);
  return { text, ok, checks: Object.fromEntries(entries) };
}

test("an empty machine works, with hints", async () => {
  const { ok, checks } = await examine();
  expect(ok).toBe(true);
  expect(Object.keys(checks)).toEqual([
    "node",
    "home",
    "config",
    "workspace",
    "keys",
    "provider",
    "local model",
    "ripgrep",
    "shell",
    "sandbox",
    "git",
    "terminal",
  ]);
  expect(checks["node"]).toBe("✓ node        version 20.19.0");
  expect(checks["home"]).toBe(`✓ home        ${join(root, "home")} (will be created)`);
  expect(checks["config"]).toMatch(/^✓ /);
  expect(checks["workspace"]).toContain("not trusted");
  expect(checks["keys"]).toMatch(/^! .*\n→ set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, .*; .*rehearsal/);
  expect(checks["provider"]).toMatch(/^! .*none is chosen\n→ /);
  expect(checks["shell"]).toMatch(/^! .*bash was not found on PATH\n→ /);
  expect(checks["sandbox"]).toMatch(/^! .*\n→ commands run without a sandbox .*\(optional\)$/);
  expect(checks["terminal"]).toContain("not a terminal");
});

test("what is there is found", async () => {
  for (const program of ["bash", "bwrap", "git"]) {
    await writeFile(join(root, "bin", program), "#!/bin/sh\n");
    await chmod(join(root, "bin", program), 0o755);
  }
  await mkdir(join(root, "home"));
  const stdout = { isTTY: true, columns: 120, getColorDepth: () => 8 };
  const { checks } = await examine({ stdout, flags: { trustWorkspace: true } });
  expect(checks["home"]).toBe(`✓ home        ${join(root, "home")}`);
  expect(checks["shell"]).toBe(`✓ shell       ${join(root, "bin", "bash")}`);
  expect(checks["sandbox"]).toBe(`✓ sandbox     ${join(root, "bin", "bwrap")} (off; --sandbox auto uses it)`);
  expect(checks["git"]).toBe(`✓ git         ${join(root, "bin", "git")}`);
  expect(checks["terminal"]).toBe("✓ terminal    120 columns, 256 colours");
  expect(checks["workspace"]).toBe(`✓ workspace   ${surroundings.cwd} (trusted)`);
});

test("keys are named, never shown", async () => {
  const env = { ANTHROPIC_API_KEY: "sk-SECRET", AWS_PROFILE: "SECRET", LAB_KEY: "SECRET", GOOGLE_API_KEY: "SECRET", OPENAI_API_KEY: "" };
  await mkdir(join(root, "home"));
  await writeFile(
    join(root, "home", "config.yaml"),
    "providers: { lab: { kind: openai-compatible, baseUrl: 'http://lab', apiKeyEnv: LAB_KEY } }",
  );
  const { text, checks } = await examine({ env, flags: { apiKey: "SECRET" } });
  expect(checks["keys"]).toBe("✓ keys        set: ANTHROPIC_API_KEY, GOOGLE_API_KEY, LAB_KEY");
  expect(checks["provider"]).toBe("✓ provider    anthropic, model claude-sonnet-4-6");
  expect(text).not.toContain("SECRET");
});

test.each<[flags: Flags, env: Env, found: string]>([
  [{ model: "gpt-5.4" }, {}, "openai cannot be used: OPENAI_API_KEY not set"],
  [{ provider: "vertex" }, {}, "vertex cannot be used: VERTEX_PROJECT_ID not set"],
  [{ provider: "vertex" }, { VERTEX_PROJECT_ID: "p" }, "vertex cannot be used: GOOGLE_APPLICATION_CREDENTIALS not set"],
  [{ provider: "bedrock" }, {}, "bedrock cannot be used: AWS_REGION not set"],
  [{ provider: "bedrock" }, { AWS_REGION: "us-east-1" }, "bedrock cannot be used: There are no AWS credentials: set AWS_ACCESS_KEY_ID"],
])("a provider without its credentials is a hint that names the variable: %j %j", async (flags, given, found) => {
  const machine = { HOME: root, METADATA_SERVER_DETECTION: "none", AWS_EC2_METADATA_DISABLED: "true" };
  const { ok, checks } = await examine({ flags, env: { ...machine, ...given } });
  expect(ok).toBe(true);
  expect(checks["provider"]).toContain(`! provider    ${found}`);
});

test.skipIf(process.platform !== "linux")("a sandbox that is required and missing prevents working", async () => {
  const { ok, checks } = await examine({ flags: { "sandbox.mode": "required" } });
  expect(ok).toBe(false);
  expect(checks["sandbox"]).toMatch(
    /^✗ sandbox     There is no sandbox: bubblewrap was not found; install it[^]*\n→ without one no session is opened$/,
  );
});

describe("what prevents working", () => {
  test.each(["18.20.0", "20.18.3", "8.0.0"])("Node %s", async (nodeVersion) => {
    const { ok, checks } = await examine({ nodeVersion });
    expect(ok).toBe(false);
    expect(checks["node"]).toBe(`✗ node        version ${nodeVersion} is too old\n→ install Node.js 20.19 or later`);
  });

  test.each(["20.19.0", "20.20.1", "22.0.0", "24.1.0"])("not Node %s", async (nodeVersion) => {
    expect((await examine({ nodeVersion })).ok).toBe(true);
  });

  test("a broken config: every problem is told, and the other checks still run", async () => {
    await mkdir(join(root, "home"));
    await writeFile(join(root, "home", "config.yaml"), "modle: x\nmaxTurns: no");
    const { ok, checks } = await examine();
    expect(ok).toBe(false);
    expect(checks["config"]).toContain(`${join(root, "home", "config.yaml")}:1:1: unknown key 'modle'; did you mean 'model'?`);
    expect(checks["config"]).toContain(`${join(root, "home", "config.yaml")}:2:11: `);
    expect(checks["config"]).toMatch(/^✗ [^]*\n→ correct/);
    expect(checks["node"]).toMatch(/^✓/);
    expect(checks["workspace"]).toBeUndefined();
  });

  test("a missing workspace", async () => {
    const { ok, checks } = await examine({ flags: { workspace: "nowhere" } });
    expect(ok).toBe(false);
    expect(checks["config"]).toContain(`the workspace ${join(surroundings.cwd, "nowhere")} does not exist`);
  });

  test("a home that is a file, or would lie in one", async () => {
    const file = join(root, "file");
    await writeFile(file, "");
    for (const home of [file, join(file, "home")]) {
      const { ok, checks } = await examine({ env: { PARLEY_HOME: home } });
      expect(ok).toBe(false);
      expect(checks["home"]).toMatch(/^✗ .* is not a folder that can be used\n→ set PARLEY_HOME/);
    }
  });

  test.skipIf(process.getuid?.() === 0)("a home without permission (skipped for root, who may write everywhere)", async () => {
    await mkdir(join(root, "locked"));
    await chmod(join(root, "locked"), 0o500);
    expect((await examine({ env: { PARLEY_HOME: join(root, "locked") } })).checks["home"]).toMatch(/^✗ .* cannot be written to/);
    expect((await examine({ env: { PARLEY_HOME: join(root, "locked", "a", "b") } })).checks["home"]).toMatch(/^✗ .* cannot be created/);
  });
});

test("a warning about the config is a hint", async () => {
  await mkdir(join(surroundings.cwd, ".parley"));
  await writeFile(join(surroundings.cwd, ".parley", "config.yaml"), "");
  const { ok, checks } = await examine();
  expect(ok).toBe(true);
  expect(checks["config"]).toMatch(/^! .*is ignored, since the workspace is not trusted/);
});

describe("the local model server", () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function serve(status: number, location?: string): Promise<{ address: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(status, location === undefined ? {} : { location }).end("{}");
    });
    servers.push(server);
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    return { address: `http://127.0.0.1:${port}`, asked };
  }

  test("is asked for its health", async () => {
    const { address, asked } = await serve(200);
    const { checks } = await examine({ flags: { provider: "local", baseUrl: `${address}/v1` } });
    expect(checks["local model"]).toBe(`✓ local model a server answers at ${address}`);
    expect(asked).toEqual(["/health"]);
  });

  test("that is not well, or sends us away, does not answer", async () => {
    const elsewhere = await serve(200);
    for (const { address } of [await serve(503), await serve(302, `${elsewhere.address}/health`)]) {
      const { ok, checks } = await examine({ flags: { provider: "local", baseUrl: address } });
      expect(ok).toBe(true);
      expect(checks["local model"]).toMatch(new RegExp(`^! local model no server answers at ${address}\\n→ start`));
    }
    expect(elsewhere.asked).toEqual([]);
  });

  test("that accepts and stays silent is given up", async () => {
    const server = createServer(() => {});
    servers.push(server);
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    const { checks } = await examine({ flags: { provider: "local", baseUrl: `http://127.0.0.1:${port}` } });
    expect(checks["local model"]).toContain("no server answers");
  });

  test("on another machine is not asked", async () => {
    const { checks } = await examine({ flags: { provider: "local", baseUrl: "http://models.example:8080/v1" } });
    expect(checks["local model"]).toBe("✓ local model models.example:8080 is another machine; not asked");
  });
});
