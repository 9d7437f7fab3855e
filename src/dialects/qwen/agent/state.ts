/** The state of the agent's side: its sessions, their turns, and the requests without an answer. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Call, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out } from "../../dialect.js";
import type { Formats } from "../launch.js";
import type { Chat } from "./read-ops.js";
import { AnsiReader } from "./terminal.js";
import type { ControlFailure } from "../wire/event-records.js";
import type { CommandRef } from "../wire/op-records.js";

/** A line of the host, or its problem. */
export type HostLine = { rec: unknown } | { bad: string };

export interface AgentState {
  formats: Formats;
  /** The host's format is chunks. */
  chunks: boolean;
  /** The config of the command line, for every session. */
  defaults: SessionConfig;
  fingerprint: string | undefined;
  /** The sessions by handle. */
  readonly sessions: Map<string, ClientSession>;
  /** The session of the receipt, until a request takes it. */
  untaken: ClientSession | undefined;
  /** The last session that was named: a line without a session is for it. */
  active: ClientSession | undefined;
  /** The receipt is out; until then all lines are held. */
  isReceived: boolean;
  readonly early: HostLine[];
  /** Ops whose outcome is a line of its own, by id. */
  readonly asked: Map<string, Asked>;
  /** The newest open hint by session, prompt and trigger: a later one drops it. */
  readonly hints: Map<string, string>;
  /** Open control requests by id, and the ids of settled ones. */
  readonly control: Map<string, ControlQuestion>;
  readonly void: Set<string>;
  controlCount: number;
  /** The input has ended, so the host answers nothing more. */
  isDeaf: boolean;
  /** The number of held lines and requests. */
  heldBytes: number;
  /** The last line, with the exit code, if the process cannot go on. */
  last: { says: (session: ClientSession | undefined) => Out; exit: number } | undefined;
  isOver: boolean;
}

/** A session as its host sees it. */
export interface ClientSession {
  readonly handle: string;
  /** The session's name on the wire. */
  id: string;
  isReady: boolean;
  /** Resuming a stored session of that name has been tried. */
  isResumed: boolean;
  /** The conversation is empty. */
  isFresh: boolean;
  config: SessionConfig;
  /** Requests held for the session, or for the host's servers to connect. */
  readonly held: Chat[];
  readonly awaited: Set<string>;
  /** The last number of its prompts, and the last prompt. */
  prompts: number;
  lastPrompt: string | undefined;
  /** Open turns in order, and the running one. */
  readonly turns: Map<string, Turn>;
  live: Turn | undefined;
  /** The session's host asked for terminal annotations. */
  showsTerminal: boolean;
  /** In chunks: the role of the next turn has been declared. */
  hasRole: boolean;
  /** Errors of the control channel for the next line. */
  readonly controlErrors: ControlFailure[];
  /** Hints that were replaced by one for another prompt: they are asked again after it. */
  readonly overtaken: HintAsked[];
  /** Calls that the host runs, with the requests that wait for them; undefined once answered. */
  readonly hostCalls: Map<string, string | undefined>;
  /** Early answers about calls that the host was not asked for yet. */
  readonly earlyResponses: Map<string, { ok: boolean; data: unknown }>;
}

export interface Turn {
  readonly id: string;
  readonly promptId: string;
  readonly model: string | undefined;
  /** Tools that the host runs. */
  readonly hostTools: ReadonlySet<string>;
  /** The `at` command of the prompt: its result is written when the turn begins. */
  readonly command: CommandRef | undefined;
  startedAt: number;
  /** The number of model calls, and how far the present one has been written. */
  calls: number;
  isCounted: boolean;
  isMeasured: boolean;
  fault: Fault | undefined;
  usage: Usage | undefined;
  /** Agents by the call that they are under; "" is the session's own agent. */
  readonly scopes: Map<string, Scope>;
  readonly shown: Map<string, ShownCall>;
}

/** One agent in a turn, the session's own or a sub-agent, with its unwritten output. */
export interface Scope {
  readonly under: string | undefined;
  /** A text that waits for its usage. */
  text: string | undefined;
  usage: Usage | undefined;
  /** Calls of one response, held until the last of them is known. */
  readonly calls: Call[];
  /** In chunks: the calls of the response whose arguments are being written. */
  readonly pieces: Map<string, Pieces>;
  readonly ansi: AnsiReader;
}

interface Pieces {
  index: number;
  isNamed: boolean;
  held: string;
}

export interface ShownCall {
  readonly call: Call;
  readonly under: string | undefined;
  status: "pending" | "confirming" | "executing" | "ended";
  /** The arguments that the host approved instead of the model's. */
  changed: Record<string, unknown> | undefined;
  /** Calls of the sub-agents of a Spawn call. */
  readonly children: Map<string, { name: string; status: string }>;
  readonly ansi: { stdout: AnsiReader; stderr: AnsiReader };
}

/** The purpose of an op, for the line that answers it. */
export type Asked =
  | { kind: "open"; session: ClientSession }
  | { kind: "prompt"; session: ClientSession; turn: Turn; command: CommandRef | undefined; firstCall: Chat["firstCall"] }
  | { kind: "steer"; session: ClientSession; request: Chat }
  | { kind: "guidance"; session: ClientSession; promptId: string; at: number }
  | { kind: "cancel"; session: ClientSession; promptId: string | undefined; reason: string | undefined; requestId: string | undefined }
  | HintAsked
  | { kind: "change"; session: ClientSession };

export interface HintAsked {
  kind: "hint";
  session: ClientSession;
  promptId: string | undefined;
  trigger: "slash" | "at";
  requestId: string | undefined;
  op: OpOf<"command.suggest">;
}

/** The question of a control request, and its target; `fields` repeat the request under another id. */
export interface ControlQuestion {
  session: ClientSession;
  subtype: "can_use_tool" | "hook_callback" | "mcp_message";
  /** The call of an approval, or the host request. */
  target: string;
  isRetried: boolean;
  fields: Record<string, unknown>;
}

export function agentState(): AgentState {
  return {
    formats: { input: "stream-json", output: "stream-json" },
    chunks: false,
    defaults: {},
    fingerprint: undefined,
    sessions: new Map(),
    untaken: undefined,
    active: undefined,
    isReceived: false,
    early: [],
    asked: new Map(),
    hints: new Map(),
    control: new Map(),
    void: new Set(),
    controlCount: 0,
    isDeaf: false,
    heldBytes: 0,
    last: undefined,
    isOver: false,
  };
}

export function clientSession(handle: string): ClientSession {
  return {
    handle,
    id: handle,
    isReady: false,
    isResumed: false,
    isFresh: true,
    config: {},
    held: [],
    awaited: new Set(),
    prompts: 0,
    lastPrompt: undefined,
    turns: new Map(),
    live: undefined,
    showsTerminal: false,
    hasRole: false,
    controlErrors: [],
    overtaken: [],
    hostCalls: new Map(),
    earlyResponses: new Map(),
  };
}

export function newTurn(
  id: string,
  promptId: string,
  model: string | undefined,
  command?: CommandRef,
  hostTools: ReadonlySet<string> = new Set(),
): Turn {
  return {
    id,
    promptId,
    model,
    hostTools,
    command,
    startedAt: 0,
    calls: 0,
    isCounted: false,
    isMeasured: false,
    fault: undefined,
    usage: undefined,
    scopes: new Map(),
    shown: new Map(),
  };
}

export function scopeOf(turn: Turn, under: string | undefined): Scope {
  const known = turn.scopes.get(under ?? "");
  if (known !== undefined) return known;
  const scope: Scope = { under, text: undefined, usage: undefined, calls: [], pieces: new Map(), ansi: new AnsiReader() };
  turn.scopes.set(under ?? "", scope);
  return scope;
}

export function shownCall(call: Call, under: string | undefined): ShownCall {
  const ansi = { stdout: new AnsiReader(), stderr: new AnsiReader() };
  return { call, under, status: "pending", changed: undefined, children: new Map(), ansi };
}

/** Finds a session by its name on the wire, or by its handle. */
export function sessionNamed(state: AgentState, id: string): ClientSession | undefined {
  return [...state.sessions.values()].find((session) => session.id === id) ?? state.sessions.get(id);
}

/** A turn without a prompt of the host belongs to the last prompt. */
export function turnNamed(session: ClientSession, id: string): Turn {
  const known = session.turns.get(id);
  if (known !== undefined) return known;
  const turn = newTurn(id, session.lastPrompt ?? `${session.id}########${++session.prompts}`, session.config.model);
  session.turns.set(id, turn);
  return turn;
}
