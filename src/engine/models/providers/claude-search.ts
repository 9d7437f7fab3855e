/** Claude's own search of the web, at Anthropic and on Vertex AI. */
import type { WebSearch } from "../vendor/web-search.js";

const MAX_USES = 5;

export const CLAUDE_SEARCH: WebSearch = {
  tool: { type: "provider", id: "anthropic.web_search_20250305", name: "web_search", args: { maxUses: MAX_USES } },
};
