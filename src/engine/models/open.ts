/** From a provider's name to a model: credentials are checked at once, packages are loaded with the first request. */
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { OwnProvider } from "../config-schema.js";
import { isApiRoot, isProviderName, PROVIDERS, type ProviderInfo } from "./catalogue.js";
import { chooseProvider } from "./choose-provider.js";
import type { Model } from "./model.js";
import type { Fetch, VendorModel, Wire } from "./vendor.js";

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
  /** An address of its own, if it was given one. */
  baseURL: string | undefined;
  apiKey: string | undefined;
  /** Where the key is to be looked for. */
  keyName: string | undefined;
  headers: Record<string, string> | undefined;
  /** What to speak, where the vendor speaks more than one. */
  api: OwnProvider["api"];
}

interface Loader {
  wire(access: Access): Wire;
  load(access: Access, fetch: Fetch): ReturnType<VendorModel["load"]>;
}

export async function openModel(config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Promise<Model> {
  const provider = chooseProvider({ provider: config.provider, model: config.model, providers: source.providers }, source.env);
  if (provider === undefined) throw fault(`No provider was named and no key was found; set ${keyNames()} or name one with --provider`);
  if (provider === "rehearsal") return openRehearsalModel(config.model);
  const own = source.providers[provider];
  const kind = own?.kind ?? provider;
  const loader = LOADERS[kind];
  if (loader === undefined) {
    throw fault(
      isProviderName(kind)
        ? `The provider '${kind}' is not part of this version; there are anthropic, openai, local and rehearsal`
        : `Unknown provider '${provider}'`,
    );
  }
  const access = accessTo(provider, config, override, source);
  return vendorModel(access, loader, own?.models?.[access.id]?.context);
}

async function openRehearsalModel(model: string | undefined): Promise<Model> {
  const { openRehearsal } = await import("./rehearsal/index.js");
  return openRehearsal(model === undefined || model === "rehearsal" ? {} : { script: model });
}

function vendorModel(access: Access, loader: Loader, contextLimit: number | undefined): Model {
  const { provider, id, keyName, apiKey } = access;
  let loaded: ReturnType<VendorModel["load"]> | undefined;
  let module: Promise<typeof import("./vendor.js")> | undefined;
  // Loaded once: even a module that is there costs a look-up each time it is imported.
  const machinery = (): Promise<typeof import("./vendor.js")> => (module ??= import("./vendor.js"));
  const vendor: VendorModel = {
    provider,
    id,
    wire: loader.wire(access),
    ...(keyName !== undefined && { keyName }),
    secrets: [apiKey ?? "", ...Object.values(access.headers ?? {})],
    load: (fetch) => (loaded ??= loader.load(access, fetch)),
  };
  return {
    provider,
    id,
    thinking: true,
    ...(contextLimit !== undefined && { contextLimit }),
    warm: async () => (await machinery()).warmVendor(vendor),
    async *stream(request, signal) {
      const { streamVendor } = await machinery();
      yield* streamVendor(vendor, request, signal);
    },
  };
}

// --- the packages ---

// They would look into the process's environment for what is not given, so all of it is given.

const compatible: Loader = {
  wire: () => "compatible",
  async load({ id, apiKey, baseURL, headers }, fetch) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const address = baseURL ?? versioned("http://127.0.0.1:8080");
    return createOpenAICompatible({ name: "compatible", baseURL: address, apiKey, headers, includeUsage: true, fetch })(id);
  },
};

const LOADERS: Readonly<Record<string, Loader>> = {
  anthropic: {
    wire: () => "anthropic",
    async load({ id, apiKey, baseURL = "https://api.anthropic.com/v1", headers }, fetch) {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL, headers, fetch })(id);
    },
  },
  openai: {
    wire: openaiWire,
    async load(access, fetch) {
      const { id, apiKey, baseURL = "https://api.openai.com/v1", headers } = access;
      const { createOpenAI } = await import("@ai-sdk/openai");
      const openai = createOpenAI({ apiKey, baseURL, headers, fetch });
      return openaiWire(access) === "openai-responses" ? openai.responses(id) : openai.chat(id);
    },
  },
  local: compatible,
  "openai-compatible": compatible,
};

/** Behind an address of its own there is, as a rule, a server that only speaks chat completions. */
function openaiWire({ api, baseURL }: Access): Wire {
  return (api ?? (baseURL === undefined ? "responses" : "chat")) === "responses" ? "openai-responses" : "openai-chat";
}

// --- addresses and keys ---

function accessTo(provider: string, config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Access {
  const own = source.providers[provider];
  const info: ProviderInfo = isProviderName(provider) ? PROVIDERS[provider] : {};
  const keyVariable = own?.apiKeyEnv ?? info.keyVariable;
  const isChosen = provider === source.chosen;
  const given = isChosen ? source.apiKey : undefined;
  const apiKey = given ?? (keyVariable === undefined ? undefined : source.env[keyVariable]);
  if (keyVariable !== undefined && !apiKey) throw fault(`${keyVariable} not set`);
  const fromEnv = info.baseUrlVariable === undefined ? undefined : source.env[info.baseUrlVariable];
  const address = override?.baseUrl ?? (isChosen ? source.baseUrl : undefined) ?? (fromEnv || own?.baseUrl);
  return {
    provider,
    id: override?.model ?? config.model ?? Object.keys(own?.models ?? {})[0] ?? info.defaultModel ?? "default",
    baseURL: address === undefined ? undefined : versioned(address),
    apiKey,
    keyName: given === undefined ? keyVariable : "--api-key",
    headers: own?.headers === undefined ? undefined : expanded(own.headers, source.env),
    api: own?.api,
  };
}

/** The packages want the `/v1`; a missing or doubled one is forgiven. Another version in the path is left alone. */
function versioned(address: string): string {
  if (!isApiRoot(address)) throw fault(`The base URL '${address}' is not an http or https URL`);
  const root = address
    .trim()
    .replace(/\/+$/, "")
    .replace(/(\/v1)+$/, "/v1");
  return /\/v\d+[a-z0-9]*(\/|$)/.test(new URL(root).pathname) ? root : `${root}/v1`;
}

function expanded(headers: Record<string, string>, env: Record<string, string | undefined>): Record<string, string> {
  const expand = (text: string): string => text.replace(/\$\{(\w+)\}/g, (_, name: string) => env[name] ?? "");
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, expand(value)]));
}

function keyNames(): string {
  return Object.values(PROVIDERS)
    .flatMap(({ available, keyVariable }) => (available === true ? (keyVariable ?? []) : []))
    .join(", ");
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false });
}
