/** Drives the built command over its real pipe. Every stream that passes here is run through the grammar checker. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { expect, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { Event, type EventOf, type EventType } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import type { Op } from "../../src/core/op.js";
import { Program } from "../support/program.js";

export { processesWith, until } from "../support/processes.js";

export const PARLEY = join(import.meta.dirname, "../../dist/parley.js");

export function scratch(files: Record<string, string> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), "parley-test-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A rehearsal script as a file. */
export function script(responses: unknown[], then?: "stop" | "repeat" | "orders"): string {
  const file = join(scratch(), "script.yaml");
  writeFileSync(file, stringify({ responses, ...(then !== undefined && { then }) }));
  return file;
}

export interface StartOptions {
  /** Flags of Node itself. */
  node?: string[];
  cwd?: string;
  env?: Record<string, string>;
  args?: string[];
  /** Instead of the rehearsal model. */
  provider?: string;
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
}

export function environment(extra: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: scratch(), PARLEY_HOME: scratch(), ...extra };
}

/** `parley serve --dialect native`, with the rehearsal model unless told otherwise. */
export function start(options: StartOptions = {}): NativeHost {
  const model = options.responses === undefined ? [] : ["--model", script(options.responses, options.then)];
  const serve = ["serve", "--dialect", "native", "--provider", options.provider ?? "rehearsal"];
  const args = [...(options.node ?? []), PARLEY, ...serve, ...model, ...(options.args ?? [])];
  const child = spawn(process.execPath, args, { cwd: options.cwd ?? scratch(), env: environment(options.env) });
  return new NativeHost(child);
}

export class NativeHost extends Program {
  readonly events: Event[] = [];
  readonly #grammar = new Grammar();
  readonly #violations: string[] = [];

  send(...ops: Op[]): void {
    for (const op of ops) {
      this.#grammar.op(op);
      this.sendLine(op);
    }
  }

  open(config: Record<string, unknown> = {}, session = "s"): Promise<EventOf<"session.ready">> {
    this.send({ type: "session.open", session, open: "new", config });
    return this.next("session.ready", (event) => event.session === session);
  }

  prompt(text: string, extra: { session?: string; turn?: string; id?: string } = {}): void {
    this.send({ type: "turn.prompt", session: "s", ...extra, parts: [{ type: "text", text }] });
  }

  allow(call: string, more: Record<string, unknown> = {}): void {
    this.send({ type: "approval.answer", session: "s", answers: [{ call, decision: "allow", ...more }] });
  }

  deny(call: string, reason?: string): void {
    this.send({ type: "approval.answer", session: "s", answers: [{ call, decision: "deny", ...(reason !== undefined && { reason }) }] });
  }

  /** The first event of that type that matches, heard already or yet to come. */
  async next<T extends EventType>(type: T, matches: (event: EventOf<T>) => boolean = () => true): Promise<EventOf<T>> {
    return this.firstIn(this.events, (event): event is EventOf<T> => isType(event, type) && matches(event), type);
  }

  /** The end of the nth turn, counted from 1. */
  async turnEnded(nth = 1): Promise<EventOf<"turn.ended">> {
    await this.next("turn.ended", (event) => this.ofType("turn.ended").indexOf(event) === nth - 1);
    const ended = this.ofType("turn.ended")[nth - 1];
    if (ended === undefined) throw new Error("unreachable");
    return ended;
  }

  ofType<T extends EventType>(type: T): EventOf<T>[] {
    return this.events.filter((event) => isType(event, type));
  }

  /** The whole text of the answer so far. */
  text(): string {
    return this.ofType("text.done")
      .filter((event) => event.under === undefined)
      .map((event) => event.text)
      .join("\n");
  }

  override async finish(): Promise<number | null> {
    const code = await super.finish();
    expect(this.events.at(-1)?.type).toBe("closed");
    expect(this.#grammar.end()).toEqual([]);
    return code;
  }

  protected override hear(line: string): void {
    const event = v.parse(Event, JSON.parse(line));
    this.events.push(event);
    this.#violations.push(...this.#grammar.event(event).map((violation) => `${violation} in ${line}`));
  }

  protected override get violations(): readonly string[] {
    return this.#violations;
  }
}

function isType<T extends EventType>(event: Event, type: T): event is EventOf<T> {
  return event.type === type;
}

/** Runs the command to its end. */
export async function run(
  args: string[],
  options: { input?: string; cwd?: string; env?: Record<string, string> } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [PARLEY, ...args], { cwd: options.cwd ?? scratch(), env: environment(options.env) });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on("data", (text: Buffer) => {
    stderr += text.toString();
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
