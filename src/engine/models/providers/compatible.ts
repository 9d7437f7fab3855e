/** Any server that took over OpenAI's chat completions: llama-server on this machine, unless an address says otherwise. */
import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const compatible: Provider = {
  async load({ id, apiKey, address = "http://127.0.0.1:8080", headers, compat }, fetch) {
    const [{ createOpenAICompatible }, { compatibleWire }] = await Promise.all([
      import("@ai-sdk/openai-compatible"),
      import("../wires/compatible.js"),
    ]);
    const { includeUsage = true, maxTokensField = "max_tokens" } = compat;
    const vendor = createOpenAICompatible({
      name: "compatible",
      baseURL: versioned(address),
      apiKey,
      headers,
      includeUsage,
      fetch,
      ...(maxTokensField !== "max_tokens" && {
        transformRequestBody: ({ max_tokens, ...body }) => ({ ...body, [maxTokensField]: max_tokens }),
      }),
    });
    return { model: vendor(id), wire: compatibleWire(compat) };
  },
};
