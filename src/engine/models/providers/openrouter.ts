import { isVendorItself, versioned } from "../access.js";
import type { WebSearch } from "../vendor/web-search.js";
import { bearerList } from "./list-request.js";
import type { Provider } from "./provider.js";

const ADDRESS = "https://openrouter.ai/api";
/** OpenRouter searches before it asks the model, whichever model it is. */
const SEARCH: WebSearch = { options: { openrouter: { plugins: [{ id: "web" }] } } };

export const openrouter: Provider = {
  models: ({ apiKey, address = ADDRESS }) => bearerList(address, apiKey),
  webSearch: (access) => ((access.compat.webSearch ?? isVendorItself(access, ADDRESS)) ? SEARCH : undefined),
  async load({ id, apiKey, address = ADDRESS, headers }, fetch) {
    const [{ createOpenAICompatible }, { openrouterUsage, openrouterWire, withCacheMarks }] = await Promise.all([
      import("@ai-sdk/openai-compatible"),
      import("../wires/openrouter.js"),
    ]);
    const vendor = createOpenAICompatible({
      name: "openrouter",
      baseURL: versioned(address),
      apiKey,
      headers,
      includeUsage: true,
      fetch,
      convertUsage: openrouterUsage,
      // Anthropic caches only marked content; other vendors cache without marks.
      ...(id.startsWith("anthropic/") && { transformRequestBody: withCacheMarks }),
    });
    return { model: vendor(id), wire: openrouterWire };
  },
};
