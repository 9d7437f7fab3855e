/** Any server that speaks OpenAI's chat completions; llama-server on this machine if no address is given. */
import { LOCAL_SERVER } from "../../../core/providers/providers.js";
import { versioned } from "../access.js";
import { bearerList } from "./list-request.js";
import type { Provider } from "./provider.js";

export const compatible: Provider = {
  models: ({ apiKey, address = LOCAL_SERVER }) => bearerList(address, apiKey),
  async load({ id, apiKey, address = LOCAL_SERVER, headers, compat }, fetch) {
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
