/**
 * The settings of one run, and where each came from: flags, then the environment, then the workspace's config file (if the workspace
 * is trusted), then the user's, then defaults. Single values: the first source wins. Lists that guard (rules, hooks, disallowed
 * tools) add up, so that a workspace cannot take the user's own away; servers and providers are merged by name, limits key by key.
 */
import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Mode, OutputCompaction, Rule, Thinking } from "../core/config.js";
import { messageOf, ParleyError, systemCode } from "../core/errors.js";
import { LINE_CAP } from "../core/limits.js";
import { homeOf } from "../os/home.js";
import { readConfigFile, type ConfigFile } from "./config-file.js";
import { checkFlags, type Flags } from "./config-flags.js";
import { fileLayer, flagLayer, type Layer, type Singles } from "./config-layers.js";
import { nameModel } from "./config-model.js";
import type { Config, Hook, McpServer, OwnProvider } from "./config-schema.js";
import type { HookEvent } from "../core/hooks.js";
import { besideFile } from "./server-command.js";
import { TIME_LIMITS, type TimeLimits } from "./models/time-limits.js";
import { readTrust } from "./trust.js";

export type { Flags } from "./config-flags.js";
export { chooseProvider } from "./models/choose-provider.js";

export type Env = Record<string, string | undefined>;

export interface Settings {
  /** PARLEY_HOME; need not exist. */
  home: string;
  /** Absolute; an existing folder. */
  workspace: string;
  trusted: boolean;
  /** The one that was named; `chooseProvider` says which is used. */
  provider?: string | undefined;
  model?: string | undefined;
  /** For the provider that `chooseProvider` says. */
  baseUrl?: string | undefined;
  /** The flag's; keys in the environment stay there. */
  apiKey?: string | undefined;
  maxTokens?: number | undefined;
  maxTurns: number;
  system?: string | undefined;
  appendSystem?: string | undefined;
  mode: Mode;
  /** Undefined: the dialect's own choice of tools that run unasked. */
  approveTools?: string[] | undefined;
  rules: Rule[];
  allowedTools?: string[] | undefined;
  disallowedTools?: string[] | undefined;
  thinking?: Thinking | undefined;
  thinkingBudget?: number | undefined;
  outputCompaction?: OutputCompaction | undefined;
  /** Capabilities of a protocol that are off unless they are named. */
  capabilities?: string[] | undefined;
  theme?: Config["theme"];
  sessionId?: string | undefined;
  resume?: string | undefined;
  /** A model file that a server of this machine shall serve, and the program that does it. */
  offlineModel?: string | undefined;
  llamaServer?: string | undefined;
  mcpServers: Record<string, McpServer>;
  hooks: Record<HookEvent, Hook[]>;
  sessions: { enabled: boolean; keep: number };
  limits: { contextTokens: number; lineBytes: number; approvalSeconds: number; outputChars: number; nesting: number } & TimeLimits;
  providers: Record<string, OwnProvider>;
}

export interface Loaded {
  settings: Settings;
  /** Key path of a setting → "flag --model", "ANTHROPIC_BASE_URL", "/x/config.yaml:3" or "default". */
  origins: Map<string, string>;
  warnings: string[];
  /** The workspace's own file, when it does not count because the workspace is not trusted. */
  ignored?: string | undefined;
}

const DEFAULTS = {
  maxTurns: 200,
  mode: "default",
  "sessions.enabled": true,
  "sessions.keep": 200,
  "limits.contextTokens": 200_000,
  "limits.lineBytes": LINE_CAP,
  "limits.approvalSeconds": 300,
  "limits.outputChars": 50_000,
  "limits.nesting": 1,
  "limits.connectSeconds": TIME_LIMITS.connectSeconds,
  "limits.firstByteSeconds": TIME_LIMITS.firstByteSeconds,
  "limits.idleSeconds": TIME_LIMITS.idleSeconds,
} satisfies Singles;

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
  const { provider, model, baseUrl, problems: wrongNames } = nameModel(flags, files, env, providers);
  const wrong = [...files.flatMap((file) => file.problems), ...wrongNames.map(({ text }) => text)];
  const isUsage = wrong.length === wrongNames.filter(({ byFlag }) => byFlag).length;
  if (wrong.length > 0) throw configError(wrong, isUsage ? "usage" : "config");

  origins.set("home", env["PARLEY_HOME"] ? "PARLEY_HOME" : "default");
  origins.set("workspace", flags.workspace === undefined ? "default" : "flag --workspace");
  origins.set("trusted", trust.trusted ? trust.from : "default");
  for (const [key, named] of Object.entries({ provider, model, baseUrl })) origins.set(key, named?.from ?? "default");
  const layers: Layer[] = [flagLayer(flags), ...files.map(fileLayer), { values: DEFAULTS, from: () => "default" }];
  const single = <K extends keyof Singles>(key: K): Singles[K] => {
    const layer = layers.find(({ values }) => values[key] !== undefined);
    origins.set(key, layer?.from(key) ?? "default");
    return layer?.values[key];
  };
  /** Lowest source first; undefined where none has any. */
  const allOf = (key: "disallowedTools"): string[] | undefined => {
    single(key);
    const given = layers.flatMap(({ values }) => (values[key] === undefined ? [] : [values[key]]));
    return given.length === 0 ? undefined : given.toReversed().flat();
  };
  const path = (given: string | undefined): string | undefined => (given === undefined ? undefined : resolve(cwd, given));
  const sure = <K extends keyof typeof DEFAULTS>(key: K) => single(key) ?? DEFAULTS[key];

  const hooksFor = (event: HookEvent): Hook[] => joined(files, ["hooks", event], (config) => config.hooks?.[event], origins);

  const settings: Settings = {
    home,
    workspace,
    trusted: trust.trusted,
    provider: provider?.value,
    model: model?.value,
    baseUrl: baseUrl?.value,
    apiKey: single("apiKey"),
    maxTokens: single("maxTokens"),
    maxTurns: sure("maxTurns"),
    system: single("system"),
    appendSystem: single("appendSystem"),
    mode: sure("mode"),
    approveTools: single("approveTools"),
    rules: joined(files, ["rules"], (config) => config.rules, origins),
    allowedTools: single("allowedTools"),
    disallowedTools: allOf("disallowedTools"),
    thinking: single("thinking"),
    thinkingBudget: single("thinkingBudget"),
    outputCompaction: single("outputCompaction"),
    capabilities: single("capabilities"),
    theme: single("theme"),
    sessionId: single("sessionId"),
    resume: single("resume"),
    offlineModel: path(single("offlineModel")),
    llamaServer: single("llamaServer"),
    mcpServers: byName(files, "mcpServers", serversOf, origins),
    hooks: {
      pre_tool_use: hooksFor("pre_tool_use"),
      post_tool_use: hooksFor("post_tool_use"),
      prompt: hooksFor("prompt"),
      stop: hooksFor("stop"),
      session_start: hooksFor("session_start"),
      session_end: hooksFor("session_end"),
    },
    sessions: { enabled: sure("sessions.enabled"), keep: sure("sessions.keep") },
    limits: {
      contextTokens: sure("limits.contextTokens"),
      lineBytes: sure("limits.lineBytes"),
      approvalSeconds: sure("limits.approvalSeconds"),
      outputChars: sure("limits.outputChars"),
      nesting: sure("limits.nesting"),
      connectSeconds: sure("limits.connectSeconds"),
      firstByteSeconds: sure("limits.firstByteSeconds"),
      idleSeconds: sure("limits.idleSeconds"),
    },
    providers,
  };
  return { settings, origins, warnings: [...trust.warnings, ...warnings], ignored };
}

const TRUSTED_BY_FLAG = { trusted: true, from: "flag --trust-workspace", warnings: [] };

async function realFolder(path: string): Promise<string> {
  const info = await stat(path).catch((error: unknown) => {
    const code = systemCode(error);
    throw configError([`the workspace ${path} ${code === "ENOENT" ? "does not exist" : `cannot be used: ${messageOf(error)}`}`]);
  });
  if (!info.isDirectory()) throw configError([`the workspace ${path} is not a folder`]);
  return realpath(path);
}

/** In falling order. Nothing of an untrusted workspace is read. */
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

/** The user's entries, and the workspace's, which win where they have the same name. */
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

/** The user's items, then the workspace's. */
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
