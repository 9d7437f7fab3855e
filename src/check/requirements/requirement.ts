/** How binding a requirement is, in the words of RFC 2119. */
export type Level = "must" | "should" | "may";

/** One sentence that an implementation of a dialect keeps. Tests cite it by its id. */
export interface Requirement {
  readonly id: string;
  /** The passage of the protocol's document that says it, or the program whose behaviour decides it. */
  readonly source: string;
  readonly level: Level;
  readonly title: string;
}

type Row = readonly [id: string, level: Level, source: string, title: string];

export function requirements(document: string, rows: readonly Row[]): readonly Requirement[] {
  return rows.map(([id, level, source, title]) => ({ id, level, source: `${document}: ${source}`, title }));
}
