/** A host of the wire that Qwen Code shipped: it drives the built command, and holds every line that it hears against schema and order. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { AgentLine } from "../../src/dialects/qwen-shipped/wire.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { Order } from "./order.js";

export type Line = v.InferOutput<typeof AgentLine>;
export type LineOf<T extends Line["type"]> = Extract<Line, { type: T }>;
type Result = LineOf<"result">;

export interface Options {
  cwd?: string;
  home?: string;
  env?: Record<string, string>;
  args?: string[];
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
  /** What stands in the user's config.yaml. */
  config?: Record<string, unknown>;
  /** In place of the rehearsal model. */
  model?: string[];
}

const FORMATS = ["--input-format", "stream-json", "--output-format", "stream-json", "--channel=SDK"];

/** As the SDK starts it: `--input-format stream-json --output-format stream-json --channel=SDK …`. */
export function launch(options: Options = {}): QwenHost {
  return start([...FORMATS, ...modelFlags(options), ...(options.args ?? [])], options);
}

/** The same, once it has answered `initialize`. */
export async function initialized(options: Options = {}, request: Record<string, unknown> = {}): Promise<QwenHost> {
  const host = launch(options);
  await host.initialize(request);
  return host;
}

export function modelFlags({ model, responses, then }: Options): string[] {
  return model ?? ["--provider", "rehearsal", ...(responses === undefined ? [] : ["--model", script(responses, then)])];
}

/** With these words and no others. */
export function start(args: readonly string[], options: Options = {}): QwenHost {
  return startProgram([process.execPath, PARLEY], args, options);
}

export function startProgram([program = "", ...before]: readonly string[], args: readonly string[], options: Options = {}): QwenHost {
  const home = options.home ?? scratch();
  if (options.config !== undefined) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "config.yaml"), stringify(options.config));
  }
  const env = environment({ PARLEY_HOME: home, ...options.env });
  return new QwenHost(spawn(program, [...before, ...args], { cwd: options.cwd ?? scratch(), env }));
}

export class QwenHost {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: Line[] = [];
  readonly texts: string[] = [];
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr = "";
  readonly #order = new Order();
  #rest = "";
  #watchers: (() => void)[] = [];
  #isOver = false;
  #asked = 0;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text: string) => this.#hear(text));
    child.stderr.on("data", (text: Buffer) => {
      this.stderr += text.toString();
    });
    child.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#isOver = true;
        this.#wake();
        resolve({ code, signal });
      });
    });
    onTestFinished(async () => {
      if (!this.#isOver) child.kill("SIGKILL");
      await this.exited;
      expect(this.#order.violations, this.texts.join("\n")).toEqual([]);
    });
  }

  // --- what a host says ---

  send(...records: unknown[]): void {
    for (const record of records) this.raw(`${JSON.stringify(record)}\n`);
  }

  raw(text: string | Buffer): void {
    this.child.stdin.write(text);
  }

  user(content: unknown = "go"): void {
    this.send({ type: "user", session_id: "the-host-s-own", message: { role: "user", content }, parent_tool_use_id: null });
  }

  /** Resolves with the result of the prompt, which is the next one to come. */
  async ask(content: unknown = "go"): Promise<Result> {
    const before = this.of("result").length;
    this.user(content);
    return this.result(before + 1);
  }

  request(subtype: string, fields: Record<string, unknown> = {}, id = `ask-${++this.#asked}`): string {
    this.#order.request(id);
    this.send({ type: "control_request", request_id: id, request: { subtype, ...fields } });
    return id;
  }

  async control(subtype: string, fields: Record<string, unknown> = {}): Promise<LineOf<"control_response">["response"]> {
    return this.answerTo(this.request(subtype, fields));
  }

  async answerTo(id: string): Promise<LineOf<"control_response">["response"]> {
    return (await this.next("control_response", ({ response }) => response.request_id === id)).response;
  }

  initialize(fields: Record<string, unknown> = {}): Promise<LineOf<"control_response">["response"]> {
    return this.control("initialize", { hooks: null, ...fields });
  }

  reply(request_id: string, response: unknown): void {
    this.send({ type: "control_response", response: { subtype: "success", request_id, response } });
  }

  replyError(request_id: string, error: unknown): void {
    this.send({ type: "control_response", response: { subtype: "error", request_id, error } });
  }

  // --- what it hears ---

  /** The first line of that type that matches, heard already or yet to come. */
  async next<T extends Line["type"]>(type: T, matches: (line: LineOf<T>) => boolean = () => true): Promise<LineOf<T>> {
    for (let at = 0; ;) {
      for (; at < this.lines.length; at++) {
        const line = this.lines[at];
        if (line !== undefined && isType(line, type) && matches(line)) return line;
      }
      if (this.#isOver) throw new Error(`The agent ended without ${type}. It said:\n${this.texts.join("\n")}\nstderr: ${this.stderr}`);
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** The nth result, counted from 1. */
  async result(nth = 1): Promise<Result> {
    await this.next("result", (line) => this.of("result").indexOf(line) === nth - 1);
    const result = this.of("result")[nth - 1];
    if (result === undefined) throw new Error("unreachable");
    return result;
  }

  /** The question about a call. */
  async permission(
    tool_use_id?: string,
  ): Promise<{ id: string; request: Extract<LineOf<"control_request">["request"], { subtype: "can_use_tool" }> }> {
    const line = await this.next(
      "control_request",
      ({ request }) => request.subtype === "can_use_tool" && (tool_use_id === undefined || request.tool_use_id === tool_use_id),
    );
    if (line.request.subtype !== "can_use_tool") throw new Error("unreachable");
    return { id: line.request_id, request: line.request };
  }

  of<T extends Line["type"]>(type: T): LineOf<T>[] {
    return this.lines.filter((line) => isType(line, type));
  }

  /** What stands in the lines, in short: "init text tool_use result:success". */
  story(from = 0): string[] {
    return this.lines.slice(from).map(short);
  }

  /** The results of tools, by call. */
  toolResult(id: string): { is_error?: boolean | undefined; content: string } {
    for (const { message } of this.of("user")) {
      for (const block of typeof message.content === "string" ? [] : message.content) {
        if (block.type === "tool_result" && block.tool_use_id === id)
          return { is_error: block.is_error, content: typeof block.content === "string" ? block.content : "" };
      }
    }
    throw new Error(`There is no result of ${id}`);
  }

  async finish(): Promise<number | null> {
    this.child.stdin.end();
    return (await this.exited).code;
  }

  #hear(text: string): void {
    const [first = "", ...more] = `${this.#rest}${text}`.split("\n");
    const whole = more.length === 0 ? [] : [first, ...more.slice(0, -1)];
    this.#rest = more.length === 0 ? first : (more.at(-1) ?? "");
    for (const line of whole) {
      this.texts.push(line);
      const parsed = v.safeParse(AgentLine, JSON.parse(line));
      if (!parsed.success) {
        this.#order.violations.push(`${line}: ${parsed.issues.map(({ message }) => message).join("; ")}`);
        continue;
      }
      this.lines.push(parsed.output);
      this.#order.line(parsed.output);
    }
    this.#wake();
  }

  #wake(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}

function isType<T extends Line["type"]>(line: Line, type: T): line is LineOf<T> {
  return line.type === type;
}

function short(line: Line): string {
  switch (line.type) {
    case "system":
      return line.subtype;
    case "assistant":
      return line.message.content.map(({ type }) => type).join("+");
    case "user":
      return typeof line.message.content === "string"
        ? "user"
        : line.message.content.map(({ type }) => (type === "text" ? "said" : type)).join("+");
    case "stream_event":
      return line.event.type;
    case "result":
      return `result:${line.subtype}`;
    case "control_request":
      return `ask:${line.request.subtype}`;
    case "control_response":
      return `answer:${line.response.subtype}`;
    default:
      line satisfies never;
      return "";
  }
}
