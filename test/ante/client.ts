/**
 * A client that speaks Ante's wire and holds every record that it hears against the document's order. It has a line to a daemon: over
 * the pipe of the built command, in memory, or over whatever else carries text.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { expect, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { mintId } from "../../src/core/ids.js";
import { EventMsg, type EventFields, type EventName } from "../../src/dialects/ante/wire/records.js";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { Program } from "../support/program.js";
import { Order, type Msg } from "./order.js";

/** What carries records to a daemon and back. */
export interface AnteLine {
  /** One record, as its text. */
  send(text: string): void;
  /** Called with each record's text. */
  onRecord(hear: (text: string) => void): void;
  /** No more operations. */
  end(): void;
  /** After a failure: ends it at once. */
  kill(): void;
  /** How it ended: a code where there is a process. */
  closed: Promise<number | null>;
}

export interface DaemonOptions {
  cwd?: string;
  env?: Record<string, string>;
  args?: string[];
  /** What stands in the user's config.yaml. */
  config?: Record<string, unknown>;
  /** PARLEY_HOME, to be shared by several runs. */
  home?: string;
  /** Another copy of the built command. */
  program?: string;
  /** Instead of `serve --stdio`. */
  command?: string[];
}

/** `parley serve --stdio`, and the pipe to it. */
export class Daemon extends Program implements AnteLine {
  readonly closed = this.exited.then(({ code }) => code);
  #hear: (text: string) => void = () => {};

  constructor(options: DaemonOptions = {}) {
    const env = environment({ PARLEY_HOME: homeOf(options), ...options.env });
    const args = [options.program ?? PARLEY, ...(options.command ?? ["serve", "--stdio"]), ...(options.args ?? [])];
    super(spawn(process.execPath, args, { cwd: options.cwd ?? scratch(), env }));
  }

  send(text: string): void {
    this.raw(`${text}\n`);
  }

  onRecord(hear: (text: string) => void): void {
    this.#hear = hear;
  }

  end(): void {
    this.child.stdin.end();
  }

  kill(): void {
    this.cut();
  }

  protected override hear(line: string): void {
    this.#hear(line);
  }
}

/** PARLEY_HOME, with its config.yaml. */
export function homeOf(options: DaemonOptions): string {
  const home = options.home ?? scratch();
  if (options.config === undefined) return home;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), stringify(options.config));
  return home;
}

export interface ClientOptions extends DaemonOptions {
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
}

/** The model that says the `responses`. */
export function modelOf(options: ClientOptions): string {
  return options.responses === undefined ? "rehearsal" : script(options.responses, options.then);
}

/** A client of a daemon of its own; `responses` are what its model will say. */
export function launch(options: ClientOptions = {}): AnteClient & { daemon: Daemon } {
  const daemon = new Daemon(options);
  return Object.assign(new AnteClient(daemon, modelOf(options)), { daemon });
}

/** The same, with a session. */
export async function started(
  options: ClientOptions & { session?: Record<string, unknown> } = {},
): Promise<AnteClient & { daemon: Daemon }> {
  const client = launch(options);
  await client.start(options.session);
  return client;
}

type Named<N extends EventName> = Msg & { name: N; fields: EventFields<N> };

export class AnteClient {
  readonly msgs: Msg[] = [];
  readonly lines: string[] = [];
  readonly closed: Promise<number | null>;
  readonly #line: AnteLine;
  readonly #model: string;
  readonly #order = new Order();
  /** Operations in the order in which they were sent, and the one that the live session came from. */
  readonly #sent = new Map<string, number>();
  #opener = -1;
  #watchers: (() => void)[] = [];
  #isClosed = false;
  /** Set before it is killed or cut off: then there is no Goodbye to wait for. */
  #isCut = false;

  constructor(line: AnteLine, model = "rehearsal") {
    this.#line = line;
    this.#model = model;
    line.onRecord((text) => this.#hear(text));
    this.closed = line.closed.then((code) => {
      this.#isClosed = true;
      if (!this.#isCut) this.#order.end();
      this.#wake();
      return code;
    });
    onTestFinished(async () => {
      if (!this.#isClosed) this.cut();
      await this.closed;
      expect(this.#order.violations, this.lines.slice(-40).join("\n")).toEqual([]);
    });
  }

  // --- operations ---

  /** Its id. */
  send(op: unknown, id = `op_${mintId()}`): string {
    this.#sent.set(id, this.#sent.size);
    this.#order.sent({ op, id });
    this.#line.send(JSON.stringify({ op, id }));
    return id;
  }

  /** Whatever it is. */
  raw(text: string): void {
    for (const [, id = ""] of text.matchAll(/"id":"([^"]*)"/g)) this.#sent.set(id, this.#sent.size);
    this.#line.send(text);
  }

  /** Starts a session with the client's model, and waits for both of its first lists. */
  async start(config: Record<string, unknown> = {}): Promise<EventFields<"SessionStart">> {
    const op = this.send({ StartSession: { model: this.#model, provider: "rehearsal", streaming: true, ...config } });
    const start = await this.next("SessionStart", ({ parent }) => parent === op);
    await this.next("ExtensionRefreshed", ({ parent }) => parent === op);
    return start.fields;
  }

  resume(session_id: string): string {
    return this.send({ ResumeSession: { session_id } });
  }

  input(text = "go"): string {
    return this.send({ UserInput: text });
  }

  answer(turn_id: string, ...responses: [string, string][]): string {
    return this.send({ ApprovalResponse: { turn_id, responses } });
  }

  /** Says it and waits for the end of its turn. */
  async say(text = "go"): Promise<Msg[]> {
    return this.turn(this.input(text));
  }

  // --- events ---

  /** The first event of that name that matches, heard already or yet to come. */
  async next<N extends EventName>(name: N, matches: (event: Named<N>) => boolean = () => true): Promise<Named<N>> {
    for (let at = 0; ;) {
      for (; at < this.msgs.length; at++) {
        const [event] = named(this.msgs.slice(at, at + 1), name);
        if (event !== undefined && matches(event)) return event;
      }
      if (this.#isClosed) throw new Error(`The daemon ended without ${name}. It said:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  of<N extends EventName>(name: N): Named<N>[] {
    return named(this.msgs, name);
  }

  /** The records of the turn that an operation began, from its start to its end. */
  async turn(op: string): Promise<Msg[]> {
    await this.next("TurnEnd", ({ parent }) => parent === op);
    return this.msgs.filter((msg) => msg.parent === op && !is(msg, "SessionUpdated"));
  }

  async status(op: string): Promise<EventFields<"TurnEnd">["status"]> {
    return (await this.next("TurnEnd", ({ parent }) => parent === op)).fields.status;
  }

  /** The pause of a turn, the nth of it from 1. */
  async pause(op: string, nth = 1): Promise<{ turn: string; tools: string[]; message: string }> {
    const { fields } = await this.next(
      "TurnPause",
      (event) => event.parent === op && this.of("TurnPause").filter(({ parent }) => parent === op)[nth - 1]?.id === event.id,
    );
    const { tools, message } = fields.reason.Approval;
    return { turn: fields.turn_id, tools: tools.map(({ id }) => id), message };
  }

  /** Which error answers an operation, or a line without one. */
  async error(op: string | null): Promise<string> {
    return (await this.next("Error", ({ parent }) => parent === op)).fields;
  }

  text(op: string): string {
    return this.of("AgentMessage")
      .filter(({ parent }) => parent === op)
      .map(({ fields }) => fields)
      .join("\n");
  }

  /** Names of what was heard, in order; of one operation or of all. */
  names(op?: string): string[] {
    return this.msgs.filter((msg) => op === undefined || msg.parent === op).map(nameOf);
  }

  /** What became of a call: "ToolStart TurnPause ToolEnd:Completed". */
  story(call: string): string {
    return this.msgs
      .flatMap(({ event }) => {
        if (typeof event === "string") return [];
        if ("ToolStart" in event && event.ToolStart.id === call) return ["ToolStart"];
        if ("TurnPause" in event && event.TurnPause.reason.Approval.tools.some(({ id }) => id === call)) return ["TurnPause"];
        return "ToolEnd" in event && event.ToolEnd.tool_use_id === call ? [`ToolEnd:${event.ToolEnd.status}`] : [];
      })
      .join(" ");
  }

  /** Whatever was sent before it has been read and answered when this returns: an unknown operation is told at once. */
  async settled(): Promise<void> {
    await this.error(this.send({ Probe: {} }));
  }

  // --- the end ---

  async shutdown(): Promise<number | null> {
    this.send("Shutdown");
    return this.closed;
  }

  async finish(): Promise<number | null> {
    this.#line.end();
    return this.closed;
  }

  /** From now on nobody waits for a Goodbye. */
  hangUp(): void {
    this.#isCut = true;
  }

  cut(): void {
    this.#isCut = true;
    this.#line.kill();
  }

  #hear(text: string): void {
    this.lines.push(text);
    const msg = v.parse(EventMsg, JSON.parse(text));
    this.msgs.push(msg);
    if (is(msg, "SessionStart")) this.#opener = this.#sent.get(msg.parent ?? "") ?? -1;
    // What goes back to an operation from before the session, or to none of ours, is told again.
    this.#order.event(msg, msg.parent != null && (this.#sent.get(msg.parent) ?? -1) < this.#opener);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}

export function nameOf({ event }: Msg): string {
  return typeof event === "string" ? event : Object.keys(event).join();
}

function is({ event }: Msg, name: EventName): boolean {
  return typeof event === "string" ? event === name : Object.hasOwn(event, name);
}

function named<N extends EventName>(msgs: readonly Msg[], name: N): Named<N>[] {
  return msgs.flatMap((msg) => (is(msg, name) ? [{ ...msg, name, fields: fieldsOf(msg.event, name) }] : []));
}

function fieldsOf<N extends EventName>(event: Msg["event"], name: N): EventFields<N> {
  // The schema has judged it, and its only key is its name.
  return (typeof event === "string" ? null : Object.entries(event).find(([key]) => key === name)?.[1]) as EventFields<N>;
}
