/** The contract between rules.ts and each pattern language: a tool call as patterns see it. */

export type Hit = "yes" | "maybe" | "no";

/** A call as the patterns of one kind see it. */
export interface Subject<P> {
  /** For deny and ask: whether the pattern finds anything. */
  hit(pattern: P): { hit: Hit; why?: string };
  /** For allow: the patterns that cover all of it together. */
  cover(patterns: readonly P[]): { by: number[] } | { why: string };
}
