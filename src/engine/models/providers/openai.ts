import { isVendorItself, versioned, type Access } from "../access.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";
import type { WebSearch } from "../vendor/web-search.js";
import { bearerList } from "./list-request.js";
import type { Provider } from "./provider.js";

const SEARCH: WebSearch = { tool: { type: "provider", id: "openai.web_search", name: "web_search", args: {} } };

export const openai: Provider = {
  models: ({ apiKey, address = ADDRESS }) => bearerList(address, apiKey),
  webSearch: (access) => (speaksResponses(access) && (access.compat.webSearch ?? isVendorItself(access, ADDRESS)) ? SEARCH : undefined),
  load: (access, fetch) => (speaksResponses(access) ? responses(access, fetch) : chat(access, fetch)),
};

const ADDRESS = "https://api.openai.com";

/** A server at another address usually has only chat completions. */
function speaksResponses({ api, address }: Access): boolean {
  return (api ?? (address === undefined ? "responses" : "chat")) === "responses";
}

/** Other servers may refuse an unknown field. */
function takesCacheKey(access: Access): boolean {
  return access.compat.promptCacheKey ?? isVendorItself(access, ADDRESS);
}

async function responses(access: Access, fetch: Fetch): Promise<Loaded> {
  const { id, apiKey = "", address = ADDRESS, headers } = access;
  const [{ createOpenAI }, { openaiResponsesWire }] = await Promise.all([import("@ai-sdk/openai"), import("../wires/openai-responses.js")]);
  return {
    model: createOpenAI({ apiKey, baseURL: versioned(address), headers, fetch }).responses(id),
    wire: openaiResponsesWire(takesCacheKey(access)),
  };
}

/** The package for compatible servers reads `reasoning_content` and `reasoning`; OpenAI's own leaves them out. */
async function chat(access: Access, fetch: Fetch): Promise<Loaded> {
  const { id, apiKey = "", address = ADDRESS, headers } = access;
  const [{ createOpenAICompatible }, { openaiChatWire, asOpenaiTakesIt }] = await Promise.all([
    import("@ai-sdk/openai-compatible"),
    import("../wires/openai-chat.js"),
  ]);
  const vendor = createOpenAICompatible({
    name: "openai",
    baseURL: versioned(address),
    apiKey,
    headers,
    includeUsage: true,
    fetch,
    transformRequestBody: (body) => asOpenaiTakesIt(id, body),
  });
  return { model: vendor(id), wire: openaiChatWire(takesCacheKey(access)) };
}
