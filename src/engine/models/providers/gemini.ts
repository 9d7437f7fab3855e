/** Gemini at Google itself. */
import { versioned } from "../access.js";
import type { Provider } from "./provider.js";

export const gemini: Provider = {
  async load({ id, apiKey = "", address = "https://generativelanguage.googleapis.com", headers }, fetch) {
    const [{ createGoogleGenerativeAI }, { geminiWire }] = await Promise.all([import("@ai-sdk/google"), import("../wires/gemini.js")]);
    return { model: createGoogleGenerativeAI({ apiKey, baseURL: versioned(address, "v1beta"), headers, fetch })(id), wire: geminiWire };
  },
};
