/** What was looked at, and whether any of it is different by now: one `stat` a path, so that it can be asked at every turn. */
import { statSync } from "node:fs";
import { dirname } from "node:path";

const MISSING = "missing";

export class Stamps {
  readonly #seen = new Map<string, string>();

  /** To be called before the path is read: what changes in between is then read again. */
  note(path: string): void {
    this.#seen.set(path, stampOf(path));
  }

  /** Where a change of them would show. */
  folders(): string[] {
    return [...new Set([...this.#seen.keys()].map((path) => dirname(path)))];
  }

  changed(): boolean {
    return [...this.#seen].some(([path, stamp]) => stampOf(path) !== stamp);
  }
}

/** That something is not there is worth knowing too. Synchronous: it takes microseconds, where a promise takes a thread's turn. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? MISSING : `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    return MISSING;
  }
}
