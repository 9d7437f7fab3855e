/** A host of the wire that Qwen Code shipped: it drives the built command, and holds every line that it hears against schema and order. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { stringify } from "yaml";
import { AgentLine } from "../../src/dialects/qwen-shipped/wire/event-records.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { Program } from "../support/program.js";
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

export class QwenHost extends Program {
  readonly heard: Line[] = [];
  readonly #order = new Order();
  #asked = 0;

  // --- what a host says ---

  send(...records: unknown[]): void {
    for (const record of records) this.sendLine(record);
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
    return this.firstIn(this.heard, (line): line is LineOf<T> => isType(line, type) && matches(line), type);
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
    return this.heard.filter((line) => isType(line, type));
  }

  /** What stands in the lines, in short: "init text tool_use result:success". */
  story(from = 0): string[] {
    return this.heard.slice(from).map(short);
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

  protected override hear(text: string): void {
    const parsed = v.safeParse(AgentLine, JSON.parse(text));
    if (!parsed.success) {
      this.#order.violations.push(`${text}: ${parsed.issues.map(({ message }) => message).join("; ")}`);
      return;
    }
    this.heard.push(parsed.output);
    this.#order.line(parsed.output);
  }

  protected override get violations(): readonly string[] {
    return this.#order.violations;
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
