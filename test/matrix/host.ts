/** A scripted host at the end of a wire: says what its dialect calls a thing, and remembers all that it heard. */
import { expect } from "vitest";
import type { Heard, HostScript } from "./hosts.js";

/** How a relay ended; a code of 0 is a clean end. */
export interface Ended {
  code: number;
  /** What `--check` found. */
  violations: string[];
  stderr: string;
}

/** What the host can do to the relay beside talking to it. */
export interface Grip {
  write(text: string): void;
  /** No more input. */
  endInput(): void;
  /** As a signal would. */
  terminate(): void;
  /** The driven agent dies at once. */
  killAgent(): void;
  ended: Promise<Ended>;
}

export interface TurnHeard {
  text: string;
  thinking: string;
  asked: (Heard & { is: "asked" })[];
  results: (Heard & { is: "result" })[];
  errors: (Heard & { is: "error" })[];
  outcome: string | undefined;
}

export class Host {
  readonly script: HostScript;
  readonly heard: Heard[] = [];
  readonly lines: string[] = [];
  readonly ended: Promise<Ended>;
  readonly #grip: Grip;
  #over: Ended | undefined;
  #watchers: (() => void)[] = [];

  constructor(script: HostScript, grip: Grip) {
    this.script = script;
    this.#grip = grip;
    this.ended = grip.ended.then((ended) => {
      this.#over = ended;
      this.#wake();
      return ended;
    });
  }

  /** A line came. */
  hear(line: string): void {
    this.lines.push(line);
    this.heard.push(...this.script.hear(JSON.parse(line)));
    this.#wake();
  }

  send(record: unknown): void {
    this.#grip.write(`${JSON.stringify(record)}\n`);
  }

  raw(text: string): void {
    this.#grip.write(text);
  }

  prompt(turn: string, text: string): void {
    this.send(this.script.prompt(turn, text));
  }

  /** Says it and waits for the end of its turn. */
  async say(turn: string, text: string): Promise<TurnHeard> {
    this.prompt(turn, text);
    return this.turn(turn);
  }

  endInput(): void {
    this.#grip.endInput();
  }

  terminate(): void {
    this.#grip.terminate();
  }

  killAgent(): void {
    this.#grip.killAgent();
  }

  /** The nth thing (from 1) that matches, heard already or yet to come. */
  async next<T extends Heard["is"]>(
    is: T,
    matches: (heard: Heard & { is: T }) => boolean = () => true,
    nth = 1,
  ): Promise<Heard & { is: T }> {
    for (;;) {
      const found = this.all(is).filter((heard) => matches(heard))[nth - 1];
      if (found !== undefined) return found;
      if (this.#over !== undefined)
        throw new Error(`The relay ended without '${is}'. It said:\n${this.lines.join("\n")}\n${this.#over.stderr}`);
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** The nth thing (from 1) of a turn that has begun or will. */
  nextIn<T extends Heard["is"]>(turn: string, is: T, nth = 1): Promise<Heard & { is: T }> {
    return this.next(is, (heard) => this.#within(turn).includes(heard), nth);
  }

  asked(turn: string, nth = 1): Promise<Heard & { is: "asked" }> {
    return this.nextIn(turn, "asked", nth);
  }

  all<T extends Heard["is"]>(is: T): (Heard & { is: T })[] {
    return this.heard.filter((heard): heard is Heard & { is: T } => heard.is === is);
  }

  /** Waits for the end of a turn and tells what was heard in it; there must be one start and one end. */
  async turn(turn: string): Promise<TurnHeard> {
    const end = await this.next("ended", (heard) => heard.turn === turn);
    const within = this.#within(turn);
    const of = <T extends Heard["is"]>(is: T): (Heard & { is: T })[] =>
      within.filter((heard): heard is Heard & { is: T } => heard.is === is);
    expect(this.all("started").filter((heard) => heard.turn === turn)).toHaveLength(1);
    expect(of("ended")).toHaveLength(1);
    return {
      text: of("text")
        .map(({ text }) => text)
        .join(""),
      thinking: of("thinking")
        .map(({ text }) => text)
        .join(""),
      asked: of("asked"),
      results: of("result"),
      errors: of("error"),
      outcome: end.outcome,
    };
  }

  /** From its start to its end, or to now. */
  #within(turn: string): Heard[] {
    const from = this.heard.findIndex((heard) => heard.is === "started" && heard.turn === turn);
    if (from === -1) return [];
    const to = this.heard.findIndex((heard) => heard.is === "ended" && heard.turn === turn);
    return this.heard.slice(from, to === -1 ? undefined : to + 1);
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}
