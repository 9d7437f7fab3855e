/** The serving bridge from the outside: the built command, real agents, and scripted servers for the platforms' other sides. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { fixture, marked, scratch, until } from "../support/processes.js";

const PARLEY = join(import.meta.dirname, "../../dist/parley.js");
export const SECRET = "a secret of enough length";

const Run = v.object({ message: v.string(), session: v.string(), name: v.string(), attachments: v.string() });
type Run = v.InferOutput<typeof Run>;

/** What one or more bridges after each other share: a folder, a home, a mark. */
export interface Site {
  /** What the agent was started with, each time. */
  runs(): Run[];
  journal(): string;
  start(config: Record<string, unknown>): Bridge;
  /** With a configuration as it is written. */
  startWith(text: string): Bridge;
  /** On a disk where no file may become longer than so many blocks of 512 bytes. */
  startOnFullDisk(blocks: number, config: Record<string, unknown>): Bridge;
  /** Nothing of this test runs any more. */
  gone(): Promise<void>;
  alive(): number[];
  path(name: string): string;
}

/** With `agent.yaml`, `quick.yaml`, `asking.yaml` and `leaving.yaml`, profiles of the agents in test/fixtures/bridge-serve, and one that tells its environment. */
export function site(env: Record<string, string> = {}): Site {
  const folder = scratch();
  const mark = marked();
  const path = (name: string): string => join(folder, name);
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  const agent = (name: string) => [fixture(`bridge-serve/${name}`)];
  const common = {
    command: process.execPath,
    kill_grace_secs: 1,
    max_reply_chars: 100_000,
    env_inherit: "all",
    env: { RUNS: path("runs.jsonl") },
  };
  writeFileSync(path("agent.yaml"), stringify({ ...common, args: agent("agent.mjs") }));
  writeFileSync(path("leaving.yaml"), stringify({ ...common, kill_grace_secs: 60, dialect: "native", args: agent("slow-to-leave.mjs") }));
  writeFileSync(path("environment.yaml"), stringify({ ...common, command: "env" }));
  writeFileSync(path("quick.yaml"), stringify({ ...common, args: agent("quick-agent.mjs") }));
  writeFileSync(path("asking.yaml"), stringify({ ...common, protocol: "0.4", permission: true, args: agent("asking-agent.mjs") }));
  const all = { ...mark.env, HOME: folder, PARLEY_HOME: path("home"), HOOK_SECRET: SECRET, ...env };
  const startWith = (text: string, before: readonly string[] = []): Bridge => {
    writeFileSync(path("bridge.yaml"), text);
    const [command, ...args] = [...before, process.execPath, PARLEY, "bridge", "serve", path("bridge.yaml")];
    return new Bridge(spawn(command, args, { cwd: folder, env: all }));
  };
  const written = (config: Record<string, unknown>): string => stringify({ profile: "agent.yaml", stateFolder: "state", ...config });
  return {
    path,
    alive: mark.alive,
    gone: mark.gone,
    runs: () =>
      read(path("runs.jsonl"))
        .trim()
        .split("\n")
        .filter(Boolean)
        .map((line) => v.parse(Run, JSON.parse(line))),
    journal: () => read(path("state/journal.jsonl")),
    start: (config) => startWith(written(config)),
    startWith: (text) => startWith(text),
    startOnFullDisk: (blocks, config) => startWith(written(config), ["sh", "-c", `trap "" XFSZ; ulimit -f ${blocks}; exec "$@"`, "sh"]),
  };
}

export class Bridge {
  readonly child: ChildProcessWithoutNullStreams;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stdout = "";
  stderr = "";

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    child.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await this.exited;
    });
  }

  async up(): Promise<this> {
    await this.hears("the bridge is up");
    return this;
  }

  /** Waits for words on stderr. */
  async hears(words: string): Promise<void> {
    await until(
      () => this.stderr.includes(words) || this.child.exitCode !== null,
      () => `'${words}' on stderr: ${this.stderr}`,
    );
    if (!this.stderr.includes(words)) throw new Error(`the bridge ended: ${this.stderr}`);
  }

  get url(): string {
    return /listens on (\S+)/.exec(this.stderr)?.[1] ?? "";
  }

  async kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.kill(signal);
    return this.exited;
  }
}
