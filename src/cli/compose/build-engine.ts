/** Makes an engine of settings, for every command that runs an agent. */
import { realpath } from "node:fs/promises";
import type { Agent } from "../../core/agent.js";
import type { SessionConfig } from "../../core/config.js";
import { createEngine, type EngineOptions } from "../../engine/engine.js";
import { chooseProvider, type Loaded } from "../../settings/settings.js";
import { ROWS, valueOf, type SettingKey } from "../../settings/table.js";
import type { ModelSource, ProviderOverride } from "../../engine/models/access.js";
import { openModel } from "../../engine/models/open.js";
import { keptGrants } from "../../engine/permissions/grants/kept-grants.js";
import { jsonlStore } from "../../engine/store/jsonl/store.js";
import type { SessionStore } from "../../engine/store/store.js";
import { readTrust } from "../../settings/trust.js";
import { userHomeOf } from "../../os/files/home.js";
import { guardLoop, limitStandstill } from "../../os/processes/reaper.js";
import { knownSecrets } from "./known-secrets.js";
import { ownerHome } from "./owners.js";
import { VERSION } from "../version.js";

type Env = Record<string, string | undefined>;

export interface Surroundings extends Pick<EngineOptions, "openTracer" | "redactor"> {
  /** Providers that exist from the start. */
  registered?: Readonly<Record<string, ProviderOverride>>;
  /** Secrets beside those of the settings and the environment. */
  secrets?: readonly string[];
  /** The first turn waits until MCP servers are connected. */
  awaitsServers?: boolean;
  /** Settles when no other engine of this process is about to let go of a session, or when the client is gone. */
  resumable?(): Promise<unknown>;
  /** The owner of sessions and saved chats; the user without one. */
  owner?: string | undefined;
}

export function buildEngine(loaded: Loaded, env: Env, extra: SessionConfig = {}, around: Surroundings = {}): Agent {
  const { settings } = loaded;
  const { providers, limits, sessions, home } = settings;
  const conversations = ownerHome(home, around.owner);
  const source = modelSource(settings, env);
  // Each turn asks for the workspace, and it never changes.
  let workspace: Promise<string> | undefined;
  const realWorkspace = (): Promise<string> => (workspace ??= realpath(settings.workspace).catch(() => settings.workspace));
  limitStandstill(limits.stuckSeconds);
  const engine = createEngine({
    defaults: {
      ...sessionConfig(settings, () => true),
      ...extra,
      rules: [...settings.rules, ...(extra.rules ?? [])],
      cwd: settings.workspace,
    },
    openModel: (config, override) => openModel(config, override, source),
    providers,
    env,
    passToTools: settings.env.pass ?? [],
    secrets: [...knownSecrets(loaded, env), ...(around.secrets ?? [])],
    registered: around.registered ?? {},
    outputChars: limits.outputChars,
    answerMiB: limits.answerMiB,
    memoryMiB: limits.memoryMiB ?? "heap",
    version: VERSION,
    extensions: {
      home,
      conversations,
      userHome: userHomeOf(env),
      mcpServers: settings.mcpServers,
      hooks: settings.hooks,
      models: Object.values(providers).flatMap(({ models = {} }) => Object.keys(models)),
      awaitsServers: around.awaitsServers ?? false,
      trusts: async (root) => (root === (await realWorkspace()) ? settings.trusted : (await readTrust(home, root)).trusted),
    },
    ...sandboxOf(settings),
    grants: keptGrants(conversations),
    ...(around.openTracer !== undefined && { openTracer: around.openTracer }),
    ...(around.redactor !== undefined && { redactor: around.redactor }),
    ...recording(env["PARLEY_RECORD"]),
    ...(sessions.enabled && {
      openStore: (redact: <T>(value: T) => T) =>
        Promise.resolve(patient(jsonlStore(conversations, { keep: sessions.keep, undoMiB: sessions.undoMiB, redact }), around)),
    }),
  });
  return {
    ...engine,
    send(op) {
      if (op.type === "turn.prompt") guardLoop();
      return engine.send(op);
    },
  };
}

function sandboxOf({ sandbox: { mode, ...more } }: Loaded["settings"]): Pick<EngineOptions, "sandbox"> {
  return mode === "off" ? {} : { sandbox: { mode, ...more } };
}

function patient(store: SessionStore, { resumable }: Surroundings): SessionStore {
  if (resumable === undefined) return store;
  return {
    ...store,
    async open(id) {
      await resumable();
      return store.open(id);
    },
  };
}

/** The source of models, with their keys and addresses. */
export function modelSource(settings: Loaded["settings"], env: Env): ModelSource {
  const { providers, apiKey, baseUrl, keys, limits } = settings;
  return { env, providers, chosen: chooseProvider(settings, env), apiKey, baseUrl, keys, limits };
}

/** Records only real providers: a recorded rehearsal would be a copy of its script, perhaps over itself. */
function recording(path: string | undefined): Pick<EngineOptions, "wrapModel"> {
  if (!path) return {};
  const modules = Promise.all([import("../../engine/models/record.js"), import("../../engine/models/record-file.js")]);
  const files = modules.then(([, { scriptFiles }]) => scriptFiles(path));
  return {
    async wrapModel(model, redactor) {
      if (model.provider === "rehearsal") return model;
      const [{ recorded }] = await modules;
      return recorded(model, (await files)(), redactor);
    },
  };
}

/** The session's configuration, of the settings whose key `isMeant` accepts. */
export function sessionConfig(settings: Loaded["settings"], isMeant: (key: SettingKey) => boolean): SessionConfig {
  const entries = ROWS.flatMap(([key, { session }]) => {
    const value = session === undefined || !isMeant(key) ? undefined : valueOf(settings, key);
    return value === undefined ? [] : [[session, value] as const];
  });
  return Object.fromEntries(entries);
}
