import { isVendorItself, versioned } from "../access.js";
import type { WebSearch } from "../vendor/web-search.js";
import { bearerList } from "./list-request.js";
import type { Provider } from "./provider.js";

const ADDRESS = "https://api.x.ai";
const SEARCH: WebSearch = { tool: { type: "provider", id: "xai.web_search", name: "web_search", args: {} } };

export const xai: Provider = {
  models: ({ apiKey, address = ADDRESS }) => bearerList(address, apiKey),
  webSearch: (access) => ((access.compat.webSearch ?? isVendorItself(access, ADDRESS)) ? SEARCH : undefined),
  async load({ id, apiKey = "", address = ADDRESS, headers }, fetch) {
    const [{ createXai }, { xaiWire }] = await Promise.all([import("@ai-sdk/xai"), import("../wires/xai.js")]);
    // xAI's chat completions do not stream arguments, and drop a piece of reasoning that equals the one before.
    return { model: createXai({ apiKey, baseURL: versioned(address), headers, fetch }).responses(id), wire: xaiWire };
  },
};
