/** What was looked at, and whether any of it is different by now: one `stat` a path, so that it can be asked at every turn. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";

const MISSING = "missing";

export class Stamps {
  readonly #seen = new Map<string, string>();

  /** To be called before the path is read: what changes in between is then read again. */
  async note(path: string): Promise<void> {
    this.#seen.set(path, await stampOf(path));
  }

  /** Where a change of them would show. */
  folders(): string[] {
    return [...new Set([...this.#seen.keys()].map((path) => dirname(path)))];
  }

  async changed(): Promise<boolean> {
    const same = await Promise.all([...this.#seen].map(async ([path, stamp]) => (await stampOf(path)) === stamp));
    return same.includes(false);
  }
}

/** That something is not there is worth knowing too. */
async function stampOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats === undefined ? MISSING : `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}:${stats.ino}`;
}
