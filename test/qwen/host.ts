/** A host that speaks the RFC's wire to the built command, and holds every line that it hears against the document. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { environment, PARLEY, scratch, script } from "../process/harness.js";
import { Program } from "../support/program.js";
import { heardIn, type Heard } from "./heard.js";
import { Order } from "./order.js";

export type Format = "stream-json" | "stream-chunk-json";

export interface QwenOptions {
  input?: string;
  output?: Format;
  cwd?: string;
  env?: Record<string, string>;
  args?: string[];
  responses?: unknown[];
  then?: "stop" | "repeat" | "orders";
  /** Instead of the rehearsal model: these flags. */
  model?: string[];
  /** What stands in the user's config.yaml. */
  config?: Record<string, unknown>;
  /** PARLEY_HOME, to be shared by several runs. */
  home?: string;
}

/** The command with structured input and output, and no word yet. */
export function launch(options: QwenOptions = {}): QwenHost {
  const home = options.home ?? scratch();
  if (options.config !== undefined) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "config.yaml"), stringify(options.config));
  }
  const scripted = options.responses === undefined ? [] : ["--model", script(options.responses, options.then)];
  const model = options.model ?? ["--provider", "rehearsal", ...scripted];
  const formats = ["--input-format", options.input ?? "stream-json", "--output-format", options.output ?? "stream-json"];
  const child = spawn(process.execPath, [PARLEY, ...formats, ...model, ...(options.args ?? [])], {
    cwd: options.cwd ?? scratch(),
    env: environment({ PARLEY_HOME: home, ...options.env }),
  });
  return new QwenHost(child);
}

/** The same, once its receipt is there. */
export async function received(options: QwenOptions = {}): Promise<QwenHost> {
  const host = launch(options);
  await host.next("receipt");
  return host;
}

export class QwenHost extends Program {
  readonly heard: Heard[] = [];
  readonly #order = new Order();
  #isCut = false;

  // --- saying ---

  send(...records: object[]): void {
    for (const record of records) this.sendLine(record);
  }

  /** A prompt in the session of the receipt, or in another. */
  say(text: string, more: Record<string, unknown> = {}): void {
    this.send({ session_id: this.session, input: { origin: "user", parts: [{ type: "text", text }] }, ...more });
  }

  /** Says it and waits for its summary. */
  async turn(text = "go", more: Record<string, unknown> = {}): Promise<Heard[]> {
    const from = this.heard.length;
    const before = this.all("summary").length;
    this.say(text, more);
    await this.nth("summary", before + 1);
    return this.heard.slice(from);
  }

  respond(requestId: string, response: Record<string, unknown>): void {
    this.#order.answered(requestId);
    this.send({ type: "control_response", request_id: requestId, response });
  }

  approve(request: Heard, result: Record<string, unknown> = {}): void {
    this.respond(requestId(request), { subtype: "success", result: { behavior: "approve", ...result } });
  }

  deny(request: Heard, message = "no"): void {
    this.respond(requestId(request), { subtype: "success", result: { behavior: "deny", message } });
  }

  cancel(more: Record<string, unknown> = {}): void {
    this.send({ type: "control/cancel", session_id: this.session, reason: "escape", ...more });
  }

  // --- hearing ---

  /** The first line of that word that matches, heard already or yet to come. */
  async next(word: string, matches: (line: Heard) => boolean = () => true): Promise<Heard> {
    return this.firstIn(this.heard, (line) => line.word === word && matches(line), word);
  }

  /** The nth of that word, counted from 1. */
  async nth(word: string, count: number): Promise<Heard> {
    await this.next(word, (line) => this.all(word).indexOf(line) === count - 1);
    const [found] = this.all(word).slice(count - 1);
    if (found === undefined) throw new Error("unreachable");
    return found;
  }

  all(word: string): Heard[] {
    return this.heard.filter((line) => line.word === word);
  }

  /** The name of the receipt's session. */
  get session(): string {
    return this.all("receipt")[0]?.metadata.session_id ?? "_new";
  }

  /** What was said, without sub-agents and terminals. */
  text(lines: readonly Heard[] = this.heard): string {
    return lines
      .filter(({ word, metadata }) => (word === "text" || word === "delta") && metadata.parent_tool_call_id === undefined)
      .map(({ content = "" }) => content)
      .join("");
  }

  /** Whatever was sent before it has been read when this returns. */
  async settled(): Promise<void> {
    const before = this.all("result/heartbeat").length;
    this.send({ type: "heartbeat_request", session_id: this.session });
    await this.nth("result/heartbeat", before + 1);
  }

  override cut(): void {
    this.#isCut = true;
    super.cut();
  }

  protected override hear(text: string): void {
    const line = heardIn(text);
    this.heard.push(line);
    this.#order.heard(line);
  }

  protected override ended(): void {
    if (!this.#isCut) this.#order.end();
  }

  protected override get violations(): readonly string[] {
    return this.#order.violations;
  }
}

export function requestId(line: Heard): string {
  return String(line.raw["request_id"]);
}

/** The words of some lines as a sentence; pieces of one text are one word. */
export function story(lines: readonly Heard[]): string {
  return lines
    .map(({ word }) => word)
    .filter((word, at, all) => word !== all[at - 1] || !/^(delta|call)$/.test(word))
    .join(" ");
}
