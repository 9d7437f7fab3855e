/** The access to a provider: its address, key and headers, which are valid for it alone. */
import type { SessionConfig } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { Compat, OwnProvider } from "../../core/providers/own-provider.js";
import { fillVariables, serverSecrets } from "../../core/secrets/secrets.js";
import { isApiRoot, isProviderName, keyVariableOf, PROVIDERS, type ProviderInfo } from "../../core/providers/providers.js";
import type { ModelLimits } from "./time-limits.js";

/** An address that the host set during a run. */
export interface ProviderOverride {
  baseUrl: string | null;
  model?: string;
}

export interface ModelSource {
  env: Record<string, string | undefined>;
  /** The config's own providers, and its settings for known ones. */
  providers: Record<string, OwnProvider>;
  /** The provider chosen at the start; `apiKey` and `baseUrl` are for it alone. */
  chosen: string | undefined;
  apiKey?: string | undefined;
  baseUrl?: string | undefined;
  /** Keys by provider, for those whose variable is not set. */
  keys?: Readonly<Record<string, string>>;
  limits?: ModelLimits;
}

export interface Access {
  provider: string;
  id: string;
  /** The given address, if there is one. */
  address: string | undefined;
  apiKey: string | undefined;
  /** The name of the place where the key is expected. */
  keyName: string | undefined;
  headers: Record<string, string> | undefined;
  /** Texts to redact, even if the vendor repeats them. A provider adds those that it learns. */
  secrets: string[];
  /** The wire, if the vendor has several. */
  api: OwnProvider["api"];
  /** Differences to other servers of the same wire. */
  compat: Compat;
  /** The environment, for providers that need more than a key. */
  env: Record<string, string | undefined>;
}

export function accessTo(provider: string, config: SessionConfig, override: ProviderOverride | undefined, source: ModelSource): Access {
  const own = source.providers[provider];
  const info: ProviderInfo = isProviderName(provider) ? PROVIDERS[provider] : {};
  const keyVariable = own?.apiKeyEnv ?? keyVariableOf(info, source.env);
  const isChosen = provider === source.chosen;
  const given = isChosen ? source.apiKey : undefined;
  const fromVariable = keyVariable === undefined ? undefined : source.env[keyVariable];
  const kept = source.keys !== undefined && Object.hasOwn(source.keys, provider) ? source.keys[provider] : undefined;
  const apiKey = (given ?? (fromVariable || kept))?.trim();
  if (keyVariable !== undefined && !apiKey) throw configFault(`${keyVariable} not set`, "apiKey");
  const named = fromVariable || kept === undefined ? keyVariable : `the key of 'parley login ${provider}'`;
  const keyName = given === undefined ? named : "--api-key";
  if (apiKey !== undefined) checkHeader(apiKey, keyName ?? "The key");
  const fromEnv = info.baseUrlVariable === undefined ? undefined : source.env[info.baseUrlVariable];
  const address = override?.baseUrl ?? (isChosen ? source.baseUrl : undefined) ?? (fromEnv || (own?.baseUrl ?? info.address));
  const headers = own?.headers === undefined ? undefined : expanded(own.headers, source.env, provider);
  return {
    provider,
    id: override?.model ?? config.model ?? Object.keys(own?.models ?? {})[0] ?? info.defaultModel ?? "default",
    address: address === undefined ? undefined : checkedAddress(address),
    apiKey,
    keyName,
    headers,
    secrets: [apiKey ?? "", ...serverSecrets({ [provider]: { headers } }, {})],
    api: own?.api,
    compat: own?.compat ?? {},
    env: source.env,
  };
}

function checkedAddress(address: string): string {
  if (!isApiRoot(address)) throw configFault(`The base URL '${address}' is not an http or https URL`);
  return address.trim();
}

/** Whether requests go to the vendor itself: other servers may lack features of the vendor. */
export function isVendorItself({ address }: Access, root: string): boolean {
  return address === undefined || new URL(address).host === new URL(root).host;
}

/** Adds the version to the path, as the packages need it; a doubled one is removed, and another version stays. */
export function versioned(address: string, version = "v1"): string {
  const root = address.replace(/\/+$/, "").replace(new RegExp(`(/${version})+$`), `/${version}`);
  return /\/v\d+[a-z0-9]*(\/|$)/.test(new URL(root).pathname) ? root : `${root}/${version}`;
}

function expanded(headers: Record<string, string>, env: Record<string, string | undefined>, provider: string): Record<string, string> {
  const valueOf = (name: string): string => {
    const value = env[name];
    if (value === undefined) throw configFault(`${name} not set; the headers of the provider '${provider}' ask for it`);
    return value;
  };
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => {
      const value = fillVariables(text, valueOf).trim();
      checkHeader(value, `The header '${name}' of the provider '${provider}'`);
      return [name, value];
    }),
  );
}

function checkHeader(value: string, what: string): void {
  if (/[^\t\x20-\x7e]/.test(value)) throw configFault(`${what} holds a line break or another character that no key has; copy it again`);
}

/** `param` is "apiKey" if a credential is missing. */
export function configFault(message: string, param?: string): ParleyError {
  return new ParleyError({ code: "config", message, retryable: false, ...(param !== undefined && { param }) });
}
