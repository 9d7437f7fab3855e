/** The folders of skills, sub-agents and memory files. Later folders in a list win. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { gitRepositoryOf } from "../workspace/repository.js";

/** `system` ones are built in. */
export type Scope = "system" | "user" | "project";

export interface Surroundings {
  /** PARLEY_HOME. */
  home: string;
  /** The user's own folder. */
  userHome: string;
  /** Ante's folder, if not `~/.ante`. */
  anteHome: string | undefined;
  /** The workspace; a real path. */
  root: string;
  /** The repository of the workspace, or the workspace itself. */
  repository: string;
  trusted: boolean;
}

export interface Place {
  folder: string;
  scope: Scope;
}

const OF_PROJECT = [".parley", ".agents", ".claude", ".ante", ".aionrs"];

/**
 * The folders need not exist. A folder reached in two ways counts as the first: a workspace that is the user's home adds
 * nothing.
 */
export async function placesOf(kind: "skills" | "agents", around: Surroundings): Promise<Place[]> {
  const { home, userHome, anteHome, root } = around;
  const own = [home, join(userHome, ".agents"), join(userHome, ".claude"), anteHome ?? join(userHome, ".ante")];
  const candidates: Place[] = [
    ...own.map((base): Place => ({ folder: join(base, kind), scope: "user" })),
    ...OF_PROJECT.map((base): Place => ({ folder: join(root, base, kind), scope: "project" })),
  ];
  const byRealPath = new Map<string, Place>();
  for (const place of candidates) {
    const real = await realpath(place.folder).catch(() => place.folder);
    if (!byRealPath.has(real)) byRealPath.set(real, place);
  }
  return [...byRealPath.values()];
}

/** The folder that a file of this scope may not lead out of. */
export function boundary(scope: Scope, { repository, trusted }: Surroundings): string | undefined {
  return scope === "project" && !trusted ? repository : undefined;
}

/** The nearest folder upwards with a `.git`; the workspace itself if there is none. */
export async function repositoryOf(root: string): Promise<string> {
  return (await gitRepositoryOf(root)) ?? root;
}
