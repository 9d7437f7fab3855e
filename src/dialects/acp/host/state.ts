/** What our side remembers as the client of a driven agent: one process, its sessions, what it was asked and what it asks. */
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

/** A call as everything that was told of it says. */
export interface ToldCall {
  wire: WireCall;
  /** The text that its progress has told so far, of which the wire repeats the end. */
  shown: string;
  /** What its terminal printed, where the agent tells it in pieces. */
  printed: string | undefined;
  exitCode: number | null;
  /** The list that it wrote. */
  plan: Event | undefined;
}

export interface RunningTurn {
  readonly reader: TurnReader;
  readonly calls: Map<string, ToldCall>;
  /** Calls that were denied, by our ids. */
  readonly denied: Set<string>;
  /** Calls that wait for an answer, by our ids. */
  readonly waiting: Set<string>;
  /** Calls that are said to run, by the wire's ids: some agents ask about a call only then. */
  readonly starting: Set<string>;
  isInterrupted: boolean;
  /** The message that the open block belongs to. */
  message: string | undefined;
}

/** A prompt that waits for the end of the turn that runs: the wire has one at a time. */
export type Prompt = OpOf<"turn.prompt">;

export interface DrivenSession {
  readonly handle: string;
  /** As the wire names it, once that is known. */
  id: string | undefined;
  readonly open: OpOf<"session.open">;
  isReady: boolean;
  config: SessionConfig;
  name: string | undefined;
  modes: ModeState | undefined;
  /** Older agents have a method of their own to choose one. */
  models: { current: string; choices: readonly { value: string; name: string }[] } | undefined;
  options: ConfigOption[];
  /** A mode that the agent does not have: what it lets run unasked is allowed here. */
  answeredMode: Mode | undefined;
  /** Ops that wait until it is ready, and events that wait behind its beginning. */
  readonly held: Op[];
  readonly early: Event[];
  /** Requests that must be answered before it is ready, and what the agent could not be told. */
  setup: number;
  readonly lost: string[];
  replay: Replay | undefined;
  turn: RunningTurn | undefined;
  readonly queue: Prompt[];
  used: Usage | undefined;
  readonly summaries: Map<string, string>;
}

/** A question of the agent about a call, by our id of it. */
interface Permission {
  rpc: RpcId;
  session: DrivenSession;
  call: string;
  options: readonly PermissionOption[];
}

/** What the agent asks of its client beside permissions, by the name of our request. */
export interface ClientTask {
  rpc: RpcId;
  session: DrivenSession;
  method: AgentMethod;
  params: unknown;
}

/** One `session.configure`, which may be several requests: it is answered when the last of them is. */
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
  | { for: "list"; op: string | undefined; found: SessionInfo[]; pages: number };

export interface HostState {
  greeting: "none" | "asked" | "done";
  agent: InitializeResult | undefined;
  refused: Fault | undefined;
  /** What the first session leaves to its host: the agent is told of it once. */
  offers: NonNullable<SessionConfig["workspace"]>;
  /** Opens that wait for the greeting. */
  readonly waiting: OpOf<"session.open">[];
  readonly sessions: Map<string, DrivenSession>;
  readonly named: Map<string, DrivenSession>;
  readonly asked: Map<number, Asked>;
  nextId: number;
  readonly permissions: Map<string, Permission>;
  readonly tasks: Map<string, ClientTask>;
  /** Updates of sessions whose names are not known yet. */
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

/** The agent has no such session any more, or we have none. */
export function forget(session: DrivenSession, state: HostState): void {
  state.sessions.delete(session.handle);
  if (session.id !== undefined && state.named.get(session.id) === session) state.named.delete(session.id);
  for (const [name, task] of state.tasks) if (task.session === session) state.tasks.delete(name);
  for (const [name, permission] of state.permissions) if (permission.session === session) state.permissions.delete(name);
}

/** Calls of two sessions may have the same id. */
export function permissionKey(session: DrivenSession, call: string): string {
  return `${session.handle}\n${call}`;
}

export function agentName({ agent }: HostState): string {
  return agent?.agentInfo?.title ?? agent?.agentInfo?.name ?? "The agent";
}
