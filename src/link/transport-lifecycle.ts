/**
 * Owns the transport of a driven connection, if there is one. It is dialled, read to its end, and ended when it keeps us waiting
 * for too long; a line may have many, one after the other.
 */
import { toFault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import type { Frame, Launch, Transport } from "../core/wire.js";
import type { Dialect, Step } from "../dialects/dialect.js";
import { guardTransport } from "./guard-transport.js";
import type { ConnectOptions, Dial } from "./options.js";
import { AgentTimeouts } from "./agent-timeouts.js";

/** The driven connection's handlers for incoming records and the end. */
export interface TransportHandlers {
  frame(frame: Frame): Promise<void>;
  /** It has said nothing since it was dialled, for as long as its dialect says. */
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
  /** Why we ended it ourselves. */
  #verdict: string | undefined;
  #isAsked = false;
  /** Nothing is dialled any more, and a transport that is being dialled is ended. */
  #isBarred = false;

  constructor(dialect: Dialect, dial: Dial, options: ConnectOptions, handlers: TransportHandlers) {
    this.#dialect = dialect;
    this.#dial = dial;
    this.#handlers = handlers;
    this.#timeouts = new AgentTimeouts(dialect, options);
  }

  // --- its state ---

  /** It is dialled, or being dialled. */
  get isLaunched(): boolean {
    return this.#launching !== undefined;
  }

  get isUp(): boolean {
    return this.#transport !== undefined;
  }

  /** It goes on without us. */
  get isShared(): boolean {
    return this.#transport?.isShared === true;
  }

  // --- its use ---

  launch(launch: Launch): Promise<void> {
    this.#launching = this.#dialIn(launch);
    return this.#launching;
  }

  /** Does what a step of the side asks of the wire and of the process behind it. */
  async put(step: Step<Event>): Promise<void> {
    for (const out of step.out) {
      if ("rec" in out) await this.#transport?.write([out.rec]);
      else if ("launch" in out) await this.launch(out.launch);
      else if ("end" in out) this.close("eof");
      else if ("kill" in out) this.close("term");
    }
  }

  /** It was asked for a session, by its launch or by an op. An agent that has answered once is there, and may take its time for other sessions. */
  expectReady(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#timeouts.forReady((verdict) => this.giveUp(verdict));
  }

  /** It answered that: it is ready, or will not be. */
  ready(): void {
    this.#timeouts.over("ready");
  }

  /** The agent's turn was told to stop. The end of an agent that does not stop says nothing of it, so a timeout tells the reason. */
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

  /** It was told to leave: now it has to. */
  closeSoon(): void {
    this.#timeouts.forLeave(() => this.close("term"));
  }

  /** Ends it for a reason, which its end then tells. */
  giveUp(verdict: string): void {
    this.#verdict = verdict;
    this.close("term");
  }

  bar(): void {
    this.#isBarred = true;
  }

  /** Ends it, process included; resolves when it is gone and all that it said is heard. */
  async end(): Promise<void> {
    await this.#launching;
    const transport = this.#transport;
    transport?.close("term");
    await transport?.closed;
    await this.#reading;
  }

  /** Nothing is waited for any more. */
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
    // The connection may have been closed meanwhile.
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
    // Its output has ended, so it has nothing more to say; its exit tells how it went. An agent that lingers is ended.
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
