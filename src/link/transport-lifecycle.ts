/**
 * Owns the transport of a driven connection, if there is one: dials it, reads it to its end, and ends it if the agent is late.
 * A connection may have many transports, one after another.
 */
import { toFault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import type { Frame, Launch, Transport } from "../core/wire.js";
import type { Dialect, Step } from "../dialects/dialect.js";
import { guardTransport } from "./guard-transport.js";
import type { ConnectOptions, Dial } from "./options.js";
import { AgentTimeouts } from "./agent-timeouts.js";

/** The driven connection's handlers for incoming records and for the end. */
export interface TransportHandlers {
  frame(frame: Frame): Promise<void>;
  /** Called when the agent has said nothing for `quietSeconds` since the dial. */
  quiet(): void;
  ended(closed: Closed): Promise<void>;
}

export class TransportLifecycle {
  readonly #dialect: Dialect;
  readonly #dial: Dial;
  readonly #handlers: TransportHandlers;
  readonly #timeouts: AgentTimeouts;
  #transport: Transport | undefined;
  #launching: Promise<void> | undefined;
  #reading: Promise<void> = Promise.resolve();
  /** The reason for which we ended the transport. */
  #verdict: string | undefined;
  #isAsked = false;
  /** No more dials; a transport that is being dialled is ended. */
  #isBarred = false;

  constructor(dialect: Dialect, dial: Dial, options: ConnectOptions, handlers: TransportHandlers) {
    this.#dialect = dialect;
    this.#dial = dial;
    this.#handlers = handlers;
    this.#timeouts = new AgentTimeouts(dialect, options);
  }

  // --- its state ---

  /** Whether the transport is dialled or being dialled. */
  get isLaunched(): boolean {
    return this.#launching !== undefined;
  }

  get isUp(): boolean {
    return this.#transport !== undefined;
  }

  /** Detaches from a transport that goes on without us. */
  get isShared(): boolean {
    return this.#transport?.isShared === true;
  }

  // --- its use ---

  launch(launch: Launch): Promise<void> {
    this.#launching = this.#dialIn(launch);
    return this.#launching;
  }

  /** Performs the output of a step: records for the wire, and actions on the process. */
  async put(step: Step<Event>): Promise<void> {
    for (const out of step.out) {
      if ("rec" in out) await this.#transport?.write([out.rec]);
      else if ("launch" in out) await this.launch(out.launch);
      else if ("end" in out) this.close("eof");
      else if ("kill" in out) this.close("term");
    }
  }

  /** Starts the clock of an open, by launch or by op. An agent that has answered an open before may take its time for other sessions. */
  expectReady(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#timeouts.forReady((verdict) => this.giveUp(verdict));
  }

  /** The agent answered the open: the session is ready or refused. */
  ready(): void {
    this.#timeouts.over("ready");
  }

  /** The turn was interrupted. If the agent is ended for not stopping, its exit does not tell why, so the timeout's reason does. */
  expectStop(tell: (verdict: string) => void): void {
    this.#timeouts.forStop((verdict) => {
      tell(verdict);
      this.giveUp(verdict);
    });
  }

  stopped(): void {
    this.#timeouts.over("stop");
  }

  close(how: "eof" | "term"): void {
    this.#transport?.close(how);
  }

  /** Starts the clock of an agent that was told to leave. */
  closeSoon(): void {
    this.#timeouts.forLeave(() => this.close("term"));
  }

  /** Ends the transport for a reason, which its end then reports. */
  giveUp(verdict: string): void {
    this.#verdict = verdict;
    this.close("term");
  }

  bar(): void {
    this.#isBarred = true;
  }

  /** Ends the transport with its process; resolves when it is gone and all its output is read. */
  async end(): Promise<void> {
    await this.#launching;
    const transport = this.#transport;
    transport?.close("term");
    await transport?.closed;
    await this.#reading;
  }

  /** Stops all clocks. */
  clear(): void {
    this.#timeouts.over("ready", "words", "stop", "exit", "leave");
  }

  // --- its life ---

  async #dialIn(launch: Launch): Promise<void> {
    this.#verdict = undefined;
    this.#isAsked = false;
    if (this.#isBarred) return this.#ended({});
    try {
      this.#transport = guardTransport(await this.#dial(launch));
    } catch (error) {
      return this.#ended({ code: null, reason: toFault(error).message });
    }
    // The connection may have been closed during the dial.
    if (this.#isUnwanted()) this.#transport.close("term");
    if (this.#dialect.lifetime === "session" || this.#dialect.start !== undefined) this.expectReady();
    this.#timeouts.forWords(() => this.#handlers.quiet());
    this.#reading = this.#read(this.#transport);
  }

  #isUnwanted(): boolean {
    return this.#isBarred;
  }

  async #read(transport: Transport): Promise<void> {
    try {
      for await (const frame of transport.frames) {
        this.#timeouts.over("words");
        await this.#handlers.frame(frame);
      }
    } catch (error) {
      this.#verdict = toFault(error).message;
    }
    // The output has ended, so only the exit is missing. An agent that does not exit is ended.
    transport.close("eof");
    this.#timeouts.forExit((verdict) => this.giveUp(verdict));
    const closed = await transport.closed;
    this.#timeouts.over("exit");
    await this.#ended(this.#verdict === undefined ? closed : { ...closed, reason: this.#verdict });
  }

  #ended(closed: Closed): Promise<void> {
    this.#transport = undefined;
    this.#launching = undefined;
    this.#timeouts.over("ready", "words", "stop");
    return this.#handlers.ended(closed);
  }
}
