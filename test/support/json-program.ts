/** A program that writes JSON lines, as a host sees it that knows nothing else of it. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import * as v from "valibot";
import { onTestFinished } from "vitest";

const Line = v.looseObject({ type: v.string() });
export type Line = v.InferOutput<typeof Line>;

export class JsonProgram {
  readonly child: ChildProcessWithoutNullStreams;
  readonly heard: Line[] = [];
  readonly exited: Promise<number | null>;
  stderr = "";
  /** Called with each line as it comes. */
  onLine: (line: Line) => void = () => {};
  #over = false;
  #rest = "";
  #watchers: (() => void)[] = [];

  constructor(argv: readonly string[], options: { cwd: string; env: Record<string, string> }) {
    const [program = "", ...args] = argv;
    this.child = spawn(program, args, options);
    this.child.stdin.on("error", () => {});
    this.child.stderr.on("data", (bytes: Buffer) => {
      this.stderr += bytes.toString();
    });
    this.child.stdout.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code) => {
        this.#over = true;
        this.#wake();
        resolve(code);
      });
    });
    onTestFinished(async () => {
      if (!this.#over) this.child.kill("SIGKILL");
      await this.exited;
    });
  }

  send(record: Record<string, unknown>): void {
    this.child.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** The first line that matches, heard already or yet to come; undefined when it ends without. */
  async next(matches: (line: Line) => boolean): Promise<Line | undefined> {
    for (;;) {
      const found = this.heard.find(matches);
      if (found !== undefined || this.#over) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const text of lines) {
      const line = v.parse(Line, JSON.parse(text));
      this.heard.push(line);
      this.onLine(line);
    }
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}
