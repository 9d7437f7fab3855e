import type { Probes } from "../grade/probes.js";

/** How binding a requirement is, in the words of RFC 2119. */
type Level = "must" | "should" | "may";

/**
 * A thing that a grader has to bring before it can judge a requirement: a `model` whose answers it scripts, `mcp` servers,
 * `signals` to the process, a `folder` in which sessions outlive a process, `flags` of the program itself, a `socket` instead of pipes.
 */
type Need = "model" | "mcp" | "signals" | "folder" | "flags" | "socket";

/** One sentence that an implementation of a dialect keeps. Tests cite it by its id at the beginning of their titles. */
export interface Requirement {
  readonly id: string;
  /** The passage of the protocol's document that says it, or the program whose behaviour decides it. */
  readonly source: string;
  readonly level: Level;
  readonly needs: readonly Need[];
  readonly title: string;
}

/** The requirements of one dialect, and the side of its wire that has to keep them. */
export interface Manifest {
  readonly dialect: string;
  readonly side: "agent" | "host";
  readonly requirements: readonly Requirement[];
  /** How they are graded, if they are. */
  probes?(): Promise<Probes>;
}

type Row = readonly [id: string, level: Level, source: string, title: string, ...needs: Need[]];

export function requirements(document: string, rows: readonly Row[]): readonly Requirement[] {
  return rows.map(([id, level, source, title, ...needs]) => ({ id, level, source: `${document}: ${source}`, needs, title }));
}
