import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const openrouter: Provider = {
  async load({ id, apiKey, address = "https://openrouter.ai/api", headers }, fetch) {
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
      // Anthropic keeps only what is marked; the others keep by themselves.
      ...(id.startsWith("anthropic/") && { transformRequestBody: withCacheMarks }),
    });
    return { model: vendor(id), wire: openrouterWire };
  },
};
