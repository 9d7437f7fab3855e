/**
 * Remembers files that were looked at, and tells whether any has changed: one `stat` for each existing file, and one for each folder
 * with missing files, so that it is cheap enough for every turn.
 */
import { lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";

const MISSING = "missing";

type Look = (path: string) => string;

export function isAnyChanged(all: readonly Stamps[]): boolean {
  const seen = new Map<string, string>();
  const look: Look = (path) => {
    const stamp = seen.get(path) ?? stampOf(path);
    seen.set(path, stamp);
    return stamp;
  };
  return all.some((stamps) => stamps.changed(look));
}

interface Gap {
  stamp: string;
  paths: Set<string>;
}

export class Stamps {
  readonly #seen = new Map<string, string>();
  /** Missing files, by the nearest existing folder: a file cannot appear without a change of that folder. */
  readonly #gaps = new Map<string, Gap>();

  /** Call it before the path is read: a change in between then counts as new. */
  note(path: string): void {
    if (!isAbsent(path) || !this.#noteGap(path)) this.#seen.set(path, stampOf(path));
  }

  /** The folder that changes if one of them appears. */
  folders(): string[] {
    const paths = [...this.#seen.keys(), ...[...this.#gaps.values()].flatMap((gap) => [...gap.paths])];
    return [...new Set(paths.map((path) => dirname(path)))];
  }

  /** Several checks at one moment may share `look`: then each path is looked at once. */
  changed(look: Look = stampOf): boolean {
    for (const [path, stamp] of this.#seen) if (look(path) !== stamp) return true;
    // All folders are checked first: gaps are noted again below, and a folder that keeps changing would be met again and again.
    const differing = [...this.#gaps].filter(([folder, gap]) => look(folder) !== gap.stamp);
    return differing.some(([folder, gap]) => this.#isFilled(folder, gap));
  }

  /** Something else in the folder may have changed; the gaps are then the same, or one level deeper. */
  #isFilled(folder: string, gap: Gap): boolean {
    this.#gaps.delete(folder);
    const isFilled = ![...gap.paths].every((path) => this.#noteGap(path));
    // Checking the folder again gives the same answer.
    if (isFilled) this.#gaps.set(folder, gap);
    return isFilled;
  }

  /** Returns false if there is something. The folder's stamp is older than the look at the path, so a later file is noticed. */
  #noteGap(path: string): boolean {
    const folder = nearestFolder(path);
    if (folder === undefined) return false;
    const gap = this.#gaps.get(folder) ?? { stamp: stampOf(folder), paths: new Set() };
    if (!isAbsent(path)) return false;
    gap.paths.add(path);
    this.#gaps.set(folder, gap);
    return true;
  }
}

/** A dangling link exists: its target may appear in any folder. */
function isAbsent(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function nearestFolder(path: string): string | undefined {
  const folder = dirname(path);
  if (folder === path) return undefined;
  return stampOf(folder) === MISSING ? nearestFolder(folder) : folder;
}

/** Undefined means that nothing is there. Synchronous, because that takes microseconds, while a promise waits for a thread. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? MISSING : `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    return MISSING;
  }
}
