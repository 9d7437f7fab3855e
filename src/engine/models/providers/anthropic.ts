import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const anthropic: Provider = {
  async load({ id, apiKey = "", address = "https://api.anthropic.com", headers }, fetch) {
    const [{ createAnthropic }, { anthropicWire }] = await Promise.all([import("@ai-sdk/anthropic"), import("../wires/anthropic.js")]);
    return { model: createAnthropic({ apiKey, baseURL: versioned(address), headers, fetch })(id), wire: anthropicWire };
  },
};
