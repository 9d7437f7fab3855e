/** The effective configuration for people and for programs: each value under its name in a config file, and where it came from. */
import { fileNameOf } from "../../settings/table.js";
import { chooseProvider, type Env, type Loaded, type Settings } from "../../settings/settings.js";
import { isProviderName, keyVariableOf, PROVIDERS, type ProviderInfo } from "../../core/providers/providers.js";

/** Hides secrets, and values that may contain one: headers, environments, arguments. */
export function showConfig(loaded: Loaded, as: "text" | "json", env: Env): string {
  const rows = rowsOf(loaded, env);
  if (as === "json") {
    const settings = Object.fromEntries(rows.map(({ key, value, from }) => [key, { value: value ?? null, from }]));
    return `${JSON.stringify({ settings, warnings: loaded.warnings }, null, 2)}\n`;
  }
  const cells = rows.map(({ key, value, from }) => [key, shortText(value), from] as const);
  const keyWidth = Math.max(...cells.map(([key]) => key.length));
  const valueWidth = Math.max(...cells.map(([, value]) => value.length));
  return cells.map(([key, value, from]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${from}\n`).join("");
}

interface Row {
  key: string;
  value: unknown;
  from: string;
}

function rowsOf({ settings, origins }: Loaded, env: Env): Row[] {
  const implied = impliedBy(settings, env);
  return shownValues(settings).map(([key, value]) => {
    const row = { key: fileNameOf(key), value, from: origins.get(key) ?? "default" };
    return value === undefined ? { ...row, ...implied[key] } : row;
  });
}

type Implied = Record<string, Omit<Row, "key"> | undefined>;

/** Values that a run uses although no setting names them. */
function impliedBy(settings: Settings, env: Env): Implied {
  const provider = chooseProvider(settings, env);
  if (provider === undefined) return {};
  const isOfModel = chooseProvider({ ...settings, keys: {} }, {}) !== undefined;
  const own = settings.providers[provider];
  const info: ProviderInfo = isProviderName(provider) ? PROVIDERS[provider] : {};
  const variable = own?.apiKeyEnv ?? keyVariableOf(info, env);
  const model = Object.keys(own?.models ?? {})[0] ?? info.defaultModel;
  return {
    provider: {
      value: provider,
      from: isOfModel
        ? "the model's name"
        : settings.keys[provider] === undefined
          ? (info.keyVariable ?? "default")
          : `'parley login ${provider}'`,
    },
    ...(model !== undefined && { model: { value: model, from: `default of ${provider}` } }),
    ...(variable !== undefined && env[variable] && { apiKey: { value: HIDDEN, from: variable } }),
    ...(settings.keys[provider] !== undefined && { apiKey: { value: HIDDEN, from: `'parley login ${provider}'` } }),
  };
}

function shownValues(settings: Settings): [string, unknown][] {
  const {
    apiKey,
    baseUrl,
    rules,
    mcpServers,
    hooks,
    sandbox,
    sessions,
    limits,
    providers,
    keys: _secret,
    unusedKeys: _secrets,
    fork: _ofOneRun,
    ...plain
  } = settings;
  return [
    ...Object.entries(plain),
    ["baseUrl", baseUrl === undefined ? undefined : safeUrl(baseUrl)],
    ["apiKey", apiKey === undefined ? undefined : HIDDEN],
    ...rules.map((rule, index): [string, unknown] => [`rules[${index}]`, rule]),
    ...under("sandbox", sandbox),
    ...under("sessions", sessions),
    ...under("limits", limits),
    ...under("mcpServers", mcpServers, ({ args, env, headers, url, ...server }) => {
      return {
        ...server,
        ...(url && { url: safeUrl(url) }),
        ...hiddenList("args", args),
        ...hidden("env", env),
        ...hidden("headers", headers),
      };
    }),
    ...Object.entries(hooks).flatMap(([event, list]) =>
      list.map(({ command: [program], ...hook }, index): [string, unknown] => [`hooks.${event}[${index}]`, { ...hook, program }]),
    ),
    ...under("providers", providers, ({ baseUrl: url, headers, ...provider }) => {
      return { ...provider, ...(url && { baseUrl: safeUrl(url) }), ...hidden("headers", headers) };
    }),
  ];
}

const HIDDEN = "set (hidden)";

function under<T>(key: string, values: Record<string, T>, shown: (value: T) => unknown = (value) => value): [string, unknown][] {
  return Object.entries(values).map(([name, value]) => [`${key}.${name}`, shown(value)]);
}

function hidden(key: string, values: Record<string, string> | undefined): object {
  return values === undefined ? {} : { [key]: Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN])) };
}

function hiddenList(key: string, values: readonly string[] | undefined): object {
  return values === undefined ? {} : { [key]: `${values.length} (hidden)` };
}

/** Removes the user, the password and the query from a URL. */
function safeUrl(text: string): string {
  if (!URL.canParse(text)) return HIDDEN;
  const url = new URL(text);
  const isWhole = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isWhole ? text : `${url.origin}${url.pathname} (the rest is hidden)`;
}

const MAX_WIDTH = 60;

function shortText(value: unknown): string {
  if (value === undefined) return "-";
  const text = typeof value === "string" && !/[\p{C}"]/u.test(value) ? value : JSON.stringify(value);
  const printable = text.replaceAll(/\p{C}/gu, "?");
  return printable.length > MAX_WIDTH ? `${printable.slice(0, MAX_WIDTH - 1)}…` : printable;
}
