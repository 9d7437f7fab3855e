/** Decides whether a run starts its own model server, and loads the code for it only then. */
import type { Env, Loaded } from "../../settings/settings.js";
import type { ProviderOverride } from "../../engine/models/access.js";

export interface Offline {
  /** The settings with the server as the provider `local`. */
  loaded: Loaded;
  /** The providers that all engines of this run share. */
  registered: Readonly<Record<string, ProviderOverride>>;
  end(): Promise<void>;
}

/** `say` gets the progress. Throws a fault with the remedy when the server of `--offline-model` cannot start. */
export async function withOfflineModel(loaded: Loaded, env: Env, say: (line: string) => void): Promise<Offline> {
  const { offlineModel } = loaded.settings;
  if (offlineModel === undefined) return { loaded, registered: {}, end: async () => {} };
  const { startOfflineModel } = await import("./offline-model.js");
  return startOfflineModel(offlineModel, loaded, env, say);
}
