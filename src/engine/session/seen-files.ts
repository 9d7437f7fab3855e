/** Files that an agent has read or written, by absolute path, each with the stamp that it had then. */
import type { SeenFiles } from "../tools/tool.js";

export class SeenFileMap implements SeenFiles {
  readonly #stamps: Map<string, string>;
  readonly #onNew: (path: string, stamp: string) => void;

  /** `before` holds the stamps of a resumed session. `onNew` is told of every stamp from now on. */
  constructor(before: Readonly<Record<string, string>> = {}, onNew: (path: string, stamp: string) => void = () => {}) {
    this.#stamps = new Map(Object.entries(before));
    this.#onNew = onNew;
  }

  note(path: string, stamp: string): void {
    if (this.#stamps.get(path) === stamp) return;
    this.#stamps.set(path, stamp);
    this.#onNew(path, stamp);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#stamps);
  }

  stampOf(path: string): string | undefined {
    return this.#stamps.get(path);
  }
}
