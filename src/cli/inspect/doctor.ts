/** `parley doctor`: reports which tools, keys and servers this machine has, and how to get the missing ones. It changes nothing. */
import { access, constants, stat } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { systemCode, toFault, type Fault } from "../../core/errors.js";
import { withRemedy } from "../../core/remedies.js";
import { chooseProvider, type Env, type Loaded, type Settings } from "../../settings/settings.js";
import { homeOf } from "../../os/files/home.js";
import { LOCAL_SERVER, PROVIDERS } from "../../core/providers/providers.js";
import { openModel } from "../../engine/models/open.js";
import { trySystem } from "../../engine/sandbox/system.js";
import { findRipgrep } from "../../engine/tools/search/ripgrep.js";
import { modelSource } from "../compose/build-engine.js";

/** The environment of the process. */
export interface Surroundings {
  cwd: string;
  /** The value of `process.versions.node`. */
  nodeVersion: string;
  stdout: { isTTY?: boolean; columns?: number; getColorDepth?(env?: object): number };
}

/** `fail` prevents working; `hint` is an improvement. */
interface Check {
  name: string;
  state: "ok" | "hint" | "fail";
  found: string;
  remedy?: string | undefined;
}

export async function runDoctor(loaded: Loaded | Fault, env: Env, probes: Surroundings): Promise<{ text: string; ok: boolean }> {
  const settings = "settings" in loaded ? loaded.settings : undefined;
  const begun: (Check | Promise<Check>)[] = [
    checkNode(probes.nodeVersion),
    checkHome(settings?.home ?? homeOf(env, probes.cwd)),
    checkConfig(loaded),
    ...(settings === undefined ? [] : [checkWorkspace(settings)]),
    checkKeys(env, settings),
    ...(settings === undefined ? [] : [checkProvider(settings, env)]),
    checkLocalServer(settings, env),
    checkRipgrep(),
    checkProgram("shell", "bash", env, "install bash, or the Bash tool cannot run commands"),
    checkSandbox(env, settings),
    checkProgram("git", "git", env, "install git, so that the agent can see what changed (optional)"),
    checkTerminal(probes.stdout, env),
  ];
  const checks = await Promise.all(begun.map(async (check) => check));
  return { text: checks.map(line).join(""), ok: checks.every(({ state }) => state !== "fail") };
}

const MARKS = { ok: "✓", hint: "!", fail: "✗" } as const;
const NAME_WIDTH = 12;

function line({ name, state, found, remedy }: Check): string {
  const indent = " ".repeat(NAME_WIDTH + 2);
  const lines = [...found.split("\n"), ...(remedy === undefined ? [] : [`→ ${remedy}`])];
  return `${MARKS[state]} ${name.padEnd(NAME_WIDTH)}${lines.join(`\n${indent}`)}\n`;
}

const OLDEST_NODE = [20, 19] as const;

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (isNewEnough) return { name: "node", state: "ok", found: `version ${version}` };
  return {
    name: "node",
    state: "fail",
    found: `version ${version} is too old`,
    remedy: `install Node.js ${OLDEST_NODE.join(".")} or later`,
  };
}

async function checkHome(home: string): Promise<Check> {
  const name = "home";
  const remedy = "set PARLEY_HOME to a folder that you can write to";
  const existing = await nearestExisting(home);
  const isFolder = (await stat(existing).catch(() => undefined))?.isDirectory() === true;
  if (!isFolder) return { name, state: "fail", found: `${existing} is not a folder that can be used`, remedy };
  if (!(await may(existing, constants.R_OK | constants.W_OK | constants.X_OK))) {
    return { name, state: "fail", found: existing === home ? `${home} cannot be written to` : `${home} cannot be created`, remedy };
  }
  return { name, state: "ok", found: existing === home ? home : `${home} (will be created)` };
}

/** The folder itself, or the nearest existing folder above it. */
async function nearestExisting(path: string): Promise<string> {
  const isMissing = await stat(path).then(
    () => false,
    (error: unknown) => systemCode(error) === "ENOENT",
  );
  return isMissing && dirname(path) !== path ? nearestExisting(dirname(path)) : path;
}

function checkConfig(loaded: Loaded | Fault): Check {
  const name = "config";
  if (!("settings" in loaded)) {
    return { name, state: "fail", found: loaded.message, remedy: "correct what is named, then run 'parley doctor' again" };
  }
  if (loaded.warnings.length > 0) return { name, state: "hint", found: loaded.warnings.join("\n") };
  return { name, state: "ok", found: "no problems; 'parley config' shows it" };
}

async function checkWorkspace({ workspace, trusted }: Settings): Promise<Check> {
  const trust = trusted ? "trusted" : "not trusted: its config does not count";
  if (!(await may(workspace, constants.W_OK))) {
    const remedy = "the agent can read here but not change anything; check the folder's permissions";
    return { name: "workspace", state: "hint", found: `${workspace} cannot be written to (${trust})`, remedy };
  }
  const remedy = trusted ? undefined : "'parley trust' trusts it";
  return { name: "workspace", state: "ok", found: `${workspace} (${trust})`, remedy };
}

function checkKeys(env: Env, settings: Settings | undefined): Check {
  const infos = Object.values(PROVIDERS);
  const ours = infos.flatMap(({ keyVariable }) => keyVariable ?? []);
  const others = infos.flatMap(({ otherKeyVariables }) => otherKeyVariables ?? []);
  const own = Object.values(settings?.providers ?? {}).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  const given = [...new Set([...ours, ...others, ...own])].filter((variable) => env[variable]);
  const kept = Object.keys(settings?.keys ?? {}).map((provider) => `'parley login ${provider}'`);
  const found = [...(given.length > 0 ? [`set: ${given.join(", ")}`] : []), ...(kept.length > 0 ? [`kept by ${kept.join(", ")}`] : [])];
  if (found.length > 0) return { name: "keys", state: "ok", found: found.join("; ") };
  const remedy = `set one of ${ours.join(", ")}, or run 'parley login PROVIDER'; the rehearsal model needs none`;
  return { name: "keys", state: "hint", found: "none is set", remedy };
}

/** Opens the model as a session would: its fault names the missing part. */
async function checkProvider(settings: Settings, env: Env): Promise<Check> {
  const name = "provider";
  const provider = chooseProvider(settings, env);
  if (provider === undefined) {
    const remedy =
      "name one with --provider, set a key, or run 'parley login PROVIDER'; until then the terminal chat uses the rehearsal model";
    return { name, state: "hint", found: "none is chosen", remedy };
  }
  try {
    const { id } = await openModel({ provider, model: settings.model }, undefined, modelSource(settings, env));
    return { name, state: "ok", found: `${provider}, model ${id}` };
  } catch (error) {
    return { name, state: "hint", found: `${provider} cannot be used: ${withRemedy(toFault(error))}` };
  }
}

const PROBE_MS = 300;

async function checkLocalServer(settings: Settings | undefined, env: Env): Promise<Check> {
  const name = "local model";
  const isChosen = settings !== undefined && chooseProvider(settings, env) === "local";
  const address = (isChosen ? settings.baseUrl : undefined) ?? settings?.providers["local"]?.baseUrl ?? LOCAL_SERVER;
  const health = new URL("/health", address);
  if (!LOOPBACK.test(health.hostname)) return { name, state: "ok", found: `${health.host} is another machine; not asked` };
  if (await answers(health)) return { name, state: "ok", found: `a server answers at ${health.origin}` };
  const remedy = `start a model server there to use --provider local${isChosen ? "" : " (optional)"}`;
  return { name, state: "hint", found: `no server answers at ${health.origin}`, remedy };
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

async function answers(url: URL): Promise<boolean> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function checkRipgrep(): Promise<Check> {
  const path = await findRipgrep();
  if (path !== null) return { name: "ripgrep", state: "ok", found: path };
  return { name: "ripgrep", state: "hint", found: "not found", remedy: "install ripgrep; searching works without it, but slowly" };
}

async function checkSandbox(env: Env, settings: Settings | undefined): Promise<Check> {
  const name = "sandbox";
  const mode = settings?.sandbox.mode ?? "off";
  try {
    const { program } = await trySystem(env["PATH"]);
    return { name, state: "ok", found: mode === "off" ? `${program} (off; --sandbox auto uses it)` : `${program} (${mode})` };
  } catch (error) {
    const remedy = "commands run without a sandbox (optional)";
    if (mode === "required") return { name, state: "fail", found: toFault(error).message, remedy: "without one no session is opened" };
    return { name, state: "hint", found: toFault(error).message, remedy };
  }
}

async function checkProgram(name: string, program: string, env: Env, remedy: string): Promise<Check> {
  const path = await findOnPath(program, env);
  return path === undefined
    ? { name, state: "hint", found: `${program} was not found on PATH`, remedy }
    : { name, state: "ok", found: path };
}

async function findOnPath(program: string, env: Env): Promise<string | undefined> {
  const file = process.platform === "win32" ? `${program}.exe` : program;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (folder !== "" && (await may(join(folder, file), constants.X_OK))) return join(folder, file);
  }
  return undefined;
}

function checkTerminal(stdout: Surroundings["stdout"], env: Env): Check {
  const name = "terminal";
  if (stdout.isTTY !== true) return { name, state: "ok", found: "the output is not a terminal: plain text, no colours" };
  const colours = 2 ** (stdout.getColorDepth?.(env) ?? 1);
  return { name, state: "ok", found: `${stdout.columns ?? "unknown"} columns, ${colours} colours` };
}

function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
