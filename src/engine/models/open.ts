/** From a provider's name to a model: credentials are checked at once, packages are loaded with the first request. */
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { OwnProvider } from "../config-schema.js";
import { isProviderName, PROVIDERS, type ProviderInfo } from "./catalogue.js";
import { chooseProvider } from "./choose-provider.js";
import type { Model } from "./model.js";
import { vendorModel, type VendorModel } from "./vendor.js";

/** A provider's address as the host set it within a run. */
export interface ProviderOverride {
  baseUrl: string | null;
  model?: string;
}

export interface ModelSource {
  env: Record<string, string | undefined>;
  /** The config's own providers, and what it says of the known ones. */
  providers: Record<string, OwnProvider>;
  /** The provider of the start; `apiKey` and `baseUrl` were given for it and for no other. */
  chosen: string | undefined;
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
}

/** Where a provider is and what opens it. */
interface Access {
  provider: string;
  id: string;
  baseURL: string | undefined;
  apiKey: string | undefined;
  keyVariable: string | undefined;
  headers: Record<string, string> | undefined;
}

const LOCAL_ADDRESS = "http://127.0.0.1:8080";

export async function openModel(config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Promise<Model> {
  const provider = chooseProvider({ provider: config.provider, model: config.model, providers: source.providers }, source.env);
  if (provider === undefined) throw fault(`No provider was named and no key was found; set ${keyNames()} or name one with --provider`);
  if (provider === "rehearsal") return openRehearsalModel(config.model);
  const own = source.providers[provider];
  const kind = own?.kind ?? provider;
  const load = LOADERS[kind];
  if (load === undefined) {
    throw fault(
      isProviderName(kind)
        ? `The provider '${kind}' is not part of this version; there are anthropic, openai, local and rehearsal`
        : `Unknown provider '${provider}'`,
    );
  }
  const access = accessTo(provider, config, override, source);
  const contextLimit = own?.models?.[access.id]?.context;
  const vendor: VendorModel = { provider, id: access.id, load: () => load(access) };
  return vendorModel({
    ...vendor,
    ...(contextLimit !== undefined && { contextLimit }),
    ...(access.keyVariable !== undefined && { keyVariable: access.keyVariable }),
  });
}

async function openRehearsalModel(model: string | undefined): Promise<Model> {
  const { openRehearsal } = await import("./rehearsal/index.js");
  return openRehearsal(model === undefined || model === "rehearsal" ? {} : { script: model });
}

const LOADERS: Readonly<Record<string, (access: Access) => ReturnType<VendorModel["load"]>>> = {
  async anthropic({ id, apiKey, baseURL, headers }) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic({ apiKey, baseURL, headers })(id);
  },
  async openai({ id, apiKey, baseURL, headers }) {
    const { createOpenAI } = await import("@ai-sdk/openai");
    const openai = createOpenAI({ apiKey, baseURL, headers });
    // Behind an address of its own there is, as a rule, a server that only speaks chat completions.
    return baseURL === undefined ? openai.responses(id) : openai.chat(id);
  },
  local: compatible,
  "openai-compatible": compatible,
};

async function compatible({ provider, id, apiKey, baseURL, headers }: Access): ReturnType<VendorModel["load"]> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  return createOpenAICompatible({ name: provider, baseURL: baseURL ?? versioned(LOCAL_ADDRESS), apiKey, headers, includeUsage: true })(id);
}

function accessTo(provider: string, config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Access {
  const own = source.providers[provider];
  const info: ProviderInfo = isProviderName(provider) ? PROVIDERS[provider] : {};
  const keyVariable = own?.apiKeyEnv ?? info.keyVariable;
  const isChosen = provider === source.chosen;
  const apiKey = (isChosen ? source.apiKey : undefined) ?? (keyVariable === undefined ? undefined : source.env[keyVariable]);
  if (keyVariable !== undefined && !apiKey) throw fault(`${keyVariable} not set`);
  const fromEnv = info.baseUrlVariable === undefined ? undefined : source.env[info.baseUrlVariable];
  const address = override?.baseUrl ?? (isChosen ? source.baseUrl : undefined) ?? (fromEnv || own?.baseUrl);
  return {
    provider,
    id: override?.model ?? config.model ?? Object.keys(own?.models ?? {})[0] ?? info.defaultModel ?? "default",
    baseURL: address === undefined ? undefined : versioned(address),
    apiKey,
    keyVariable,
    headers: own?.headers === undefined ? undefined : expanded(own.headers, source.env),
  };
}

/** The packages want the `/v1`; a missing or doubled one is forgiven. Another version in the path is left alone. */
function versioned(address: string): string {
  const root = address.replace(/\/+$/, "").replace(/(\/v1)+$/, "/v1");
  return /\/v\d+[a-z0-9]*(\/|$)/.test(new URL(root).pathname) ? root : `${root}/v1`;
}

function expanded(headers: Record<string, string>, env: Record<string, string | undefined>): Record<string, string> {
  const expand = (text: string): string => text.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, expand(value)]));
}

function keyNames(): string {
  return Object.values(PROVIDERS)
    .flatMap(({ keyVariable }) => keyVariable ?? [])
    .join(", ");
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
