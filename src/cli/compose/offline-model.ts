/** A model file as the provider `local`: starts its server, and writes it into the settings. */
import { basename } from "node:path";
import type { Env, Loaded } from "../../settings/settings.js";
import { CONTEXT_TOKENS, startLlamaServer } from "./llama-server.js";
import type { Offline } from "./offline.js";

const FLAG = "flag --offline-model";

export async function startOfflineModel(file: string, loaded: Loaded, env: Env, say: (line: string) => void): Promise<Offline> {
  const name = basename(file).replace(/\.gguf$/i, "");
  const server = await startLlamaServer(file, { name, program: loaded.settings.llamaServer, env, say });
  return {
    loaded: withLocal(loaded, name),
    registered: { local: { baseUrl: server.url, model: name } },
    end: server.end,
  };
}

/** A provider on the command line stays the chosen one; `local` exists beside it. */
function withLocal({ settings, origins, ...rest }: Loaded, model: string): Loaded {
  const providers = { ...settings.providers, local: { ...settings.providers["local"], models: { [model]: { context: CONTEXT_TOKENS } } } };
  if (origins.get("provider") === "flag --provider" && settings.provider !== "local") {
    return { ...rest, origins, settings: { ...settings, providers } };
  }
  return {
    ...rest,
    origins: new Map([...origins, ["provider", FLAG], ["model", FLAG], ["baseUrl", FLAG]]),
    settings: { ...settings, providers, provider: "local", model, baseUrl: undefined },
  };
}
