/**
 * The state of the host's side: the agent, its sessions, the prompts on the wire and the questions of
 * of both sides.
 */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import { TurnReader } from "../../kit/turn-reader.js";

/** A prompt on the wire whose turn has not ended. */
export interface SentPrompt {
  /** The prompt's id on the wire. */
  promptId: string;
  turn: string;
  /** The op of the prompt. */
  op: string | undefined;
  command: OpOf<"turn.prompt">["command"];
  /** Tools that the host runs in its turn. */
  hostTools: string[];
}

/** The running turn. */
export interface RunningTurn {
  prompt: SentPrompt;
  reader: TurnReader;
  /** Calls whose arguments still arrive in pieces, by number. */
  pieces: Map<number, { id: string; name: string; text: string }>;
  /** Calls that our side denied, or that got no answer in time. */
  denied: Set<string>;
  /** Calls that the host was asked to run, so that each is asked once. */
  handedOver: Set<string>;
  failed: Fault | undefined;
  finish: string | undefined;
  isCancelled: boolean;
  /** The agent has finished the turn; only its summary is missing. */
  isFinished: boolean;
  /** The usage of the whole turn, if the last line has it. */
  usage: Usage | undefined;
}

export interface HostedSession {
  handle: string;
  opener: string | undefined;
  /** The agent's name for it, as far as known. */
  id: string | undefined;
  /** The agent has not told its name: until then requests ask for a new session. */
  isNew: boolean;
  config: SessionConfig;
  /** The messages before the session's first prompt. */
  seed: { role: "user" | "assistant"; content: string }[];
  /** The system prompt goes with the first prompt. */
  systemIsSaid: boolean;
  prompts: SentPrompt[];
  /** Prompts held until the agent has named the new session. */
  waiting: OpOf<"turn.prompt">[];
  running: RunningTurn | undefined;
  /** The prompt whose turn ended last: its later lines are too late. */
  ended: string | undefined;
  /** The number of its prompts. */
  count: number;
  /** The session ends with its turn. */
  isClosing: boolean;
}

/** A question of the agent that waits for its answer. */
export type Question = { session: HostedSession } & (
  | { kind: "approval"; call: string; args: Record<string, unknown> }
  | { kind: "hook" | "mcp" }
  | { kind: "tool"; call: string; name: string; promptId: string }
);

export interface HostState {
  /** The agent has named its version, or has answered without naming one. */
  isGreeted: boolean;
  /** The agent has another version, or has said that it cannot go on: all its further lines are ignored. */
  refused: Fault | undefined;
  version: string | undefined;
  /** The name for the first new session. */
  firstId: string | undefined;
  /** The folder that the agent works in. */
  cwd: string | undefined;
  sessions: Map<string, HostedSession>;
  questions: Map<string, Question>;
  /** Open pings; undefined is the one by which we ask whether an agent is there. */
  pings: (string | undefined)[];
  cancels: { promptId: string; op: string | undefined; session: string }[];
  hints: Map<string, OpOf<"command.suggest">>;
}

export function hostState(): HostState {
  return {
    isGreeted: false,
    refused: undefined,
    version: undefined,
    firstId: undefined,
    cwd: undefined,
    sessions: new Map(),
    questions: new Map(),
    pings: [],
    cancels: [],
    hints: new Map(),
  };
}

export function hostedSession(op: OpOf<"session.open">): HostedSession {
  const id = op.sessionId ?? (op.open === "new" ? undefined : op.session);
  return {
    handle: op.session,
    opener: op.id,
    id,
    isNew: id === undefined,
    config: op.config ?? {},
    seed: [],
    systemIsSaid: false,
    prompts: [],
    waiting: [],
    running: undefined,
    ended: undefined,
    count: 0,
    isClosing: false,
  };
}

export function startTurn(prompt: SentPrompt, session: HostedSession): Event[] {
  const address = { session: session.handle, turn: prompt.turn, ...(prompt.op !== undefined && { parent: prompt.op }) };
  session.running = {
    prompt,
    reader: new TurnReader(address),
    pieces: new Map(),
    denied: new Set(),
    handedOver: new Set(),
    failed: undefined,
    finish: undefined,
    isCancelled: false,
    isFinished: false,
    usage: undefined,
  };
  return session.running.reader.start();
}
