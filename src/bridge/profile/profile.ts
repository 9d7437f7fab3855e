/** A profile: how one agent is started and what becomes of its answers. What each key may hold: profile-fields.ts; the file: profile-file.ts. */
import { knownExpansions } from "../turn/plain-message.js";
import type { Expansion, Fields, Wire } from "./fields.js";

export type { Wire } from "./fields.js";

export interface Profile {
  /** The file's real path, or what else tells it from all others: sessions are kept under it. */
  id: string;
  /** The folder that {{PROFILE_DIR}} and a relative `cwd` mean. */
  dir: string;
  description: string;
  /** The words of the command before anything is filled in: `command`, split or not, and `args`. */
  argv: readonly string[];
  /** `command` as it was written, where it was split. */
  unsplit: string | undefined;
  stdin: "none" | "message";
  /** As written; undefined is the bridge's own. */
  cwd: string | undefined;
  env: Readonly<Record<string, string>>;
  envInherit: "minimal" | "all";
  /** The only variables that `${NAME}` may stand for; undefined is all of them. */
  envAllowlist: readonly string[] | undefined;
  /** Of the whole turn; 0 and less is no limit. */
  timeoutSecs: number;
  /** Without any output; 0 and less is no limit. */
  idleTimeoutSecs: number;
  killGraceSecs: number;
  /** In code points; undefined is no limit of the profile's own. */
  maxReplyChars: number | undefined;
  truncationSuffix: string;
  includeStderrInReply: boolean;
  sendErrorReply: boolean;
  streaming: boolean;
  sessionLinePrefix: string;
  permission: boolean;
  protocol: Wire;
  /** The parts of a message that the program would take for more than words: the bridge writes them so that it does not. */
  expands: readonly Expansion[];
  /** The agent's own protocol, in place of AgentProc. */
  dialect: string | undefined;
  /** What a session of that protocol is told, where the agent is to be told it. */
  provider: string | undefined;
  model: string | undefined;
}

const SESSION_PREFIX = "AGENT_SESSION:";
const SUFFIX = "\n\n…(truncated)";

/** What a profile was found in, and how: nested ones came with later revisions, so their wire is found out where nobody names it. */
export interface ProfileOrigin {
  id: string;
  dir: string;
  nested: boolean;
  description: string;
}

/** `wire` overrules the profile's own. */
export function makeProfile(fields: Fields & { command: string }, origin: ProfileOrigin, wire?: Wire): Profile {
  const { id, dir, nested, description } = origin;
  const stdin = fields.stdin ?? "none";
  const protocol = wire ?? fields.protocol ?? (nested && stdin === "none" ? "auto" : "0.1");
  const split = isSplit(fields, protocol);
  const argv = [...(split ? fields.command.trim().split(/\s+/) : [fields.command]), ...(fields.args ?? [])];
  return {
    id,
    dir,
    description,
    argv,
    unsplit: split && /\S\s/.test(fields.command.trim()) ? fields.command.trim() : undefined,
    stdin,
    cwd: fields.cwd,
    env: fields.env ?? {},
    envInherit: fields.env_inherit ?? "minimal",
    envAllowlist: fields.env_allowlist,
    timeoutSecs: fields.timeout_secs ?? 1800,
    idleTimeoutSecs: fields.idle_timeout_secs ?? 0,
    killGraceSecs: fields.kill_grace_secs ?? 5,
    maxReplyChars: fields.max_reply_chars,
    truncationSuffix: fields.truncation_suffix ?? SUFFIX,
    includeStderrInReply: fields.include_stderr_in_reply ?? false,
    sendErrorReply: fields.send_error_reply ?? true,
    streaming: fields.streaming ?? true,
    sessionLinePrefix: fields.session_line_prefix || SESSION_PREFIX,
    permission: fields.permission ?? false,
    protocol,
    expands: fields.expands ?? knownExpansions(argv, fields.dialect),
    dialect: fields.dialect,
    provider: fields.provider,
    model: fields.model,
  };
}

/** 0.1 splits whatever `args` says; later revisions take `args` as the sign that `command` is one word; since 0.3 it always is. */
function isSplit({ split_command: asked, args, dialect }: Fields, protocol: Wire): boolean {
  if (asked !== undefined) return asked;
  if (protocol === "0.1" && dialect === undefined) return true;
  return args === undefined && protocol !== "0.3" && protocol !== "0.4";
}
