/** Whether a run brings its own model server; what that takes is loaded only then. */
import type { Env, Loaded } from "../../settings/settings.js";
import type { ProviderOverride } from "../../engine/models/access.js";

export interface Offline {
  /** The settings, in which the server is the provider `local`. */
  loaded: Loaded;
  /** For the engines of this run: they share it. */
  registered: Readonly<Record<string, ProviderOverride>>;
  end(): Promise<void>;
}

/** `say` gets the progress. Throws a fault with the remedy when `--offline-model` cannot be had. */
export async function withOfflineModel(loaded: Loaded, env: Env, say: (line: string) => void): Promise<Offline> {
  const { offlineModel } = loaded.settings;
  if (offlineModel === undefined) return { loaded, registered: {}, end: async () => {} };
  const { startOfflineModel } = await import("./offline-model.js");
  return startOfflineModel(offlineModel, loaded, env, say);
}
