/** Titles for people: one line, without terminal control characters. */
import { headOf, wellFormed } from "../workspace/output.js";

export function oneLine(text: string, max = 200): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return wellFormed(headOf(line, max));
}
