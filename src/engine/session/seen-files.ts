/** Files that an agent has read or written, by absolute path, with their stamps. */
import type { SeenFiles } from "../tools/tool.js";

export class SeenFileMap implements SeenFiles {
  readonly #stamps: Map<string, string>;
  readonly #onNew: (path: string, stamp: string) => void;

  /** `before` has the stamps of a resumed session. `onNew` is called with every new stamp. */
  constructor(before: Readonly<Record<string, string>> = {}, onNew: (path: string, stamp: string) => void = () => {}) {
    this.#stamps = new Map(Object.entries(before));
    this.#onNew = onNew;
  }

  note(path: string, stamp: string): void {
    const isNew = this.#stamps.get(path) !== stamp;
    // Deleted and set again, so that the map is in the order of use.
    this.#stamps.delete(path);
    this.#stamps.set(path, stamp);
    if (isNew) this.#onNew(path, stamp);
  }

  /** Restores an earlier record. */
  goBack(stamps: Readonly<Record<string, string>>): void {
    this.#stamps.clear();
    for (const [path, stamp] of Object.entries(stamps)) this.#stamps.set(path, stamp);
  }

  all(): Record<string, string> {
    return Object.fromEntries(this.#stamps);
  }

  /** The files read or written last, newest last. */
  recent(most: number): string[] {
    return [...this.#stamps.keys()].slice(-most);
  }

  stampOf(path: string): string | undefined {
    return this.#stamps.get(path);
  }
}
