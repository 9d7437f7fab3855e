/** The last words of a process: enough of its stderr to say why it ended. */

const KEPT = 4096;

export class Tail {
  #text = "";

  push(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT);
  }

  lastLines(count: number): string {
    const lines = this.#text.trim().split("\n");
    return lines
      .slice(-count)
      .map((line) => line.trim())
      .join("\n");
  }
}
