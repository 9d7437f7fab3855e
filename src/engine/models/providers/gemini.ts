/** Gemini at Google itself. */
import { isVendorItself, versioned } from "../access.js";
import { GOOGLE_SEARCH } from "./google-search.js";
import type { Provider } from "./provider.js";

const ADDRESS = "https://generativelanguage.googleapis.com";

export const gemini: Provider = {
  models: ({ apiKey = "", address = ADDRESS }) => ({
    url: `${versioned(address, "v1beta")}/models?pageSize=1000`,
    headers: { "x-goog-api-key": apiKey },
  }),
  webSearch: (access) => ((access.compat.webSearch ?? isVendorItself(access, ADDRESS)) ? GOOGLE_SEARCH : undefined),
  async load({ id, apiKey = "", address = ADDRESS, headers }, fetch) {
    const [{ createGoogleGenerativeAI }, { geminiWire }] = await Promise.all([import("@ai-sdk/google"), import("../wires/gemini.js")]);
    return { model: createGoogleGenerativeAI({ apiKey, baseURL: versioned(address, "v1beta"), headers, fetch })(id), wire: geminiWire };
  },
};
