import { isVendorItself, versioned } from "../access.js";
import { CLAUDE_SEARCH } from "./claude-search.js";
import type { Provider } from "./provider.js";

const ADDRESS = "https://api.anthropic.com";

export const anthropic: Provider = {
  models: ({ apiKey = "", address = ADDRESS }) => ({
    url: `${versioned(address)}/models?limit=1000`,
    headers: { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
  }),
  webSearch: (access) => ((access.compat.webSearch ?? isVendorItself(access, ADDRESS)) ? CLAUDE_SEARCH : undefined),
  async load({ id, apiKey = "", address = ADDRESS, headers }, fetch) {
    const [{ createAnthropic }, { anthropicWire }] = await Promise.all([import("@ai-sdk/anthropic"), import("../wires/anthropic.js")]);
    return { model: createAnthropic({ apiKey, baseURL: versioned(address), headers, fetch })(id), wire: anthropicWire };
  },
};
