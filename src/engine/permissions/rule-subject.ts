/** The contract between rules.ts and each pattern language: a tool call as patterns see it. */

export type Hit = "yes" | "maybe" | "no";

/** A call in the eyes of the patterns of one kind. */
export interface Subject<P> {
  /** For deny and ask: whether the pattern finds anything. */
  hit(pattern: P): { hit: Hit; why?: string };
  /** For allow: which patterns, together, cover all of it. */
  cover(patterns: readonly P[]): { by: number[] } | { why: string };
}
