/** A program that a test talks to in lines: its pipes, what it said, and how it ended. What the lines mean is known to each host of it. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Readable } from "node:stream";
import { expect, onTestFinished } from "vitest";

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export abstract class Program {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[] = [];
  /** Resolves when its last line has been heard, too. */
  readonly exited: Promise<Exit>;
  stderr = "";
  #isOver = false;
  #watchers: (() => void)[] = [];

  constructor(child: ChildProcessWithoutNullStreams) {
    this.child = child;
    child.stdin.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    onLines(child.stdout, (lines) => {
      for (const line of lines) {
        this.lines.push(line);
        this.hear(line);
      }
      this.wake();
    });
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        this.#isOver = true;
        this.ended({ code, signal });
        this.wake();
        resolve({ code, signal });
      });
    });
    onTestFinished(async () => {
      if (!this.#isOver) this.cut();
      await this.exited;
      expect(this.violations, this.lines.slice(-40).join("\n")).toEqual([]);
    });
  }

  /** A line came. */
  protected abstract hear(line: string): void;

  /** It is over. */
  protected ended(_exit: Exit): void {}

  /** What was said against the rules of its wire; a test in which something was fails. */
  protected get violations(): readonly string[] {
    return [];
  }

  raw(text: string | Buffer): void {
    this.child.stdin.write(text);
  }

  sendLine(record: unknown): void {
    this.raw(`${JSON.stringify(record)}\n`);
  }

  /** Ends its input, and waits for its end. */
  async finish(): Promise<number | null> {
    this.child.stdin.end();
    return (await this.exited).code;
  }

  /** Ends it at once. */
  cut(): void {
    this.child.kill("SIGKILL");
  }

  /** The first of a growing list that matches, heard already or yet to come; each is looked at once. */
  protected async firstIn<T, S extends T>(list: readonly T[], matches: (item: T) => item is S, what: string): Promise<S>;
  protected async firstIn<T>(list: readonly T[], matches: (item: T) => boolean, what: string): Promise<T>;
  protected async firstIn<T>(list: readonly T[], matches: (item: T) => boolean, what: string): Promise<T> {
    for (let at = 0; ;) {
      for (; at < list.length; at++) {
        const item = list[at];
        if (item !== undefined && matches(item)) return item;
      }
      await this.more(what);
    }
  }

  /** Waits for whatever comes next; fails when it is over. */
  protected async more(what: string): Promise<void> {
    if (this.#isOver) throw new Error(`It ended without ${what}. It said:\n${this.lines.join("\n")}\nstderr: ${this.stderr}`);
    await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  protected wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}

/** Cut on LF alone, as wires are; what is no UTF-8 fails. */
export function onLines(stream: Readable, hear: (lines: string[]) => void): void {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: Buffer[] = [];
  stream.on("data", (bytes: Buffer) => {
    const end = bytes.lastIndexOf(0x0a);
    if (end === -1) return void rest.push(bytes);
    const whole = utf8.decode(Buffer.concat([...rest, bytes.subarray(0, end)]));
    rest = [bytes.subarray(end + 1)];
    hear(whole.split("\n"));
  });
}
