/**
 * A bridge as the document has it: starts a command for one turn, in its own environment, and reads its lines. All that the command says
 * goes through the host's side of the wire and the grammar checker, and must need no repair.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import { mintId } from "../../src/core/ids.js";
import type { Event } from "../../src/core/event.js";
import { Grammar } from "../../src/core/grammar.js";
import type { Part } from "../../src/core/content.js";
import { agentproc, type AgentprocOptions } from "../../src/dialects/agentproc/index.js";
import { FrameReader } from "../../src/os/lines.js";
import { PARLEY, scratch } from "../process/harness.js";
import { marked } from "../support/processes.js";

export interface TurnOptions extends AgentprocOptions {
  /** Behind `parley`. */
  args?: readonly string[];
  /** Instead of all of it. */
  argv?: readonly string[];
  message?: string;
  parts?: Part[];
  sessionId?: string;
  name?: string;
  from?: string;
  env?: Record<string, string>;
  home?: string;
  cwd?: string;
  /** The command's input stays open, and nobody ever writes. */
  holdsInput?: boolean;
}

/** `parley agentproc` with the rehearsal model, unless told otherwise. */
export const REHEARSAL = ["agentproc", "--provider", "rehearsal"];

export class BridgeTurn {
  readonly lines: string[] = [];
  readonly events: Event[] = [];
  readonly child: ChildProcessByStdio<Writable | null, Readable, Readable>;
  readonly ended: Promise<number | NodeJS.Signals>;
  stderr = "";
  readonly #side;
  readonly #grammar = new Grammar();
  readonly #violations: string[] = [];
  #watchers: (() => void)[] = [];
  #over = false;

  constructor({ args = REHEARSAL, argv, holdsInput = false, ...options }: TurnOptions) {
    const mark = marked();
    const env = { ...mark.env, HOME: options.home ?? scratch(), PARLEY_HOME: options.home ?? scratch(), ...options.env };
    this.#side = agentproc(options).hostSide({ stamp: () => ({ id: mintId(), at: 0 }) });
    const { launch, first } = this.#prompt(options);
    const [file = "", ...rest] = argv ?? [process.execPath, PARLEY, ...args];
    const child = spawn(file, rest, {
      cwd: options.cwd ?? scratch(),
      env: { ...env, ...launch.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.child = child;
    child.stdin.on("error", () => {});
    if (first !== undefined) child.stdin.write(`${JSON.stringify(first)}\n`);
    if (launch.input !== undefined && !holdsInput) child.stdin.end(launch.input);
    child.stderr.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    const reader = new FrameReader("text");
    child.stdout.on("data", (bytes: Buffer) => reader.push(bytes).forEach((frame) => "rec" in frame && this.#hear(String(frame.rec))));
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        for (const frame of reader.end()) if ("rec" in frame) this.#hear(String(frame.rec));
        this.#follow(this.#side.end({ code, signal }).in);
        this.#over = true;
        this.#wake();
        resolve(code ?? signal ?? -1);
      });
    });
    onTestFinished(async () => {
      if (!this.#over) child.kill("SIGKILL");
      await this.ended;
      expect([...this.#violations, ...this.#grammar.end()]).toEqual([]);
    });
  }

  /** Everything that was said, once the process has ended. */
  async whole(): Promise<{
    code: number | NodeJS.Signals;
    session: string;
    partials: string;
    thinking: string;
    body: string;
    error: string | undefined;
  }> {
    const code = await this.ended;
    const of = (type: "text.delta" | "thinking.delta"): string =>
      this.events
        .map((event) => ((event.type === "text.delta" || event.type === "thinking.delta") && event.type === type ? event.text : ""))
        .join("");
    const bodies = this.events.map((event) => (event.type === "text.done" && event.streamed !== true ? event.text : ""));
    return {
      code,
      session: this.session,
      partials: of("text.delta"),
      thinking: of("thinking.delta"),
      body: bodies.join(""),
      error: this.events.flatMap((event) => (event.type === "error" && event.fault.code === "agent" ? [event.fault.message] : []))[0],
    };
  }

  get session(): string {
    return this.events.reduce((last, event) => (event.type === "session.updated" ? (event.sessionId ?? last) : last), "");
  }

  /** The first event of a type, once it is there. */
  async next<T extends Event["type"]>(type: T, nth = 1): Promise<Extract<Event, { type: T }>> {
    for (;;) {
      const found = this.events.filter((event): event is Extract<Event, { type: T }> => event.type === type)[nth - 1];
      if (found !== undefined) return found;
      if (this.#over) throw new Error(`${type} never came; it said:\n${this.lines.join("\n")}\n${this.stderr}`);
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  answer(call: string, decision: "allow" | "deny", more: { args?: Record<string, unknown>; reason?: string } = {}): void {
    const step = this.#side.write({ type: "approval.answer", session: "s", answers: [{ call, decision, ...more }] });
    for (const out of step.out)
      if ("rec" in out) this.child.stdin?.write(`${typeof out.rec === "string" ? out.rec : JSON.stringify(out.rec)}\n`);
    this.#follow(step.in);
  }

  #prompt({ message = "hi", parts, sessionId, name, from }: Omit<TurnOptions, "args">) {
    const open = sessionId === undefined ? { open: "new" as const } : { open: "resume" as const, sessionId };
    this.#follow(this.#side.write({ type: "session.open", id: "o", session: "s", ...open, ...(name !== undefined && { name }) }).in);
    const step = this.#side.write({
      type: "turn.prompt",
      id: "p",
      session: "s",
      turn: "t",
      parts: parts ?? [{ type: "text", text: message }],
      ...(from !== undefined && { ext: { agentproc: { from_user: from } } }),
    });
    this.#follow(step.in);
    const launch = step.out.flatMap((out) => ("launch" in out ? [out.launch] : []))[0];
    if (launch === undefined) throw new Error("This message cannot be sent");
    return { launch, first: step.out.flatMap((out) => ("rec" in out ? [out.rec] : []))[0] };
  }

  #hear(line: string): void {
    this.lines.push(line);
    this.#follow(this.#side.read({ rec: line }).in);
    this.#wake();
  }

  #follow(events: readonly Event[]): void {
    for (const event of events) {
      this.events.push(event);
      this.#violations.push(...this.#grammar.event(event));
      if (event.type === "notice" && event.level === "warning") this.#violations.push(event.text);
    }
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}
