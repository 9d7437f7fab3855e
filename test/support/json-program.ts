/** A program that writes JSON lines, as a host sees it that knows nothing else of it. */
import { spawn } from "node:child_process";
import * as v from "valibot";
import { Program } from "./program.js";

const Line = v.looseObject({ type: v.string() });
export type Line = v.InferOutput<typeof Line>;

export class JsonProgram extends Program {
  readonly heard: Line[] = [];
  /** Called with each line as it comes. */
  onLine: (line: Line) => void = () => {};

  constructor(argv: readonly string[], options: { cwd: string; env: Record<string, string> }) {
    const [program = "", ...args] = argv;
    super(spawn(program, args, options));
  }

  send(record: Record<string, unknown>): void {
    this.sendLine(record);
  }

  /** The first line that matches, heard already or yet to come; undefined when it ends without. */
  async next(matches: (line: Line) => boolean): Promise<Line | undefined> {
    return this.firstIn(this.heard, matches, "the line that was waited for").catch(() => undefined);
  }

  protected override hear(text: string): void {
    const line = v.parse(Line, JSON.parse(text));
    this.heard.push(line);
    this.onLine(line);
  }
}
