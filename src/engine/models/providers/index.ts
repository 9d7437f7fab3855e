/** Every kind of provider that there is. */
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

export const PROVIDER_KINDS: Readonly<Record<string, Provider>> = {
  anthropic,
  openai,
  bedrock,
  gemini,
  vertex,
  xai,
  openrouter,
  local: compatible,
  "openai-compatible": compatible,
};
