/** Patterns of deny and ask rules on tools with unknown arguments: each text among the arguments may match; `*` is any text. */
import type { Subject } from "./rule-subject.js";
import { wildcard } from "./wildcard.js";

export interface TextPattern {
  readonly kind: "text";
  matches(text: string): boolean;
}

export function compileTextPattern(pattern: string): TextPattern {
  const whole = wildcard(pattern);
  return { kind: "text", matches: (text) => whole.matches(text) };
}

export function textSubject(args: Record<string, unknown>): Subject<TextPattern> {
  const texts = textsIn(args);
  return {
    hit: (pattern) => ({ hit: texts.some((text) => pattern.matches(text)) ? "yes" : "no" }),
    cover: () => ({ why: "the arguments of this tool are not understood" }),
  };
}

/** Breadth first, each object once: arguments come from outside and may be deep. */
function textsIn(args: Record<string, unknown>): string[] {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [args];
  const texts: string[] = [];
  for (const value of waiting) {
    if (typeof value === "string") texts.push(value);
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const inner of Object.values(value)) waiting.push(inner);
  }
  return texts;
}
