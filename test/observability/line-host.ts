/** A host that knows nothing of a wire but its lines: it sends some, and waits until so many have come. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { Event } from "../../src/core/event.js";
import { Op } from "../../src/core/op.js";
import { environment, PARLEY } from "../process/harness.js";
import { Program } from "../support/program.js";

export interface LineOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Instead of the built command. */
  argv?: string[];
}

export class LineHost extends Program {
  readonly records: unknown[] = [];

  constructor(args: string[], { cwd, env, argv = [process.execPath, PARLEY, ...args] }: LineOptions) {
    const [command = "", ...words] = argv;
    super(spawn(command, words, { cwd, env: environment(env) }));
  }

  send(...records: unknown[]): void {
    for (const record of records) this.raw(`${typeof record === "string" ? record : JSON.stringify(record)}\n`);
  }

  /** The first line that holds this text. */
  async heard(text: string): Promise<unknown> {
    return this.firstIn(this.records, (record) => JSON.stringify(record).includes(text), `a line with ${text}`);
  }

  async count(lines: number): Promise<void> {
    while (this.lines.length < lines) await this.more(`${lines} lines`);
  }

  protected override hear(line: string): void {
    this.records.push(JSON.parse(line));
  }
}

const place = { conn: v.optional(v.string()), wire: v.optional(v.picklist(["host", "agent"])) };

const AuditLine = v.union([
  v.strictObject({
    at: v.number(),
    start: v.looseObject({ format: v.literal(2), side: v.picklist(["agent", "host", "relay"]), argv: v.array(v.string()) }),
  }),
  v.strictObject({ at: v.number(), conn: v.optional(v.string()), op: Op }),
  v.strictObject({ at: v.number(), conn: v.optional(v.string()), event: Event }),
  v.strictObject({ at: v.number(), gap: v.number(), why: v.string() }),
  v.strictObject({ at: v.number(), dir: v.picklist(["in", "out"]), ...place, rec: v.unknown() }),
  v.strictObject({ at: v.number(), dir: v.literal("in"), ...place, bad: v.string(), line: v.string() }),
  v.strictObject({ at: v.number(), dir: v.picklist(["in", "out"]), ...place, end: v.literal(true) }),
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
