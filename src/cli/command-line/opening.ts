/** The session that the command line asks for: a new one or a stored one, with the configuration that flags say. */
import type { SessionConfig } from "../../core/config.js";
import type { Launch } from "../../core/wire.js";
import { programOf, type Dialect } from "../../dialects/index.js";
import type { Loaded } from "../../settings/settings.js";
import type { Opening } from "../../host/session.js";
import { sessionConfig } from "../compose/build-engine.js";
import { given, usage, type Parsed } from "./flags.js";

/** Sentences about flags of a session that have no effect, because the host of the dialect opens its sessions on the wire. */
export function idleSessionFlags(parsed: Parsed, dialectId: string): string[] {
  if (programOf(dialectId)?.opensOnWire !== true) return [];
  const idle = ["resume", "continue", "fork", "session-id"].filter((flag) => given(parsed, flag));
  return idle.map((flag) => `--${flag} means nothing to a host of '${dialectId}': it opens its sessions itself`);
}

/** A copy of a stored session may be named: `session`. */
export function openingOf(loaded: Loaded): Opening & { open: "new" | "resume"; fork?: boolean; session?: string } {
  const { resume, sessionId, fork } = loaded.settings;
  const config = explicitConfig(loaded);
  if (resume !== undefined) {
    if (!fork && sessionId !== undefined)
      throw usage("flags --session-id and --resume exclude each other; give one of them, or name a copy with --fork");
    return { open: "resume", sessionId: resume, config, ...(fork && { fork, ...(sessionId !== undefined && { session: sessionId }) }) };
  }
  if (fork) throw usage("--fork goes on with a copy of a stored session: say which with --resume ID, or --continue for the last one");
  return { open: "new", config, ...(sessionId !== undefined && { sessionId }) };
}

/** The configuration of the command line beside the settings. Its rules are the engine's own: a session is opened with those of its host alone. */
export function withConfig<O extends { config?: SessionConfig }>(open: O, { rules: _ours, ...config }: SessionConfig): O {
  return { ...open, config: { ...open.config, ...config } };
}

interface LaunchOptions extends Partial<Omit<Launch, "argv">> {
  /** The words of the command line for the protocol itself. */
  switches?: readonly string[];
}

/** The launch that opens the session, in dialects where a process is a session; elsewhere the host opens it. */
export function launchOf(dialect: Dialect, loaded: Loaded, options: LaunchOptions): { launch?: Launch } {
  if (dialect.lifetime === "connection" && dialect.launches !== true) return {};
  const { switches = [], env = {}, open = openingOf(loaded), ...rest } = options;
  return { launch: { argv: [...switchFlags(loaded), ...switches], env, open, ...rest } };
}

/** The time to answer an approval: the user's value, else the dialect's. */
export function answerSecondsOf({ settings, origins }: Loaded, { answerSeconds }: Dialect): number {
  const { approvalSeconds } = settings.limits;
  return origins.get("limits.approvalSeconds") === "default" ? (answerSeconds ?? approvalSeconds) : approvalSeconds;
}

/** The flags of the command line for the protocol itself. */
function switchFlags({ settings }: Loaded): string[] {
  return (settings.capabilities ?? []).flatMap((name) => ["--capability", name]);
}

/**
 * Keeps only the values of flags: a resumed session keeps its own model and tools. The approval mode is always the mode of this run: a run
 * without --auto-approve must not resume a session that runs everything unasked.
 */
function explicitConfig({ settings, origins }: Loaded): SessionConfig {
  const isFlag = (key: string): boolean => origins.get(key)?.startsWith("flag ") === true;
  const cwd = isFlag("workspace") ? { cwd: settings.workspace } : {};
  return { ...sessionConfig(settings, isFlag), mode: settings.mode, ...cwd };
}
