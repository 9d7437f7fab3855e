/** A profile: how one agent is started and how its answers are used. fields.ts says which values each key takes, file.ts reads the file. */
import type { Mode } from "../../core/config.js";
import { knownExpansions } from "../turn/plain-message.js";
import type { ProgramOutput } from "../protocol.js";
import type { Expansion, Fields, Wire } from "./fields.js";

export type { Wire } from "./fields.js";

/** An agent that is described by its command line; docs/bridge.md has each key. */
export interface Profile {
  /** The file's real path, or another text that no other profile has: sessions are kept under it. */
  id: string;
  /** The folder of {{PROFILE_DIR}} and of a relative `cwd`. */
  dir: string;
  description: string;
  /** How people install the program. */
  install: string | undefined;
  /** The words of the command before placeholders are filled in: `command`, split or not, and `args`. */
  argv: readonly string[];
  /** More words for a turn that goes on with a session. */
  resumeArgs: readonly string[];
  /** `command` as written, where it was split. */
  unsplit: string | undefined;
  stdin: "none" | "message";
  /** The folder as written; undefined is the bridge's own folder. */
  cwd: string | undefined;
  env: Readonly<Record<string, string>>;
  envInherit: "minimal" | "all";
  /** The only variables that `${NAME}` may use; undefined allows all of them. */
  envAllowlist: readonly string[] | undefined;
  /** The time of the whole turn; 0 and less is no limit. */
  timeoutSecs: number;
  /** The time without any output; 0 and less is no limit. */
  idleTimeoutSecs: number;
  killGraceSecs: number;
  /** The limit in code points; undefined is no limit of the profile's own. */
  maxReplyChars: number | undefined;
  truncationSuffix: string;
  includeStderrInReply: boolean;
  sendErrorReply: boolean;
  streaming: boolean;
  sessionLinePrefix: string;
  /** The program whose own JSON lines the agent writes, in place of AgentProc's. */
  output: ProgramOutput | undefined;
  permission: boolean;
  protocol: Wire;
  /** The parts of a message that the program would expand: the bridge writes them so that it does not. */
  expands: readonly Expansion[];
  /** The agent's own protocol, in place of AgentProc. */
  dialect: string | undefined;
  /** The provider and the model of a session of that protocol, where the profile names them. */
  provider: string | undefined;
  model: string | undefined;
  /** The mode of such a session: what the agent does unasked. Undefined is the agent's own. */
  mode: Mode | undefined;
}

const SESSION_PREFIX = "AGENT_SESSION:";
const SUFFIX = "\n\n…(truncated)";

/** The origin of a profile. Nested profiles came with later revisions, so their wire is detected where the profile names none. */
export interface ProfileOrigin {
  id: string;
  dir: string;
  nested: boolean;
  description: string;
  install: string | undefined;
}

/** `wire` overrules the profile's own. */
export function makeProfile(fields: Fields & { command: string }, origin: ProfileOrigin, wire?: Wire): Profile {
  const { id, dir, nested, description, install } = origin;
  const stdin = fields.stdin ?? "none";
  const protocol = wire ?? fields.protocol ?? (nested && stdin === "none" && fields.output === undefined ? "auto" : "0.1");
  const split = isSplit(fields, protocol);
  const argv = [...(split ? fields.command.trim().split(/\s+/) : [fields.command]), ...(fields.args ?? [])];
  return {
    id,
    dir,
    description,
    install,
    argv,
    resumeArgs: fields.resume_args ?? [],
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
    output: fields.output,
    permission: fields.permission ?? false,
    protocol,
    expands: fields.expands ?? knownExpansions(argv, fields.dialect),
    dialect: fields.dialect,
    provider: fields.provider,
    model: fields.model,
    mode: fields.mode,
  };
}

/** Wire 0.1 always splits `command`; later revisions split it only without `args`; since 0.3 it is never split. */
function isSplit({ split_command: asked, args, dialect }: Fields, protocol: Wire): boolean {
  if (asked !== undefined) return asked;
  if (protocol === "0.1" && dialect === undefined) return true;
  return args === undefined && protocol !== "0.3" && protocol !== "0.4";
}
