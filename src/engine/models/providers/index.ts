/** The code of each provider. */
import { isProviderName, PROVIDERS } from "../../../core/providers/providers.js";
import { anthropic } from "./anthropic.js";
import { bedrock } from "./bedrock.js";
import { compatible } from "./compatible.js";
import { gemini } from "./gemini.js";
import { openai } from "./openai.js";
import { openrouter } from "./openrouter.js";
import type { Provider } from "./provider.js";
import { vertex } from "./vertex.js";
import { xai } from "./xai.js";

export type { Provider } from "./provider.js";

const KINDS: Readonly<Record<string, Provider>> = {
  anthropic,
  openai,
  bedrock,
  gemini,
  vertex,
  xai,
  openrouter,
  "openai-compatible": compatible,
};

/** The code for a provider's name or for a kind of the user's own servers; undefined for an unknown one. */
export function providerOf(name: string): Provider | undefined {
  if (Object.hasOwn(KINDS, name)) return KINDS[name];
  return isProviderName(name) && PROVIDERS[name].address !== undefined ? compatible : undefined;
}
