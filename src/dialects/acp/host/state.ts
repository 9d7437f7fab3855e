/** The state of the host's side: one agent process, its sessions, our open requests and its open requests. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { TurnReader } from "../../kit/turn-reader.js";
import type { AgentMethod } from "../wire/records.js";
import type { PermissionOption } from "../wire/requests.js";
import type { RpcId } from "../wire/rpc.js";
import type { ConfigOption, InitializeResult, ModeState, SessionInfo } from "../wire/sessions.js";
import type { WireCall } from "../wire/updates.js";
import type { Choosing } from "./options.js";
import type { Replay } from "./replay.js";

/** A call with all fields that its updates have told. */
export interface ToldCall {
  wire: WireCall;
  /** The progress text emitted so far; the wire repeats its end. */
  shown: string;
  /** Output of its terminal, if the agent sends it in pieces. */
  printed: string | undefined;
  exitCode: number | null;
  /** The end of a TodoWrite call, with the plan that the agent sent. */
  plan: Event | undefined;
}

export interface RunningTurn {
  readonly reader: TurnReader;
  readonly calls: Map<string, ToldCall>;
  /** Denied calls, by our ids. */
  readonly denied: Set<string>;
  /** Calls with an open approval, by our ids. */
  readonly waiting: Set<string>;
  /** Calls reported as running, by the wire's ids. Their start is held, as some agents ask for permission after this report. */
  readonly starting: Set<string>;
  isInterrupted: boolean;
  /** The wire's message id of the open block. */
  message: string | undefined;
  /** Usage of the turn, if the agent tells it in an extension. */
  used: Usage | undefined;
}

/** A prompt that waits for the end of the running turn: the wire has one turn at a time. */
export type Prompt = OpOf<"turn.prompt">;

export interface DrivenSession {
  readonly handle: string;
  /** The session's name on the wire; undefined until the agent has told it. */
  id: string | undefined;
  readonly open: OpOf<"session.open">;
  isReady: boolean;
  config: SessionConfig;
  name: string | undefined;
  modes: ModeState | undefined;
  /** Models that older agents list outside the options; `session/set_model` chooses one. */
  models: { current: string; choices: readonly { value: string; name: string }[] } | undefined;
  options: ConfigOption[];
  /** A mode that the agent lacks and that our side plays by answering its permission requests. */
  answeredMode: Mode | undefined;
  /** Ops held until the session is ready. `early` has events held until then. */
  readonly held: Op[];
  readonly early: Event[];
  /** The number of requests to be answered before the session is ready. `lost` has warnings about settings that the agent cannot take. */
  setup: number;
  readonly lost: string[];
  replay: Replay | undefined;
  turn: RunningTurn | undefined;
  readonly queue: Prompt[];
  used: Usage | undefined;
  readonly summaries: Map<string, string>;
}

/** A permission request of the agent; `call` is our id of the call. */
interface Permission {
  rpc: RpcId;
  session: DrivenSession;
  call: string;
  options: readonly PermissionOption[];
}

/** A request of the agent other than a permission, kept by the name of our `host.request`. */
export interface ClientTask {
  rpc: RpcId;
  session: DrivenSession;
  method: AgentMethod;
  params: unknown;
}

/** One `session.configure`. It may take several requests and is answered after the last of them. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  patch: SessionConfig;
  fault: Fault | undefined;
}

/** A request of ours that waits for its answer. */
export type Asked =
  | { for: "initialize" }
  | { for: "authenticate"; open: OpOf<"session.open"> }
  | { for: "open"; session: DrivenSession; isRetry: boolean }
  | { for: "setup"; session: DrivenSession; choice: Choosing; what: string; isVital: boolean }
  | { for: "change"; session: DrivenSession; change: Change; choice: Choosing }
  | { for: "prompt"; session: DrivenSession; turn: RunningTurn }
  | { for: "steer"; session: DrivenSession; op: OpOf<"turn.steer"> }
  | { for: "close"; session: DrivenSession }
  | { for: "delete"; op: OpOf<"session.delete"> }
  | { for: "mark"; op: OpOf<"session.mark">; isNamed: boolean }
  | { for: "list"; op: string | undefined; found: SessionInfo[]; pages: number };

export interface HostState {
  greeting: "none" | "asked" | "done";
  agent: InitializeResult | undefined;
  refused: Fault | undefined;
  /** The work that the first session's config leaves to the host. `initialize` tells the agent once, for all sessions. */
  offers: NonNullable<SessionConfig["workspace"]>;
  /** Openings that wait for the answer to `initialize`. */
  readonly waiting: OpOf<"session.open">[];
  readonly sessions: Map<string, DrivenSession>;
  readonly named: Map<string, DrivenSession>;
  readonly asked: Map<number, Asked>;
  nextId: number;
  readonly permissions: Map<string, Permission>;
  readonly tasks: Map<string, ClientTask>;
  /** Updates of sessions whose opening is not answered yet. */
  readonly unnamed: Map<string, unknown[]>;
}

export function hostState(): HostState {
  return {
    greeting: "none",
    agent: undefined,
    refused: undefined,
    offers: {},
    waiting: [],
    sessions: new Map(),
    named: new Map(),
    asked: new Map(),
    nextId: 0,
    permissions: new Map(),
    tasks: new Map(),
    unnamed: new Map(),
  };
}

export function drivenSession(open: OpOf<"session.open">): DrivenSession {
  return {
    handle: open.session,
    id: open.open === "resume" && open.fork !== true ? (open.sessionId ?? open.session) : undefined,
    open,
    isReady: false,
    config: open.config ?? {},
    name: open.name,
    modes: undefined,
    models: undefined,
    options: [],
    answeredMode: undefined,
    held: [],
    early: [],
    setup: 0,
    lost: [],
    replay: undefined,
    turn: undefined,
    queue: [],
    used: undefined,
    summaries: new Map(),
  };
}

/** Removes an ended or refused session with its open requests. */
export function forget(session: DrivenSession, state: HostState): void {
  state.sessions.delete(session.handle);
  if (session.id !== undefined && state.named.get(session.id) === session) state.named.delete(session.id);
  for (const [name, task] of state.tasks) if (task.session === session) state.tasks.delete(name);
  for (const [name, permission] of state.permissions) if (permission.session === session) state.permissions.delete(name);
}

/** The key has the session in it, as calls of two sessions may have the same id. */
export function permissionKey(session: DrivenSession, call: string): string {
  return `${session.handle}\n${call}`;
}

export function agentName({ agent }: HostState): string {
  return agent?.agentInfo?.title ?? agent?.agentInfo?.name ?? "The agent";
}
