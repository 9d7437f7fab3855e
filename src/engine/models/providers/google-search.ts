/** Gemini's own search of the web, at Google itself and on Vertex AI. */
import type { WebSearch } from "../vendor/web-search.js";

export const GOOGLE_SEARCH: WebSearch = { tool: { type: "provider", id: "google.google_search", name: "google_search", args: {} } };
