/** The published types, as a stranger's compiler sees them: strict, every declaration checked, nothing of ours installed but the package. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..");

/** A compiler takes its time where others want the same processors. */
const COMPILED_MS = 120_000;

const HOST = `
import { drive, openSession, ParleyError, serve, spawnTransport, stdio, type Agent, type HostSession } from "agent-parley";
import { createRunner, findProfile, type TurnResult } from "agent-parley/bridge";
import { loadDialect } from "agent-parley/dialects";
import { createEngine, jsonlStore } from "agent-parley/engine";

export async function ask(agent: Agent, words: string): Promise<string> {
  const session: HostSession = await openSession(agent, { config: { mode: "default" } });
  let text = "";
  for await (const event of session.prompt(words)) {
    if (event.type === "text.delta") text += event.text;
    if (event.type === "approval.requested") await session.answer(event.calls.map(({ id }) => ({ call: id, decision: "allow" })));
    if (event.type === "turn.ended" && event.outcome === "failed") throw new ParleyError({ code: "tool", message: event.reason ?? "" });
  }
  await session.close();
  return text;
}

export async function agents(): Promise<Agent[]> {
  const dialect = await loadDialect("aionrs");
  await spawnTransport({ argv: ["agent"], env: process.env }, { framing: dialect.framing });
  return [drive(dialect, ["aionrs"]), createEngine({ defaults: { cwd: ".", provider: "rehearsal" }, env: process.env })];
}

export async function served(home: string): Promise<void> {
  const engine = createEngine({
    defaults: { cwd: "." },
    env: process.env,
    openStore: async (redact) => jsonlStore(home, { keep: 200, redact }),
    extensions: { home, userHome: home, trusts: async () => false },
  });
  const dialect = await loadDialect("agentproc");
  await serve(engine, dialect, stdio(dialect.framing), { launch: { argv: process.argv.slice(2), env: process.env } });
}

export async function turn(): Promise<TurnResult> {
  const runner = createRunner((await findProfile("rehearsal")).profile);
  const on = { partial: () => {}, permission: async () => ({ behavior: "deny", message: "no" }) as const, warning: console.error };
  return runner.run({ message: "hello", sessionName: "s", from: "me", attachments: [] }, on, AbortSignal.timeout(1));
}
`;

/** The build of the command alone has none. */
beforeAll(async () => {
  if (!existsSync(join(root, "dist/lib/types/index.d.ts"))) expect(await compile(join(root, "tsconfig.types.json"))).toBe("");
}, COMPILED_MS);

it.each([
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
])(
  "let a host be written with $moduleResolution",
  async (options) => {
    const project = mkdtempSync(join(tmpdir(), "parley-types-"));
    onTestFinished(() => rmSync(project, { recursive: true, force: true }));
    const packages = join(project, "node_modules");
    mkdirSync(join(packages, "@types"), { recursive: true });
    // What an install brings: the package and what it depends on; the compiler must not follow the links into our own modules.
    mkdirSync(join(packages, "agent-parley"));
    for (const part of ["dist", "package.json"]) symlinkSync(join(root, part), join(packages, "agent-parley", part));
    for (const name of ["valibot", "@types/node", "undici-types"]) symlinkSync(join(root, "node_modules", name), join(packages, name));
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
    const compilerOptions = { ...strict, ...options, target: "es2022", types: ["node"], noEmit: true, preserveSymlinks: true };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["host.ts"] }));
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    writeFileSync(join(project, "host.ts"), HOST);
    expect(await compile(project)).toBe("");
  },
  COMPILED_MS,
);

function compile(project: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(join(root, "node_modules/.bin/tsc"), ["-p", project], { cwd: root }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
