/** Turns of small real agents, run by the built command as a host would run it. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import * as v from "valibot";
import { expect } from "vitest";
import { stringify } from "yaml";
import { marked, scratch, type Marked } from "../support/processes.js";

const parley = join(import.meta.dirname, "../../dist/parley.js");

/** The last line of every run. Strict: a field that nobody wrote down is a mistake. */
const Result = v.strictObject({
  type: v.literal("result"),
  reply: v.string(),
  session_id: v.string(),
  error: v.string(),
  exit_code: v.number(),
  process_exit_code: v.nullable(v.number()),
  signal: v.nullable(v.string()),
  timed_out: v.boolean(),
  truncated: v.boolean(),
  usage: v.optional(v.unknown()),
  stderr: v.optional(v.string()),
  body: v.optional(v.string()),
});
const Line = v.variant("type", [
  v.strictObject({ type: v.literal("partial"), text: v.string(), role: v.optional(v.picklist(["output", "thinking", "other"])) }),
  v.strictObject({
    type: v.literal("permission_request"),
    request_id: v.string(),
    tool_name: v.string(),
    input: v.record(v.string(), v.unknown()),
    description: v.optional(v.string()),
  }),
  v.strictObject({ type: v.literal("error"), message: v.string() }),
  Result,
]);
type Line = v.InferOutput<typeof Line>;

export interface Ran {
  code: number | null;
  lines: Line[];
  partials: string[];
  /** Undefined where the user is told nothing. */
  error: string | undefined;
  result: v.InferOutput<typeof Result>;
  stderr: string;
}

type Program = ChildProcessByStdio<Writable, Readable, Readable>;

/** A folder with an agent and its profile, and everything that is started from there. */
export class Bench {
  readonly folder = scratch();
  readonly processes: Marked = marked();
  readonly env: Record<string, string>;
  readonly #profile: string;

  constructor(agent: string, profile: Record<string, unknown> = {}) {
    this.env = { ...this.processes.env, HOME: this.folder, PARLEY_HOME: join(this.folder, "home") };
    this.write("agent", agent);
    const { env = {}, ...keys } = profile;
    const mark = { PARLEY_TEST_MARK: "${PARLEY_TEST_MARK}" };
    const all = { command: "{{PROFILE_DIR}}/agent", ...keys, env: { ...mark, ...(env as object) } };
    this.#profile = this.write("profile.yaml", stringify(all));
  }

  /** An executable file. */
  write(name: string, text: string): string {
    const file = join(this.folder, name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return file;
  }

  start(args: readonly string[], { profile = this.#profile, env = {} }: { profile?: string; env?: Record<string, string> } = {}): Program {
    return spawn(process.execPath, [parley, "bridge", ...args.map((arg) => (arg === "PROFILE" ? profile : arg))], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }

  /** One turn with --json, from the first line to the exit. Afterwards nothing of it is left. */
  async turn(message = "hi", { flags = [], env, input = "" }: TurnOptions = {}): Promise<Ran> {
    const program = this.start(["run", "PROFILE", "--message", message, "--json", ...flags], env === undefined ? {} : { env });
    program.stdin.on("error", () => {});
    program.stdin.end(input);
    const ran = await told(program);
    await this.processes.gone();
    return ran;
  }

  /** The same for people. */
  async plain(args: readonly string[], input = ""): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const program = this.start(args);
    program.stdin.on("error", () => {});
    program.stdin.end(input);
    const [stdout, stderr, code] = await Promise.all([all(program.stdout), all(program.stderr), exit(program)]);
    await this.processes.gone();
    return { code, stdout, stderr };
  }
}

interface TurnOptions {
  flags?: readonly string[];
  env?: Record<string, string>;
  input?: string;
}

/** What a run with --json said. Errors come at most once, the result comes last, and it names the exit code. */
export async function told(program: Program): Promise<Ran> {
  const [stdout, stderr, code] = await Promise.all([all(program.stdout), all(program.stderr), exit(program)]);
  const lines = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => v.parse(Line, JSON.parse(line)));
  const result = v.parse(Result, lines.at(-1), { message: `no result; stderr: ${stderr}` });
  expect(lines.filter(({ type }) => type === "result")).toHaveLength(1);
  const errors = lines.flatMap((line) => (line.type === "error" ? [line.message] : []));
  expect(errors).toEqual(result.error === "" ? [] : [result.error]);
  expect(code).toBe(result.exit_code);
  if (result.exit_code !== 0) expect(result.reply).toBe("");
  const partials = lines.flatMap((line) => (line.type === "partial" ? [line.text] : []));
  return { code, lines, partials, error: errors[0], result, stderr };
}

async function all(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString();
}

function exit(program: Program): Promise<number | null> {
  return new Promise((resolve) => program.once("close", resolve));
}

/** An agent in sh. */
export function sh(script: string): string {
  return `#!/bin/sh\n${script}\n`;
}

/** An agent that prints exactly this. */
export function says(...lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join("");
  return sh(`printf '%s' '${text.replaceAll("'", String.raw`'\''`)}'`);
}

export function node(script: string): string {
  return `#!${process.execPath}\n${script}\n`;
}

/** The prefixes of 0.1, as the numbered cases abbreviate them. */
export const S = "AGENT_SESSION:";
export const P = "AGENT_PARTIAL:";
export const E = "AGENT_ERROR:";
