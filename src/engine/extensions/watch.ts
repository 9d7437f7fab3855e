/** Tells soon after something changes in folders that exist. Only a hint: each turn looks again. */
import { watch, type FSWatcher } from "node:fs";

/** Watchers at once: the system has few, and other programs want some. */
const MOST = 64;
/** Editors write a file in several steps. */
const SETTLE_MS = 150;

export class FolderWatch {
  readonly #watchers = new Set<FSWatcher>();
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these folders from now on. All are watched anew: a folder that was removed and made again is another one. */
  follow(folders: readonly string[]): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers.clear();
    for (const folder of new Set(folders)) if (this.#watchers.size < MOST) this.#watch(folder);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.follow([]);
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#stirred());
      watcher.on("error", () => {
        watcher.close();
        this.#watchers.delete(watcher);
      });
      this.#watchers.add(watcher);
    } catch {
      // The folder is missing, or no watchers are left: the next turn looks anyway.
    }
  }

  #stirred(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#onChange();
    }, SETTLE_MS).unref();
  }
}
