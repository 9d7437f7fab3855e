/** The last words of a process: enough of its stderr to say why it ended. */

const KEPT = 4096;

export class Tail {
  #text = "";

  push(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT);
  }

  /** The words so far have nothing to do with what follows. */
  clear(): void {
    this.#text = "";
  }

  /** The line that says most: the last, but for programs of Node that crash, whose last words are the version of Node. */
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
