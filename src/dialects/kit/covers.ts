/** Reads a coverage: whether a wire says a word, and which keys of a session's config it cannot say. */
import type { SessionConfig } from "../../core/config.js";
import { unsaidKeys } from "../../core/session-keys.js";
import type { Covers } from "../dialect.js";

export function includes(covers: Covers, word: string): boolean {
  return covers === "exact" || (covers !== "none" && covers.only.includes(word));
}

/** How an open is answered whose config the wire cannot say in full: it is refused, or its host is warned. */
export interface OpeningGap {
  refusal?: string;
  warning?: string;
}

/** `restrictions`: restrictions of this session beside the keys that the coverage speaks of. */
export function openingGap(agent: string, config: SessionConfig, covers: Covers, restrictions: readonly string[] = []): OpeningGap {
  const unsaid = unsaidKeys(config, (word) => includes(covers, word));
  const refused = [...unsaid.restrictions, ...restrictions];
  if (refused.length > 0) return { refusal: `${agent} cannot be told ${refused.join(", ")}, and would do more without` };
  const wishes = [...unsaid.wishes, ...unsaid.bounds];
  return wishes.length === 0 ? {} : { warning: `${agent} cannot be told ${wishes.join(", ")}` };
}
