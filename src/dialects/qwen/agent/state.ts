/** The state of our side when we are the agent: its sessions, their turns, and the lines that wait for an answer. */
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

/** A line of the host, or what is wrong with it. */
export type HostLine = { rec: unknown } | { bad: string };

export interface AgentState {
  formats: Formats;
  /** Lines are chunks. */
  chunks: boolean;
  /** The configuration that the command line gives every session. */
  defaults: SessionConfig;
  fingerprint: string | undefined;
  /** The sessions by handle. */
  readonly sessions: Map<string, ClientSession>;
  /** The session of the receipt, until a request takes it. */
  untaken: ClientSession | undefined;
  /** The session that was spoken of last: a line without a session means it. */
  active: ClientSession | undefined;
  /** The receipt is out; until then everything waits. */
  isReceived: boolean;
  readonly early: HostLine[];
  /** Ops whose outcome is a line of its own, by id. */
  readonly asked: Map<string, Asked>;
  /** The latest hint that waits, by session, prompt and trigger: a later one of the same makes it void. */
  readonly hints: Map<string, string>;
  /** Control requests that wait for a response, by id; and those that need none any more. */
  readonly control: Map<string, ControlQuestion>;
  readonly void: Set<string>;
  controlCount: number;
  /** No more input comes, so the host answers nothing. */
  isDeaf: boolean;
  /** How much waits, for the receipt or for a session. */
  heldBytes: number;
  /** The last line of all, when the process cannot go on, and its exit code. */
  last: { says: (session: ClientSession | undefined) => Out; exit: number } | undefined;
  isOver: boolean;
}

/** A session as its host sees it. */
export interface ClientSession {
  readonly handle: string;
  /** The session's name on the wire. */
  id: string;
  isReady: boolean;
  /** A stored one of that name has been tried. */
  isResumed: boolean;
  /** Nothing was said in the session yet. */
  isFresh: boolean;
  config: SessionConfig;
  /** Requests that wait for the session, or for the host's own servers to be connected. */
  readonly held: Chat[];
  readonly awaited: Set<string>;
  /** The last number of its prompts, and the last prompt itself. */
  prompts: number;
  lastPrompt: string | undefined;
  /** Asked for and not ended, in order; the one that runs. */
  readonly turns: Map<string, Turn>;
  live: Turn | undefined;
  /** The session's host asked for terminal annotations. */
  showsTerminal: boolean;
  /** Chunks: the role of the session's next turn is declared already. */
  hasRole: boolean;
  /** Errors of the control channel, for the next line that can carry them. */
  readonly controlErrors: ControlFailure[];
  /** Hints that one for another prompt has overtaken: they are asked for again behind it. */
  readonly overtaken: HintAsked[];
  /** Calls that the host runs, and the requests that wait for them; undefined once it has answered. */
  readonly hostCalls: Map<string, string | undefined>;
  /** Answers of a quick host about calls that it was not asked for yet. */
  readonly earlyResponses: Map<string, { ok: boolean; data: unknown }>;
}

export interface Turn {
  readonly id: string;
  readonly promptId: string;
  readonly model: string | undefined;
  /** Tools of it that the host runs. */
  readonly hostTools: ReadonlySet<string>;
  /** The `at` command of the prompt: its result is told as soon as the turn begins. */
  readonly command: CommandRef | undefined;
  startedAt: number;
  /** Model calls, and how far the one that runs is told of. */
  calls: number;
  isCounted: boolean;
  isMeasured: boolean;
  fault: Fault | undefined;
  usage: Usage | undefined;
  /** The agents by the call that they work under; "" is the session's own agent. */
  readonly scopes: Map<string, Scope>;
  readonly shown: Map<string, ShownCall>;
}

/** One agent within a turn, the session's own or a sub-agent: the output that is not written yet. */
export interface Scope {
  readonly under: string | undefined;
  /** A text that waits for its usage. */
  text: string | undefined;
  usage: Usage | undefined;
  /** Calls of one response, until the last of them is known. */
  readonly calls: Call[];
  /** Chunks: the calls of the response whose pieces go out. */
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
  /** The arguments that the host approved in place of the model's. */
  changed: Record<string, unknown> | undefined;
  /** The calls of the sub-agents of a Spawn call. */
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

/** The question of a control request, and its target; `fields` make the same request under another id. */
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

/** A turn without a prompt of the host goes on with the last prompt. */
export function turnNamed(session: ClientSession, id: string): Turn {
  const known = session.turns.get(id);
  if (known !== undefined) return known;
  const turn = newTurn(id, session.lastPrompt ?? `${session.id}########${++session.prompts}`, session.config.model);
  session.turns.set(id, turn);
  return turn;
}
