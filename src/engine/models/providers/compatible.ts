/** Any server that took over OpenAI's chat completions: llama-server on this machine, unless an address says otherwise. */
import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const compatible: Provider = {
  async load({ id, apiKey, address = "http://127.0.0.1:8080", headers }, fetch) {
    const [{ createOpenAICompatible }, { compatibleWire }] = await Promise.all([
      import("@ai-sdk/openai-compatible"),
      import("../wires/compatible.js"),
    ]);
    const settings = { name: "compatible", baseURL: versioned(address), apiKey, headers, includeUsage: true, fetch };
    return { model: createOpenAICompatible(settings)(id), wire: compatibleWire };
  },
};
