/** The words of a report: how each requirement came out, and why. */
import type { Requirement } from "../requirements/requirement.js";

export type Outcome = "pass" | "fail" | "unknown" | "skipped";

/** A line of the wire, and who wrote it. */
export interface WireLine {
  from: "host" | "agent";
  text: string;
}

export interface ShownLine extends WireLine {
  /** The line that breaks the requirement. */
  isMarked?: true;
}

export interface Result {
  id: string;
  level: Requirement["level"];
  title: string;
  outcome: Outcome;
  why?: string;
  lines?: ShownLine[];
}

/** The agent breaks the requirement: a sentence what was expected, and the offending line. */
export class Failed extends Error {
  readonly lines: ShownLine[];

  constructor(why: string, lines: ShownLine[] = []) {
    super(why);
    this.lines = lines;
  }
}

/** A need of the requirement cannot be met, so nothing is known. */
export class Unmet extends Error {}
