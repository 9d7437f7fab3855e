/** The rehearsal model answers in the terminal where a key is missing, and says so. A protocol mode never does this. */
import type { SessionConfig } from "../../core/config.js";
import { chooseProvider, type Loaded } from "../../settings/settings.js";

export function rehearsalFallback(
  { settings }: Loaded,
  env: Record<string, string | undefined>,
): { config: SessionConfig; notice?: string } {
  if (chooseProvider(settings, env) !== undefined) return { config: {} };
  return {
    config: { provider: "rehearsal" },
    notice:
      "No key was found, so the offline rehearsal model answers. Set ANTHROPIC_API_KEY or OPENAI_API_KEY for a real one, or keep a key with 'parley login PROVIDER'; 'parley doctor' tells more.",
  };
}
