/** A host that knows nothing of a wire but its lines: it sends some, and waits until so many have come. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { onTestFinished } from "vitest";
import { environment, PARLEY } from "../process/harness.js";

export interface LineOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Instead of the built command. */
  argv?: string[];
}

export class LineHost {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: unknown[] = [];
  readonly exited: Promise<number | null>;
  stderr = "";
  #rest = "";
  #isOver = false;
  #watchers: (() => void)[] = [];

  constructor(args: string[], { cwd, env, argv = [process.execPath, PARLEY, ...args] }: LineOptions) {
    const [command = "", ...words] = argv;
    this.child = spawn(command, words, { cwd, env: environment(env) });
    this.child.stdin.on("error", () => {});
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.child.stderr.on("data", (bytes: Buffer) => (this.stderr += bytes.toString()));
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        this.#isOver = true;
        this.#wake();
        resolve(code);
      });
    });
    onTestFinished(async () => {
      if (!this.#isOver) this.child.kill("SIGKILL");
      await this.exited;
    });
  }

  send(...records: unknown[]): void {
    for (const record of records) this.child.stdin.write(`${typeof record === "string" ? record : JSON.stringify(record)}\n`);
  }

  /** The first line that holds this text. */
  async heard(text: string): Promise<unknown> {
    for (;;) {
      const found = this.lines.find((line) => JSON.stringify(line).includes(text));
      if (found !== undefined) return found;
      await this.#more(`a line with ${text}`);
    }
  }

  async count(lines: number): Promise<void> {
    while (this.lines.length < lines) await this.#more(`${lines} lines`);
  }

  finish(): Promise<number | null> {
    this.child.stdin.end();
    return this.exited;
  }

  async #more(what: string): Promise<void> {
    if (this.#isOver)
      throw new Error(`It ended before ${what}. It said:\n${this.lines.map((line) => JSON.stringify(line)).join("\n")}\n${this.stderr}`);
    await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.lines.push(JSON.parse(line));
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}

const AuditLine = v.union([
  v.strictObject({ at: v.number(), start: v.looseObject({ format: v.literal(1), argv: v.array(v.string()) }) }),
  v.strictObject({ at: v.number(), gap: v.number(), why: v.string() }),
  v.strictObject({ at: v.number(), dir: v.picklist(["in", "out"]), conn: v.optional(v.string()), rec: v.unknown() }),
  v.strictObject({ at: v.number(), dir: v.literal("in"), conn: v.optional(v.string()), bad: v.string(), line: v.string() }),
  v.strictObject({ at: v.number(), dir: v.picklist(["in", "out"]), conn: v.optional(v.string()), end: v.literal(true) }),
]);
type AuditLine = v.InferOutput<typeof AuditLine>;

export function auditIn(file: string): AuditLine[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => v.parse(AuditLine, JSON.parse(line)));
}

export function records(audit: readonly AuditLine[], dir: "in" | "out", conn?: string): unknown[] {
  return audit.flatMap((line) => ("rec" in line && line.dir === dir && line.conn === conn ? [line.rec] : []));
}
