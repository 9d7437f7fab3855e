/** The secrets that a command knows by value: those of the environment, of the providers in the settings, and the keys that `parley login` keeps. */
import { secretValues, serverSecrets } from "../../core/secrets/secrets.js";
import type { Env, Loaded } from "../../settings/settings.js";

export function knownSecrets({ settings }: Pick<Loaded, "settings">, env: Env): string[] {
  const { apiKey, keys, unusedKeys, providers } = settings;
  const headers = Object.fromEntries(Object.entries(providers).map(([name, provider]) => [name, { headers: provider.headers }]));
  return [
    ...secretValues(env),
    ...[apiKey, ...Object.values(keys), ...unusedKeys, ...Object.values(providers).map(({ apiKeyEnv }) => env[apiKeyEnv ?? ""])].filter(
      (secret) => secret !== undefined,
    ),
    ...serverSecrets(headers, env),
  ];
}
