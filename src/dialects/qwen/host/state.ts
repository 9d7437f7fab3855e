/**
 * The state of our side when we drive the agent: the agent behind the connection, its sessions, the prompts on the wire and the questions
 * of both sides.
 */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import { TurnReader } from "../../kit/turn-reader.js";

/** A prompt on the wire whose turn has not ended. */
export interface SentPrompt {
  /** The prompt's name on the wire. */
  promptId: string;
  turn: string;
  /** The op that asked for it. */
  op: string | undefined;
  command: OpOf<"turn.prompt">["command"];
  /** Tools that the host runs in its turn. */
  hostTools: string[];
}

/** The turn that runs. */
export interface RunningTurn {
  prompt: SentPrompt;
  reader: TurnReader;
  /** Calls whose arguments still come in pieces, by their numbers. */
  pieces: Map<number, { id: string; name: string; text: string }>;
  /** Calls that we denied, or that got no answer in time. */
  denied: Set<string>;
  /** Calls that the host was asked to run: once, however often they are shown. */
  handedOver: Set<string>;
  failed: Fault | undefined;
  finish: string | undefined;
  isCancelled: boolean;
  /** The agent says that the turn has finished; only its summary is missing. */
  isFinished: boolean;
  /** The usage of the whole turn, where the closing line tells it. */
  usage: Usage | undefined;
}

export interface HostedSession {
  handle: string;
  opener: string | undefined;
  /** The agent's name for it, as far as we know. */
  id: string | undefined;
  /** The agent has not said its name yet: until then it is asked for as a new one. */
  isNew: boolean;
  config: SessionConfig;
  /** The messages before the session's first prompt. */
  seed: { role: "user" | "assistant"; content: string }[];
  /** The system prompt is said with the first prompt. */
  systemIsSaid: boolean;
  prompts: SentPrompt[];
  /** Prompts that wait until the agent has said what a new session is called. */
  waiting: OpOf<"turn.prompt">[];
  running: RunningTurn | undefined;
  /** The prompt whose turn ended last: its later lines come too late. */
  ended: string | undefined;
  /** How many prompts it has had. */
  count: number;
  /** The session ends when its turn has ended. */
  isClosing: boolean;
}

/** A question of the agent that waits for its answer. */
export type Question = { session: HostedSession } & (
  | { kind: "approval"; call: string; args: Record<string, unknown> }
  | { kind: "hook" | "mcp" }
  | { kind: "tool"; call: string; name: string; promptId: string }
);

export interface HostState {
  /** The agent has said which version it speaks, or has shown that it speaks without saying so. */
  isGreeted: boolean;
  /** The agent's version is none of ours, or the agent said that it cannot go on: nothing that it says counts any more. */
  refused: Fault | undefined;
  version: string | undefined;
  /** The name that the first new session will have. */
  firstId: string | undefined;
  /** The folder that the agent works in. */
  cwd: string | undefined;
  sessions: Map<string, HostedSession>;
  questions: Map<string, Question>;
  /** Pings on the wire; undefined is the one with which we ask whether an agent is there. */
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
