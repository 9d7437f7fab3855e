/** Chooses the provider of a run, also where several sources name a provider or a model. */
import { isProviderName, ownerOfModel, PROVIDERS, type ProviderName } from "./providers.js";

export type OwnProviders = Readonly<Record<string, { models?: Readonly<Record<string, unknown>> | undefined }>>;

/** The named provider; else the one that the model belongs to; else the first whose key is set; else undefined. */
export function chooseProvider(
  named: { provider?: string | undefined; model?: string | undefined; providers: OwnProviders; keys?: Readonly<Record<string, string>> },
  env: Record<string, string | undefined>,
): string | undefined {
  if (named.provider !== undefined) return named.provider;
  const owner = named.model === undefined ? undefined : ownerOf(named.model, named.providers);
  if (owner !== undefined) return owner;
  const inEnvironment = Object.entries(PROVIDERS).find(([, { keyVariable }]) => keyVariable !== undefined && env[keyVariable]);
  return inEnvironment?.[0] ?? Object.keys(PROVIDERS).find((name) => named.keys?.[name] !== undefined);
}

/** A value and the source that gave it. */
export interface Found<T> {
  value: T;
  from: string;
}

export interface Names {
  provider?: Found<string> | undefined;
  model?: Found<string> | undefined;
}

/**
 * The provider and the model that go together, out of sources in falling order. A model belongs to the provider that its source
 * names: another provider in a higher source does not get it. A model in a higher source than the provider stays with that
 * provider, unless it is plainly another's. `hasAddress` tells whether a provider was given a base URL, behind which any model may live.
 */
export function matchNames(sources: readonly Names[], providers: OwnProviders, hasAddress: (provider: string) => boolean): Names {
  const at = sources.findIndex((source) => source.provider !== undefined);
  const provider = sources[at]?.provider;
  if (provider === undefined) return { model: sources.find((source) => source.model !== undefined)?.model };
  const isForeign = (model: string) => belongsElsewhere(model, provider.value, providers, hasAddress(provider.value));
  const above = sources.slice(0, at).find((source) => source.model !== undefined)?.model;
  if (above !== undefined) return isForeign(above.value) ? { model: above } : { provider, model: above };
  const fitting = sources.slice(at).find((source) => {
    if (source.model === undefined) return false;
    return source.provider === undefined ? !isForeign(source.model.value) : source.provider.value === provider.value;
  });
  return { provider, model: fitting?.model };
}

/** These providers serve only models whose names are theirs; the others serve models of any name. */
const CLOSED: ReadonlySet<string> = new Set<ProviderName>(["anthropic", "openai", "gemini", "xai", "rehearsal"]);

function belongsElsewhere(model: string, provider: string, providers: OwnProviders, hasAddress: boolean): boolean {
  const owner = ownerOf(model, providers);
  if (owner === undefined || owner === provider || lists(providers[provider], model)) return false;
  if (owner === "rehearsal" || !isProviderName(owner)) return true;
  return CLOSED.has(provider) && !hasAddress;
}

function ownerOf(model: string, providers: OwnProviders): string | undefined {
  return Object.keys(providers).find((name) => lists(providers[name], model)) ?? ownerOfModel(model);
}

function lists(provider: OwnProviders[string] | undefined, model: string): boolean {
  return provider?.models !== undefined && Object.hasOwn(provider.models, model);
}
