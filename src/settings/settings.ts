/**
 * The settings of one run, and where each came from: flags, then the environment, then the workspace's config file (if the workspace
 * is trusted), then the user's, then defaults. Single values: the first source wins. Lists that guard (rules, hooks, disallowed
 * tools) add up, so that a workspace cannot take the user's own away; servers and providers are merged by name, limits key by key.
 */
import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Rule } from "../core/config.js";
import { messageOf, ParleyError, systemCode } from "../core/errors.js";
import { homeOf } from "../os/files/home.js";
import { isProviderName, PROVIDERS } from "../core/providers/providers.js";
import { keptKeys } from "./credentials.js";
import { readConfigFile, type ConfigFile } from "./config-file.js";
import { checkFlags, type Flags } from "./flags.js";
import { fileLayer, flagLayer, presetLayer, type Layer } from "./layers.js";
import { ROWS, type SettledValues, type Values } from "./table.js";
import { nameModel } from "./model.js";
import type { OwnProvider } from "../core/providers/own-provider.js";
import type { Config, Hook, McpServer } from "./config-schema.js";
import { byHookEvent, type HookEvent } from "../core/hooks.js";
import { besideFile } from "./server-command.js";
import { readTrust } from "./trust.js";

export type { Flags } from "./flags.js";
export { chooseProvider } from "../core/providers/choose-provider.js";

export type Env = Record<string, string | undefined>;

/** Single values by their keys in table.ts; `provider` is the one that was named, and `chooseProvider` says which is used. */
export interface Settings extends SettledValues {
  /** PARLEY_HOME; need not exist. */
  home: string;
  /** Absolute; an existing folder. */
  workspace: string;
  trusted: boolean;
  /** Continue a copy of the stored session. */
  fork: boolean;
  mcpServers: Record<string, McpServer>;
  /** The user's rules, then those of the workspace. */
  rules: Rule[];
  hooks: Record<HookEvent, Hook[]>;
  providers: Record<string, OwnProvider>;
  /** Keys that 'parley login' keeps, by provider: of those whose variable is not set. */
  keys: Record<string, string>;
  /** Keys that 'parley login' keeps of other providers: nothing uses them, and they are redacted all the same. */
  unusedKeys: string[];
}

export interface Loaded {
  settings: Settings;
  /** Key path of a setting → "flag --model", "ANTHROPIC_BASE_URL", "/x/config.yaml:3" or "default". */
  origins: Map<string, string>;
  warnings: string[];
  /** The workspace's own file, when it is ignored because the workspace is not trusted. */
  ignored?: string | undefined;
}

/** Throws a fault that lists every problem found: `usage` where only flags are wrong, `config` for the rest. */
export async function loadSettings({ flags: given, env, cwd }: { flags: Flags; env: Env; cwd: string }): Promise<Loaded> {
  const { flags, problems } = checkFlags(given);
  if (problems.length > 0) throw configError(problems, "usage");
  const home = homeOf(env, cwd);
  const workspace = resolve(cwd, flags.workspace ?? "");
  const realWorkspace = await realFolder(workspace);
  const trust = flags.trustWorkspace === true ? TRUSTED_BY_FLAG : await readTrust(home, realWorkspace);
  const { files, warnings, ignored } = await readFiles(home, workspace, trust.trusted);

  const origins = new Map<string, string>();
  const providers = byName(files, "providers", ({ config }) => config.providers, origins);
  const kept = await keptKeys(home, (name) => !env[variableOf(name, providers) ?? ""]);
  const { provider, model, baseUrl, problems: wrongNames } = nameModel(flags, files, env, { providers, keys: kept.keys });
  const wrong = [...files.flatMap((file) => file.problems), ...wrongNames.map(({ text }) => text)];
  const isUsage = wrong.length === wrongNames.filter(({ byFlag }) => byFlag).length;
  if (wrong.length > 0) throw configError(wrong, isUsage ? "usage" : "config");

  origins.set("home", env["PARLEY_HOME"] ? "PARLEY_HOME" : "default");
  origins.set("workspace", flags.workspace === undefined ? "default" : "flag --workspace");
  origins.set("trusted", trust.trusted ? trust.from : "default");
  const layers: Layer[] = [flagLayer(flags), ...files.map(fileLayer), presetLayer()];
  const values: Values = {};
  for (const [key, { adds }] of ROWS) {
    const saying = layers.filter((layer) => layer.values[key] !== undefined);
    origins.set(key, saying[0]?.from(key) ?? "default");
    const given = saying.map((layer) => layer.values[key]);
    Object.assign(values, { [key]: adds === true && given.length > 0 ? given.toReversed().flat() : given[0] });
  }
  for (const [key, named] of Object.entries({ provider, model, baseUrl })) {
    Object.assign(values, { [key]: named?.value });
    origins.set(key, named?.from ?? "default");
  }
  const settled = settle(values);

  const settings: Settings = {
    home,
    workspace,
    trusted: trust.trusted,
    fork: flags.fork === true,
    ...settled,
    offlineModel: settled.offlineModel === undefined ? undefined : resolve(cwd, settled.offlineModel),
    rules: joined(files, ["rules"], (config) => config.rules, origins),
    mcpServers: byName(files, "mcpServers", serversOf, origins),
    hooks: byHookEvent((event) => joined(files, ["hooks", event], (config) => config.hooks?.[event], origins)),
    providers,
    keys: kept.keys,
    unusedKeys: kept.unused,
  };
  return { settings, origins, warnings: [...trust.warnings, ...kept.warnings, ...warnings], ignored };
}

/** The variable of a provider's key. */
function variableOf(name: string, providers: Record<string, OwnProvider>): string | undefined {
  return providers[name]?.apiKeyEnv ?? (isProviderName(name) ? PROVIDERS[name].keyVariable : undefined);
}

/** Nests `limits.x` as `limits: {x}`. Every row with a preset has a value, because presetLayer says it. */
function settle(values: Values): SettledValues {
  const settled: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [key] of ROWS) {
    const [first = "", name] = key.split(".");
    if (name === undefined) settled[key] = values[key];
    else (groups[first] ??= {})[name] = values[key];
  }
  return { ...settled, ...groups } as SettledValues;
}

const TRUSTED_BY_FLAG = { trusted: true, from: "flag --trust-workspace", warnings: [] };

async function realFolder(path: string): Promise<string> {
  const info = await stat(path).catch((error: unknown) => {
    const code = systemCode(error);
    throw configError([
      `the workspace ${path} ${code === "ENOENT" ? "does not exist; make it, or name another one (--workspace)" : `cannot be used: ${messageOf(error)}`}`,
    ]);
  });
  if (!info.isDirectory()) throw configError([`the workspace ${path} is not a folder`]);
  return realpath(path);
}

/** Returns the files in falling order of rank, and reads nothing of an untrusted workspace. */
async function readFiles(
  home: string,
  workspace: string,
  trusted: boolean,
): Promise<{ files: ConfigFile[]; warnings: string[]; ignored: string | undefined }> {
  const own = join(home, "config.yaml");
  const theirs = await workspaceFile(workspace, own);
  const files = await Promise.all([
    theirs !== undefined && trusted ? readConfigFile(theirs, "workspace") : undefined,
    readConfigFile(own, "user"),
  ]);
  const present = files.filter((file) => file !== undefined);
  const warnings = present.flatMap((file) => file.warnings);
  const ignored = trusted ? undefined : theirs;
  if (ignored !== undefined) {
    warnings.unshift(`${ignored} is ignored, since the workspace is not trusted; 'parley trust' or --trust-workspace changes that`);
  }
  return { files: present, warnings, ignored };
}

/** Undefined when there is none, or when it is the user's own file because the workspace is the user's home. */
async function workspaceFile(workspace: string, own: string): Promise<string | undefined> {
  const path = join(workspace, ".parley", "config.yaml");
  try {
    const real = await realpath(path);
    return real === (await realpath(own).catch(() => own)) ? undefined : path;
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? undefined : path;
  }
}

type Origins = Map<string, string>;

/** Merges by name; an entry of the workspace replaces the user's entry of the same name. */
function byName<T>(
  files: readonly ConfigFile[],
  key: string,
  read: (file: ConfigFile) => Record<string, T> | undefined,
  origins: Origins,
): Record<string, T> {
  const entries = files.toReversed().flatMap((file) =>
    Object.entries(read(file) ?? {}).map(([name, value]): [string, T] => {
      origins.set(`${key}.${name}`, file.locate([key, name]));
      return [name, value];
    }),
  );
  return Object.fromEntries(entries);
}

function serversOf({ path, config: { mcpServers = {} } }: ConfigFile): Record<string, McpServer> {
  return Object.fromEntries(Object.entries(mcpServers).map(([name, server]) => [name, besideFile(path, server)]));
}

/** Joins lists: the user's items, then those of the workspace. */
function joined<T>(
  files: readonly ConfigFile[],
  keys: readonly string[],
  read: (config: Config) => T[] | undefined,
  origins: Origins,
): T[] {
  const items = files
    .toReversed()
    .flatMap(({ config, locate }) => (read(config) ?? []).map((item, index) => ({ item, from: locate([...keys, index]) })));
  for (const [index, { from }] of items.entries()) origins.set(`${keys.join(".")}[${index}]`, from);
  return items.map(({ item }) => item);
}

function configError(problems: readonly string[], code: "config" | "usage" = "config"): ParleyError {
  const [only] = problems;
  const message =
    problems.length === 1 && only !== undefined
      ? only
      : `The configuration has ${problems.length} problems:\n${problems.map((problem) => `  ${problem}`).join("\n")}`;
  return new ParleyError({ code, message, retryable: false });
}
