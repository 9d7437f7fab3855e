/** Every kind of provider that there is. */
import { anthropic } from "./anthropic.js";
import { compatible } from "./compatible.js";
import { openai } from "./openai.js";
import type { Provider } from "./provider.js";

export type { Provider } from "./provider.js";

export const PROVIDER_KINDS: Readonly<Record<string, Provider>> = {
  anthropic,
  openai,
  local: compatible,
  "openai-compatible": compatible,
};
