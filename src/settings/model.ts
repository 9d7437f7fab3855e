/** Finds the provider, the model and the address that flags, environment and files name together. */
import type { ConfigFile } from "./config-file.js";
import type { CheckedFlags } from "./flags.js";
import { TABLE } from "./table.js";
import type { OwnProvider } from "../core/providers/own-provider.js";
import { isApiRoot, isProviderName, PROVIDERS } from "../core/providers/providers.js";
import { chooseProvider, matchNames, type Found } from "../core/providers/choose-provider.js";
import { nearest } from "../core/text/nearest-word.js";

type Env = Record<string, string | undefined>;

export interface NamedModel {
  provider?: Found<string> | undefined;
  model?: Found<string> | undefined;
  baseUrl?: Found<string> | undefined;
  problems: Problem[];
}

interface Problem {
  text: string;
  byFlag: boolean;
}

export function nameModel(
  flags: CheckedFlags,
  files: readonly ConfigFile[],
  env: Env,
  { providers, keys }: { providers: Record<string, OwnProvider>; keys: Record<string, string> },
): NamedModel {
  const problems = unknownProviders(flags, files, Object.keys(providers));
  const address = (provider: string | undefined) => baseUrlOf(provider, flags, files, env);
  const sources = [
    { provider: found(flags.provider, "flag --provider"), model: found(flags.model, "flag --model") },
    ...files.map(({ config, locate }) => ({
      provider: found(config.provider, locate(["provider"])),
      model: found(config.model, locate(["model"])),
    })),
  ];
  const { provider, model } = matchNames(sources, providers, (name) => address(name) !== undefined);
  const baseUrl = address(chooseProvider({ provider: provider?.value, model: model?.value, providers, keys }, env));
  if (baseUrl !== undefined && !isApiRoot(baseUrl.value)) {
    problems.push({ text: `${baseUrl.from}: the base URL must be an http or https URL`, byFlag: flags.baseUrl !== undefined });
  }
  return { provider, model, baseUrl, problems };
}

/** A file's `baseUrl` belongs to the provider that the file names, else to any provider. */
function baseUrlOf(provider: string | undefined, flags: CheckedFlags, files: readonly ConfigFile[], env: Env): Found<string> | undefined {
  if (flags.baseUrl !== undefined) return { value: flags.baseUrl, from: "flag --base-url" };
  const variable = provider !== undefined && isProviderName(provider) ? PROVIDERS[provider][TABLE.baseUrl.variable] : undefined;
  if (variable !== undefined && env[variable]) return { value: env[variable], from: variable };
  for (const { config, locate } of files) {
    const own = provider === undefined ? undefined : config.providers?.[provider]?.baseUrl;
    if (own !== undefined && provider !== undefined) return { value: own, from: locate(["providers", provider, "baseUrl"]) };
    const isMeant = config.provider === undefined || config.provider === provider;
    if (config.baseUrl !== undefined && isMeant) return { value: config.baseUrl, from: locate(["baseUrl"]) };
  }
  return undefined;
}

function unknownProviders(flags: CheckedFlags, files: readonly ConfigFile[], own: readonly string[]): Problem[] {
  const known = [...new Set([...Object.keys(PROVIDERS), ...own])];
  const named = [
    { name: flags.provider, from: "flag --provider", byFlag: true },
    ...files.map(({ config, locateValue }) => ({ name: config.provider, from: locateValue(["provider"]), byFlag: false })),
  ];
  return named.flatMap(({ name, from, byFlag }) => {
    if (name === undefined || known.includes(name)) return [];
    const meant = nearest(name, known);
    const hint = meant === undefined ? "" : `; did you mean '${meant}'?`;
    return [{ text: `${from}: unknown provider '${name}'${hint} (known: ${known.join(", ")})`, byFlag }];
  });
}

function found<T>(value: T | undefined, from: string): Found<T> | undefined {
  return value === undefined ? undefined : { value, from };
}
