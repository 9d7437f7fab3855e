/** A host that speaks a wire of the aionrs family to the built command, and holds every line that it hears against the documents. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect } from "vitest";
import { stringify } from "yaml";
import { LaterEvent, WireEvent as FirstEvent, type Command } from "../../src/dialects/aionrs/wire/records.js";
import { WireEvent as WaylandEvent, type WireEvent, type WireEventOf } from "../../src/dialects/wayland/wire.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { Program, type Exit } from "../support/program.js";
import { Order } from "./order.js";

/** What may be said in each; the last has a word for everything. */
const WIRES = { aionrs: FirstEvent, "aionrs@0.2": LaterEvent, wayland: WaylandEvent } satisfies Record<string, v.GenericSchema<WireEvent>>;
export type WireName = keyof typeof WIRES;

export interface AionrsOptions {
  /** The one that `--json-stream` means, unless told. */
  dialect?: WireName;
  cwd?: string;
  env?: Record<string, string>;
  args?: string[];
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
  /** What stands in the user's config.yaml. */
  config?: Record<string, unknown>;
  /** PARLEY_HOME, to be shared by several runs. */
  home?: string;
}

/** `parley --json-stream` with the rehearsal model, and no word yet. */
export function launch(options: AionrsOptions = {}): AionrsHost {
  const home = options.home ?? scratch();
  if (options.config !== undefined) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "config.yaml"), stringify(options.config));
  }
  const model = options.responses === undefined ? [] : ["--model", script(options.responses, options.then)];
  return launchWith(["--provider", "rehearsal", ...model, ...(options.args ?? [])], { ...options, home });
}

/** With these flags and no others. */
export function launchWith(args: string[], options: Pick<AionrsOptions, "dialect" | "cwd" | "env" | "home"> = {}): AionrsHost {
  const dialect = options.dialect === undefined ? [] : ["--dialect", options.dialect];
  return launchProgram([process.execPath, PARLEY, "--json-stream", ...dialect, ...args], options);
}

/** A program that speaks it, whatever it is called. */
export function launchProgram(argv: string[], options: Pick<AionrsOptions, "dialect" | "cwd" | "env" | "home"> = {}): AionrsHost {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd: options.cwd ?? scratch(),
    env: environment({ ...(options.home !== undefined && { PARLEY_HOME: options.home }), ...options.env }),
  });
  return new AionrsHost(child, options.dialect ?? "aionrs");
}

/** The same, once it is ready. */
export async function ready(options: AionrsOptions = {}): Promise<AionrsHost> {
  const host = launch(options);
  await host.next("ready");
  return host;
}

export class AionrsHost extends Program {
  readonly events: WireEvent[] = [];
  readonly #wire: v.GenericSchema<WireEvent>;
  readonly #order: Order;
  readonly #text: "input" | "content";
  #deaf = false;

  constructor(child: ChildProcessWithoutNullStreams, wire: WireName) {
    super(child);
    this.#wire = WIRES[wire];
    this.#order = new Order(wire);
    this.#text = wire === "aionrs" ? "input" : "content";
  }

  // --- commands ---

  send(...commands: Command[]): void {
    for (const command of commands) {
      this.#order.command(command);
      this.sendLine(command);
    }
  }

  message(msg_id: string, input = "go", files?: string[]): void {
    this.send({ type: "message", msg_id, [this.#text]: input, ...(files !== undefined && { files }) });
  }

  approve(call_id: string, scope?: "once" | "always"): void {
    this.send({ type: "tool_approve", call_id, ...(scope !== undefined && { scope }) });
  }

  deny(call_id: string, reason?: string): void {
    this.send({ type: "tool_deny", call_id, ...(reason !== undefined && { reason }) });
  }

  // --- events ---

  /** The first event of that type that matches, heard already or yet to come. */
  async next<T extends WireEvent["type"]>(type: T, matches: (event: WireEventOf<T>) => boolean = () => true): Promise<WireEventOf<T>> {
    return this.firstIn(this.events, (event): event is WireEventOf<T> => isType(event, type) && matches(event), type);
  }

  /** Resolves with the whole stream of a message, from stream_start to stream_end. */
  async stream(msg_id: string): Promise<WireEvent[]> {
    await this.next("stream_end", (event) => event.msg_id === msg_id);
    const own = this.events.filter((event) => event["msg_id"] === msg_id);
    expect(own.map((event) => event.type).filter((type) => type === "stream_start" || type === "stream_end")).toEqual([
      "stream_start",
      "stream_end",
    ]);
    return own;
  }

  asks(call_id: string): Promise<WireEventOf<"tool_request">> {
    return this.next("tool_request", (event) => event.call_id === call_id);
  }

  of<T extends WireEvent["type"]>(type: T): WireEventOf<T>[] {
    return this.events.filter((event) => isType(event, type));
  }

  /** What happened to a call, in words: "tool_request tool_running tool_result". */
  story(call_id: string): string {
    return this.events.flatMap((event) => (event["call_id"] === call_id ? [event.type] : [])).join(" ");
  }

  text(msg_id: string): string {
    return this.of("text_delta")
      .filter((event) => event.msg_id === msg_id)
      .map((event) => event.text)
      .join("");
  }

  /** Whatever was sent before it has been read and answered when this returns: an idle answer is told at once. */
  async settled(): Promise<void> {
    const probe = `probe-${this.lines.length}-${Math.random()}`;
    this.send({ type: "tool_deny", call_id: probe });
    await this.next("error", (event) => event.error.message.includes(probe));
  }

  /** Nobody reads from now on. */
  hangUp(): void {
    this.#deaf = true;
    this.child.stdout.destroy();
  }

  protected override hear(line: string): void {
    const event = v.parse(this.#wire, JSON.parse(line));
    this.events.push(event);
    this.#order.event(event);
  }

  protected override ended({ signal }: Exit): void {
    if (signal === null && !this.#deaf) this.#order.end();
  }

  protected override get violations(): readonly string[] {
    return this.#order.violations;
  }
}

function isType<T extends WireEvent["type"]>(event: WireEvent, type: T): event is WireEventOf<T> {
  return event.type === type;
}
