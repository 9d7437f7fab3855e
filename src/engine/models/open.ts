/** Opens a model by its provider's name: credentials are checked at once, packages are loaded with the first request. */
import type { SessionConfig } from "../../core/config.js";
import { accessTo, configFault, type Access, type ModelSource, type ProviderOverride } from "./access.js";
import { PROVIDERS } from "../../core/providers/providers.js";
import { chooseProvider } from "../../core/providers/choose-provider.js";
import { factsOf, type ModelFacts } from "./facts.js";
import type { Model } from "./model.js";
import { providerOf, type Provider } from "./providers/index.js";
import { TIME_LIMITS } from "../../core/limits.js";
import type { ModelLimits } from "./time-limits.js";
import type { VendorModel } from "./vendor/vendor.js";

export async function openModel(config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Promise<Model> {
  const provider = chooseProvider(
    { provider: config.provider, model: config.model, providers: source.providers, keys: source.keys ?? {} },
    source.env,
  );
  if (provider === undefined)
    throw configFault(
      `No provider was named and no key was found; set ${keyNames()}, keep one with 'parley login', or name a provider with --provider`,
      "apiKey",
    );
  if (provider === "rehearsal") return openRehearsalModel(config.model, source.limits);
  const own = source.providers[provider];
  const opener = providerOf(own?.kind ?? provider);
  if (opener === undefined) throw configFault(`Unknown provider '${provider}'; there are ${Object.keys(PROVIDERS).join(", ")}`);
  const access = accessTo(provider, config, override, source);
  const credentials = await opener.check?.(access);
  const named = { ...access, keyName: credentials ?? access.keyName };
  const { prices, ...known } = own?.models?.[access.id] ?? {};
  const model = vendorModel(named, opener, factsOf(access.id, known), source.limits ?? TIME_LIMITS);
  return prices === undefined ? model : { ...model, prices };
}

/** A name that does not look like a file means plain orders. */
async function openRehearsalModel(model: string | undefined, limits: ModelLimits | undefined): Promise<Model> {
  const { openRehearsal } = await import("./rehearsal/index.js");
  const isScript = model !== undefined && /[\\/]|\.(ya?ml|json)$/i.test(model);
  const opened = await openRehearsal(isScript ? { script: model } : { ...(model !== undefined && { name: model }) });
  return { ...opened, limits: { ...limits, waitSeconds: REHEARSED_WAIT_SECONDS } };
}

/** Rehearsed failures are retried without a wait. */
const REHEARSED_WAIT_SECONDS = 0.005;

function vendorModel(access: Access, opener: Provider, facts: ModelFacts, limits: ModelLimits): Model {
  const { provider, id, keyName, secrets } = access;
  const search = opener.webSearch?.(access);
  let loaded: ReturnType<VendorModel["load"]> | undefined;
  let module: Promise<typeof import("./vendor/vendor.js")> | undefined;
  // Kept: importing a loaded module still costs a look-up.
  const machinery = (): Promise<typeof import("./vendor/vendor.js")> => (module ??= import("./vendor/vendor.js"));
  // A missing file of credentials may exist at the next request.
  const forget = (error: unknown): never => {
    loaded = undefined;
    throw error;
  };
  const vendor: VendorModel = {
    provider,
    id,
    facts,
    limits,
    ...(keyName !== undefined && { keyName }),
    secrets,
    load: (fetch) => (loaded ??= opener.load(access, fetch).catch(forget)),
  };
  return {
    provider,
    id,
    thinking: facts.thinking,
    images: facts.images,
    limits,
    ...(facts.context !== undefined && { contextLimit: facts.context }),
    ...(facts.output !== undefined && { outputLimit: facts.output }),
    ...(facts.patches === true && { patches: true }),
    ...(facts.efforts !== undefined && { efforts: facts.efforts }),
    warm: async () => (await machinery()).warmVendor(vendor),
    ...(search !== undefined && {
      searchWeb: async (query, signal) => (await import("./vendor/web-search.js")).searchWeb(vendor, search, query, signal),
    }),
    async *stream(request, signal) {
      const { streamVendor } = await machinery();
      yield* streamVendor(vendor, request, signal);
    },
  };
}

function keyNames(): string {
  return Object.values(PROVIDERS)
    .flatMap(({ keyVariable }) => keyVariable ?? [])
    .join(", ");
}
