/**
 * Remembers the files that were looked at, and tells whether any has changed: a `stat` for each file that is there, and one for each folder
 * in which something is missing, so that it can be asked at every turn.
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
  /** Missing files, by the nearest folder that is there: a file cannot appear without a change of that folder. */
  readonly #gaps = new Map<string, Gap>();

  /** Call it before the path is read: a change in between is then read again. */
  note(path: string): void {
    if (!isAbsent(path) || !this.#noteGap(path)) this.#seen.set(path, stampOf(path));
  }

  /** The folder in which a change of them would show. */
  folders(): string[] {
    const paths = [...this.#seen.keys(), ...[...this.#gaps.values()].flatMap((gap) => [...gap.paths])];
    return [...new Set(paths.map((path) => dirname(path)))];
  }

  /** `look` may be shared by several that are asked at one moment: then each path is looked at once. */
  changed(look: Look = stampOf): boolean {
    for (const [path, stamp] of this.#seen) if (look(path) !== stamp) return true;
    // All are looked at first: gaps are noted anew below, and a folder that goes on changing would be met again and again.
    const differing = [...this.#gaps].filter(([folder, gap]) => look(folder) !== gap.stamp);
    return differing.some(([folder, gap]) => this.#isFilled(folder, gap));
  }

  /** Something else may have changed in the folder; then the gaps are as before, or have come nearer. */
  #isFilled(folder: string, gap: Gap): boolean {
    this.#gaps.delete(folder);
    const isFilled = ![...gap.paths].every((path) => this.#noteGap(path));
    // Asked again, the answer is the same.
    if (isFilled) this.#gaps.set(folder, gap);
    return isFilled;
  }

  /** False when there is something. The folder's stamp is older than the look at the path, so a path that appears later shows. */
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

/** A link to nowhere is there: what it leads to may appear in any folder. */
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

/** Undefined is an answer, too: nothing is there. Synchronous, because that takes microseconds and a promise takes a thread's turn. */
function stampOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? MISSING : `${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}:${stats.ino}`;
  } catch {
    return MISSING;
  }
}
