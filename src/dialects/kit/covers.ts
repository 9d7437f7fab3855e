/** Reads a coverage: whether it includes a word, and which keys of a session's config it lacks. */
import type { SessionConfig } from "../../core/config.js";
import { unsaidKeys } from "../../core/session-keys.js";
import type { Covers } from "../dialect.js";

export function includes(covers: Covers, word: string): boolean {
  return covers === "exact" || (covers !== "none" && covers.only.includes(word));
}

/** The answer to an open whose config the wire cannot carry in full: a refusal or a warning. */
export interface OpeningGap {
  refusal?: string;
  warning?: string;
}

/** `restrictions`: further restrictions of this session that the coverage does not mention. */
export function openingGap(agent: string, config: SessionConfig, covers: Covers, restrictions: readonly string[] = []): OpeningGap {
  const unsaid = unsaidKeys(config, (word) => includes(covers, word));
  const refused = [...unsaid.restrictions, ...restrictions];
  if (refused.length > 0) return { refusal: `${agent} cannot be told ${refused.join(", ")}, and would do more without` };
  const wishes = [...unsaid.wishes, ...unsaid.bounds];
  return wishes.length === 0 ? {} : { warning: `${agent} cannot be told ${wishes.join(", ")}` };
}
