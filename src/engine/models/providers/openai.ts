import { versioned, type Access } from "../access.js";
import type { Provider } from "./provider.js";

export const openai: Provider = {
  async load(access, fetch) {
    const { id, apiKey = "", address = "https://api.openai.com", headers } = access;
    const { createOpenAI } = await import("@ai-sdk/openai");
    const vendor = createOpenAI({ apiKey, baseURL: versioned(address), headers, fetch });
    if (speaksResponses(access))
      return { model: vendor.responses(id), wire: (await import("../wires/openai-responses.js")).openaiResponsesWire };
    return { model: vendor.chat(id), wire: (await import("../wires/openai-chat.js")).openaiChatWire };
  },
};

/** Behind an address of its own there is, as a rule, a server that only speaks chat completions. */
function speaksResponses({ api, address }: Access): boolean {
  return (api ?? (address === undefined ? "responses" : "chat")) === "responses";
}
