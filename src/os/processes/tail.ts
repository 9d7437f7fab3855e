/** The last output of a process on stderr: enough to tell why it ended. */

const KEPT = 4096;

export class Tail {
  #text = "";

  push(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT);
  }

  /** Drops the output so far: it is unrelated to a later exit. */
  clear(): void {
    this.#text = "";
  }

  /** The most telling line: the last one; for a crashed Node program, which ends with the version of Node, an earlier one. */
  reason(): string {
    const lines = this.#text.trim().split("\n");
    const error = /^Node\.js v\d/.test(lines.at(-1) ?? "") ? lines.findLast((line) => /^(Uncaught )?\w*Error\b.*: /.test(line)) : undefined;
    return (error ?? lines.at(-1) ?? "").trim();
  }

  lastLines(count: number): string {
    const lines = this.#text.trim().split("\n");
    return lines
      .slice(-count)
      .map((line) => line.trim())
      .join("\n");
  }
}
