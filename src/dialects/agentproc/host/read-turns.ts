/** One turn of a driven agent, whose process ends with it: each line becomes an event, or is kept for the end. */
import type { Fault } from "../../../core/errors.js";
import type { Closed, Event, Usage } from "../../../core/event.js";
import type { Answer } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import { exitMessage } from "../../kit/exit-message.js";
import type { TurnReader } from "../../kit/turn-reader.js";
import { speaksLines, type Options } from "../wire/options.js";
import { Permissions } from "./permissions.js";
import { readUsage } from "../wire/usage.js";
import { saidByProgram } from "./program-lines.js";
import { notARecord, saidByLine, saidByRecord, type Said } from "./read-events.js";

/** The most characters of a reply. */
const REPLY_LIMIT = 16 * 1024 * 1024;
/** The most warnings of one turn. */
const WARNINGS = 20;
const QUIET = "The agent has said nothing so far, so its input was closed: it cannot ask any more in this turn, unless its wire is named";
const NO_WORDS = "The agent reported an error without saying which";

export class HostTurn {
  interrupted = false;
  readonly #reader: TurnReader;
  readonly #options: Options;
  readonly #permissions: Permissions;
  /** The agent's input is open for answers. */
  #isListening: boolean;
  /** The wire of the output; undefined until its first line that is not blank. */
  #codec: "lines" | "records" | "program" | undefined;
  #hasStreamedText = false;
  #blankLines = 0;
  #isFirstLine = true;
  readonly #body: string[] = [];
  #bodySize = 0;
  #result: string | undefined;
  #failure: Fault | undefined;
  /** The text of the agent's own error line. */
  #error: string | undefined;
  #usage: Usage | undefined;
  /** The session id that this turn reported first. */
  #session: string | undefined;
  #warnings = 0;

  /** `isListening`: the agent's input was left open. */
  constructor(reader: TurnReader, options: Options, isListening: boolean) {
    this.#reader = reader;
    this.#options = options;
    this.#permissions = new Permissions(reader);
    this.#isListening = isListening;
    if (options.output !== undefined) this.#codec = "program";
    else if (options.wire !== "auto") this.#codec = speaksLines(options.wire) ? "lines" : "records";
  }

  get id(): string {
    return this.#reader.address.turn;
  }

  get speaksLines(): boolean {
    return this.#codec === "lines";
  }

  /** `out` has answers to requests that the host cannot be asked about. */
  line(line: unknown): { in: Event[]; out: Out[] } {
    const step: { in: Event[]; out: Out[] } = { in: [], out: [] };
    for (const said of this.#saidBy(line)) this.#take(said, step);
    return { in: step.in, out: [...step.out, ...this.#enough()] };
  }

  /** A line that is too long to be read. */
  unreadable(bad: string): Event[] {
    return this.#fail({ code: "protocol", message: `The agent wrote a line that cannot be read: ${bad}`, retryable: false });
  }

  /** The host's answers; the agent gets them in the order in which it asked. */
  answer(answers: readonly Answer[]): { in: Event[]; out: Out[] } {
    const { in: events, out } = this.#permissions.answer(answers, this.#codec === "records");
    return { in: events, out: [...out, ...this.#enough()] };
  }

  /** The agent has said nothing so far, and may wait for the end of its input. */
  quiet(): { in: Event[]; out: Out[] } {
    if (!this.#options.unsure || !this.#isListening || this.#codec !== undefined) return { in: [], out: [] };
    return { in: this.warn(QUIET), out: this.#stopListening() };
  }

  /** After the agent's last record and our last answer its input is closed, as an agent may wait for that. */
  #enough(): Out[] {
    const isLast = this.#result !== undefined || this.#error !== undefined || (this.#options.unsure && this.speaksLines);
    return !isLast || !this.#isListening || this.#permissions.isWaiting ? [] : this.#stopListening();
  }

  #stopListening(): Out[] {
    this.#isListening = false;
    return [{ end: true }];
  }

  warn(text: string): Event[] {
    this.#warnings++;
    if (this.#warnings > WARNINGS) return [];
    const more = this.#warnings === WARNINGS ? " (and no more such warnings in this turn)" : "";
    return [{ type: "notice", ...this.#reader.address, level: "warning", text: `${text}${more}`, source: "agentproc" }];
  }

  /** The process has ended, and the turn with it. */
  end(closed: Closed): Event[] {
    const { code, signal, timedOut } = closed;
    const isGood = !code && !signal && timedOut !== true && closed.reason === undefined;
    const death = isGood || this.interrupted || this.#failure !== undefined ? [] : this.#fail(deathOf(closed));
    const isWhole = this.#failure === undefined && !this.interrupted;
    const reply = this.#reply();
    return [
      ...death,
      ...this.#reader.closeBlock(),
      ...this.#permissions.end(isWhole ? "ok" : "cancelled"),
      ...(isWhole ? this.#reader.whole("text", reply) : []),
      ...this.#close(closed, isWhole ? "" : reply),
    ];
  }

  #close({ code, signal, timedOut }: Closed, body: string): Event[] {
    const exit = { code: code ?? null, signal: signal ?? null, timedOut: timedOut === true };
    const cut = this.#bodySize > REPLY_LIMIT;
    const own = { exit, ...(this.#error !== undefined && { error: this.#error }), ...(body !== "" && { body }), ...(cut && { cut }) };
    const more = { ...(this.#usage !== undefined && { usage: this.#usage }), ext: { agentproc: own } };
    if (this.interrupted) return this.#reader.close({ outcome: "interrupted", ...more });
    const fault = this.#failure;
    if (fault === undefined) return this.#reader.close({ outcome: "completed", ...more });
    return this.#reader.close({ outcome: "failed", reason: fault.message, fault, ...more }, { isFaultTold: true });
  }

  /** The partials are the reply on wires whose last line repeats them. */
  #reply(): string {
    if (this.#codec === "lines" || this.#codec === undefined) return this.#body.join("\n");
    const result = this.#hasStreamedText ? "" : (this.#result ?? "");
    return this.#body.join("") + result;
  }

  // --- what it says ---

  #saidBy(line: unknown): Said[] {
    const text = typeof line === "string" ? this.#withoutMark(line) : line;
    const isBlank = typeof text === "string" && text.trim() === "";
    const { output, streaming } = this.#options;
    if (output !== undefined) return isBlank ? [] : saidByProgram(text, output, streaming);
    if (this.#codec === "records") return isBlank ? [] : (saidByRecord(text, this.#options.wire) ?? [notARecord(text)]);
    if (this.#codec === "lines") return this.#saidByLine(text);
    if (isBlank) {
      this.#blankLines++;
      return [];
    }
    const said = saidByRecord(text, this.#options.wire);
    this.#codec = said === undefined ? "lines" : "records";
    if (said !== undefined) return said;
    const blank = Math.min(this.#blankLines, REPLY_LIMIT + 1);
    return [...(blank === 0 ? [] : [{ is: "body" as const, text: "\n".repeat(blank - 1) }]), ...this.#saidByLine(text)];
  }

  #saidByLine(line: unknown): Said[] {
    const { sessionPrefix, wire, permission, unsure } = this.#options;
    return saidByLine(typeof line === "string" ? line : JSON.stringify(line), sessionPrefix, wire === "0.2" || (permission && !unsure));
  }

  /** Some programs begin their output with a byte order mark. */
  #withoutMark(line: string): string {
    const isFirst = this.#isFirstLine;
    this.#isFirstLine = false;
    return isFirst && line.startsWith("\uFEFF") ? line.slice(1) : line;
  }

  #take(said: Said, step: { in: Event[]; out: Out[] }): void {
    switch (said.is) {
      case "session":
        return void step.in.push(...this.#sessionIs(said));
      case "partial":
        return void step.in.push(...this.#partial(said));
      case "body":
      case "text":
        return void step.in.push(...this.#keep(said.text));
      case "result":
        return void step.in.push(...this.#resultIs(said.text));
      case "error":
        return void step.in.push(...this.#errorIs(said.text));
      case "usage":
        return void step.in.push(...this.#used(said.usage));
      case "request":
      case "bad request":
        return this.#asked(said, step);
      case "warning":
        return void step.in.push(...this.warn(said.text));
      default:
        said satisfies never;
    }
  }

  #sessionIs({ id, wins }: Extract<Said, { is: "session" }>): Event[] {
    if (wins === "first" && this.#session !== undefined) {
      return this.#session === id
        ? []
        : this.warn(`The agent named its session '${this.#session}' and then '${id}'; the first name counts`);
    }
    this.#session = id;
    return [{ type: "session.updated", session: this.#reader.address.session, sessionId: id }];
  }

  #partial({ text, role }: Extract<Said, { is: "partial" }>): Event[] {
    if (this.#failure !== undefined || !this.#options.streaming || text === "") return [];
    if (role === "other") return [{ type: "notice", ...this.#reader.address, level: "info", text, kind: "partial", source: "agent" }];
    if (role === "thinking") return this.#reader.piece("thinking", text);
    this.#hasStreamedText = true;
    return [...this.#permissions.ran(), ...this.#reader.piece("text", text)];
  }

  #keep(text: string): Event[] {
    if (this.#failure !== undefined || this.#bodySize > REPLY_LIMIT) return [];
    this.#bodySize += text.length + 1;
    if (this.#bodySize > REPLY_LIMIT) return this.warn(`The reply is longer than ${REPLY_LIMIT} characters; the rest of it is left out`);
    this.#body.push(text);
    return [];
  }

  #resultIs(text: string): Event[] {
    if (this.#failure !== undefined) return [];
    if (this.#result !== undefined) return this.warn("The agent gave a second result; the first counts");
    this.#result = text;
    return this.#permissions.ran();
  }

  #errorIs(text: string): Event[] {
    if (this.#error !== undefined || this.#failure !== undefined) return [];
    this.#error = text;
    return this.#fail({ code: "agent", message: text.trim() === "" ? NO_WORDS : text, retryable: false });
  }

  #fail(fault: Fault): Event[] {
    if (this.#failure !== undefined) return [];
    this.#failure = fault;
    return [...this.#reader.closeBlock(), { type: "error", ...this.#reader.address, fault }];
  }

  #used(said: Record<string, unknown>): Event[] {
    const { usage, cost } = readUsage(said);
    this.#usage = usage;
    return [
      { type: "usage", ...this.#reader.address, scope: "turn", usage, ...(cost !== undefined && { cost }), ext: { agentproc: said } },
    ];
  }

  #asked(said: Extract<Said, { is: "request" | "bad request" }>, step: { in: Event[]; out: Out[] }): void {
    if (!this.#options.permission) {
      step.in.push(...this.warn("The agent asked for permission, which this conversation does not offer; nobody answers"));
      return;
    }
    if (!this.#isListening) {
      step.in.push(...this.warn("The agent asked for permission when its input was closed; nobody answers"));
      return;
    }
    if (this.#permissions.isFull) {
      step.in.push(...this.warn("The agent asked for more permissions at once than anybody could answer; nobody answers this one"));
      return;
    }
    const { in: events, out } = this.#permissions.ask(said, this.#codec === "records", this.#failure !== undefined || this.interrupted);
    step.in.push(...events);
    step.out.push(...out);
    if (said.is === "bad request")
      step.in.push(...this.warn(`The agent asked for permission in a malformed way and was denied (${said.why})`));
  }
}

function deathOf(closed: Closed): Fault {
  return { code: closed.timedOut === true ? "limit" : "launch", message: exitMessage(closed), retryable: false };
}
