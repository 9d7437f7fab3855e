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
    const isNew = this.#stamps.get(path) !== stamp;
    // Put in anew, so that the map stays in the order of use.
    this.#stamps.delete(path);
    this.#stamps.set(path, stamp);
    if (isNew) this.#onNew(path, stamp);
  }

  /** The record is what it was at an earlier point. */
  goBack(stamps: Readonly<Record<string, string>>): void {
    this.#stamps.clear();
    for (const [path, stamp] of Object.entries(stamps)) this.#stamps.set(path, stamp);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#stamps);
  }

  /** The files that were read or written last, the newest last. */
  recent(most: number): string[] {
    return [...this.#stamps.keys()].slice(-most);
  }

  stampOf(path: string): string | undefined {
    return this.#stamps.get(path);
  }
}
