/** The vendors' models on Vertex AI: other addresses, and a token of a Google account in every request. */
import type { LanguageModelV3 } from "@ai-sdk/provider";
import type { Access } from "../access.js";
import { findCredentials } from "./credentials.js";
import { signedFetch, tokensOf } from "./token.js";
import { jsonFetch } from "../http/fetch.js";
import type { Fetch, Loaded } from "../vendor/vendor.js";

/** `place`: the address up to the region. A given key is a token. */
export async function openVertex(access: Access, place: string, fetch: Fetch): Promise<Loaded> {
  const { id, apiKey, secrets, headers } = access;
  const signed = async (): Promise<Fetch> => {
    if (apiKey !== undefined) return signedFetch(fetch, { current: async () => ({ token: apiKey, isNew: true }) }, headers);
    const credentials = await findCredentials(access.env);
    const own: Record<string, string> = credentials.quotaProject === undefined ? {} : { "x-goog-user-project": credentials.quotaProject };
    return signedFetch(fetch, tokensOf(credentials, jsonFetch, secrets), { ...own, ...headers });
  };
  return id.includes("claude") ? openClaude(id, place, await signed()) : openGemini(id, place, await signed());
}

async function openClaude(id: string, place: string, fetch: Fetch): Promise<Loaded> {
  const [{ AnthropicMessagesLanguageModel }, { anthropicWire }] = await Promise.all([
    import("@ai-sdk/anthropic/internal"),
    import("../wires/anthropic.js"),
  ]);
  const model: LanguageModelV3 = new AnthropicMessagesLanguageModel(id, {
    provider: "vertex.anthropic.messages",
    baseURL: `${place}/publishers/anthropic/models`,
    headers: {},
    fetch,
    buildRequestUrl: (root) => `${root}/${id}:streamRawPredict`,
    transformRequestBody: ({ model: _inTheAddress, ...body }) => ({ ...body, anthropic_version: "vertex-2023-10-16" }),
    supportedUrls: () => ({}),
    supportsNativeStructuredOutput: false,
    supportsStrictTools: false,
  });
  return { model, wire: anthropicWire };
}

async function openGemini(id: string, place: string, fetch: Fetch): Promise<Loaded> {
  const [{ createGoogleGenerativeAI }, { geminiWire }] = await Promise.all([import("@ai-sdk/google"), import("../wires/gemini.js")]);
  // By this name the package recognises Vertex AI, which takes no ids of calls and no key.
  const name = "google.vertex.chat";
  const keyless = { apiKey: "", headers: { "x-goog-api-key": undefined } };
  return { model: createGoogleGenerativeAI({ name, baseURL: `${place}/publishers/google`, ...keyless, fetch })(id), wire: geminiWire };
}
