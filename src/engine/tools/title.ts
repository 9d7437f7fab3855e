/** Titles for people: always one line, nothing that a terminal would obey. */
import { headOf, wellFormed } from "../workspace/output.js";

export function oneLine(text: string, max = 200): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  return wellFormed(headOf(line, max));
}
