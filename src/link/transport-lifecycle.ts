/**
 * What carries a line: the transport that it has at the moment, if any. It is dialled, read to its end, and ended when it keeps us waiting
 * for too long; a line may have many, one after the other.
 */
import { toFault } from "../core/errors.js";
import type { Closed, Event } from "../core/event.js";
import type { Frame, Launch, Transport } from "../core/wire.js";
import type { Dialect, Step } from "../dialects/dialect.js";
import { careful } from "./guard-transport.js";
import type { ConnectOptions, Dial } from "./options.js";
import { Patience } from "./agent-timeouts.js";

/** What the line does with what comes. */
export interface Carried {
  frame(frame: Frame): Promise<void>;
  /** It has said nothing since it was dialled, for as long as its dialect says. */
  quiet(): void;
  ended(closed: Closed): Promise<void>;
}

export class Carrier {
  readonly #dialect: Dialect;
  readonly #dial: Dial;
  readonly #carried: Carried;
  readonly #patience: Patience;
  #transport: Transport | undefined;
  #launching: Promise<void> | undefined;
  #reading: Promise<void> = Promise.resolve();
  /** Why we ended it ourselves. */
  #verdict: string | undefined;
  #isAsked = false;
  /** Nothing is dialled any more, and what is dialled right now is ended. */
  #isBarred = false;

  constructor(dialect: Dialect, dial: Dial, options: ConnectOptions, carried: Carried) {
    this.#dialect = dialect;
    this.#dial = dial;
    this.#carried = carried;
    this.#patience = new Patience(dialect, options);
  }

  // --- what it is ---

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

  // --- what is done with it ---

  launch(launch: Launch): Promise<void> {
    this.#launching = this.#dialIn(launch);
    return this.#launching;
  }

  /** What a step of the side asks of the wire and the process behind it. */
  async put(step: Step<Event>): Promise<void> {
    for (const out of step.out) {
      if ("rec" in out) await this.#transport?.write([out.rec]);
      else if ("launch" in out) await this.launch(out.launch);
      else if ("end" in out) this.close("eof");
      else if ("kill" in out) this.close("term");
    }
  }

  /** It was asked for a session, by its launch or by an op. Who has answered once is there, and may take its time for others. */
  expectReady(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#patience.forReady((verdict) => this.giveUp(verdict));
  }

  /** It answered that: it is ready, or will not be. */
  ready(): void {
    this.#patience.over("ready");
  }

  /** Its turn was told to stop. The end of one that does not tells nothing of that, so somebody else has to. */
  expectStop(tell: (verdict: string) => void): void {
    this.#patience.forStop((verdict) => {
      tell(verdict);
      this.giveUp(verdict);
    });
  }

  stopped(): void {
    this.#patience.over("stop");
  }

  close(how: "eof" | "term"): void {
    this.#transport?.close(how);
  }

  /** It was told to leave: now it has to. */
  closeSoon(): void {
    this.#patience.forLeave(() => this.close("term"));
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
    this.#patience.over("ready", "words", "stop", "exit", "leave");
  }

  // --- its life ---

  async #dialIn(launch: Launch): Promise<void> {
    this.#verdict = undefined;
    this.#isAsked = false;
    if (this.#isBarred) return this.#ended({});
    try {
      this.#transport = careful(await this.#dial(launch));
    } catch (error) {
      return this.#ended({ code: null, reason: toFault(error).message });
    }
    // Somebody may have closed us meanwhile.
    if (this.#isUnwanted()) this.#transport.close("term");
    if (this.#dialect.lifetime === "session" || this.#dialect.start !== undefined) this.expectReady();
    this.#patience.forWords(() => this.#carried.quiet());
    this.#reading = this.#read(this.#transport);
  }

  #isUnwanted(): boolean {
    return this.#isBarred;
  }

  async #read(transport: Transport): Promise<void> {
    try {
      for await (const frame of transport.frames) {
        this.#patience.over("words");
        await this.#carried.frame(frame);
      }
    } catch (error) {
      this.#verdict = toFault(error).message;
    }
    // Its output has ended, so it has nothing more to say: an agent that lingers is ended. Where its exit ends a turn, it may tell how.
    const isTurn = this.#dialect.lifetime === "turn";
    transport.close(isTurn ? "eof" : "term");
    if (isTurn) this.#patience.forExit((verdict) => this.giveUp(verdict));
    const closed = await transport.closed;
    this.#patience.over("exit");
    await this.#ended(this.#verdict === undefined ? closed : { ...closed, reason: this.#verdict });
  }

  #ended(closed: Closed): Promise<void> {
    this.#transport = undefined;
    this.#launching = undefined;
    this.#patience.over("ready", "words", "stop");
    return this.#carried.ended(closed);
  }
}
