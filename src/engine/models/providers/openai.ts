import { versioned, type Access } from "../access.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";
import type { Provider } from "./provider.js";

export const openai: Provider = {
  load: (access, fetch) => (speaksResponses(access) ? responses(access, fetch) : chat(access, fetch)),
};

const ADDRESS = "https://api.openai.com";

/** Behind an address of its own there is, as a rule, a server that only speaks chat completions. */
function speaksResponses({ api, address }: Access): boolean {
  return (api ?? (address === undefined ? "responses" : "chat")) === "responses";
}

async function responses({ id, apiKey = "", address = ADDRESS, headers }: Access, fetch: Fetch): Promise<Loaded> {
  const [{ createOpenAI }, { openaiResponsesWire }] = await Promise.all([import("@ai-sdk/openai"), import("../wires/openai-responses.js")]);
  return { model: createOpenAI({ apiKey, baseURL: versioned(address), headers, fetch }).responses(id), wire: openaiResponsesWire };
}

/** The package for compatible servers reads `reasoning_content` and `reasoning`; OpenAI's own leaves them out. */
async function chat({ id, apiKey = "", address = ADDRESS, headers }: Access, fetch: Fetch): Promise<Loaded> {
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
  return { model: vendor(id), wire: openaiChatWire };
}
