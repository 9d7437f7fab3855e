/** What the host's end remembers: one process, one session, what it was asked and what it asks. */
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, Usage } from "../../../core/event.js";
import type { Answer, Op, OpOf } from "../../../core/op.js";
import { OpenWork } from "../../kit/open-work.js";
import { TurnReader } from "../../kit/turn-reader.js";

/** A prompt on the wire whose turn has not begun. */
export interface SentPrompt {
  turn: string;
  op: string | undefined;
}

/** The turn that runs. */
export interface RunningTurn {
  told: TurnReader;
  /** Calls that we denied. */
  denied: Set<string>;
  isInterrupted: boolean;
  /** Model calls of the session itself, as its messages counted them and as their beginnings did. */
  modelCalls: { counted: number; begun: number };
  /** It reached the most model calls of a turn, and was told to stop. */
  isLimited: boolean;
  /** No message of the agent came. */
  isSilent: boolean;
  /** The call whose arguments come in pieces, by the call that it happens under. */
  pieces: Map<string, { id: string; name: string }>;
  /** A provider's failure, said as an answer: held back, because the result says it again. */
  complaint: string;
}

/** A request of ours that waits for its reply. */
export type Asked =
  | { for: "initialize" | "commands" }
  | { for: "interrupt"; op: string | undefined }
  | { for: "continue"; prompt: SentPrompt }
  | { for: "change"; change: Change };

/** One `session.configure`, which may be several requests: it is answered when the last of them is. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  fault: Fault | undefined;
}

/** A question of the agent that waits for its answer. */
export type Question =
  | { kind: "approval"; call: string; input: Record<string, unknown> }
  | { kind: "mcp"; isNotification: boolean; id: unknown };

export interface HostState {
  session: string;
  sessionId: string | undefined;
  opener: string | undefined;
  isReady: boolean;
  /** Why it will not be. */
  refused: Fault | undefined;
  config: SessionConfig;
  held: Op[];
  /** What cannot be said, told once it is ready. */
  lost: Event[];
  asked: Map<string, Asked>;
  questions: Map<string, Question>;
  /** Answers to what the wire has not asked yet: it asks about one call at a time. */
  early: Map<string, Answer>;
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
  /** Of the whole process, as it was told last. Undefined for a stored session until then: its earlier turns count, and nobody says how much. */
  spent: Usage | undefined;
  /** The words of the last result. */
  lastResult: string;
  /** What surrounds the session, as it was told last. */
  catalogue: { commands: string[]; subagents: string[]; mcpServers: string[] };
  readonly work: OpenWork;
}

export function hostState(): HostState {
  return {
    session: "",
    sessionId: undefined,
    opener: undefined,
    isReady: false,
    refused: undefined,
    config: {},
    held: [],
    lost: [],
    asked: new Map(),
    questions: new Map(),
    early: new Map(),
    prompts: [],
    running: undefined,
    spent: { input: 0, output: 0 },
    lastResult: "",
    catalogue: { commands: [], subagents: [], mcpServers: [] },
    work: new OpenWork(),
  };
}

export function startTurn({ turn, op }: SentPrompt, state: HostState): Event[] {
  const told = new TurnReader({ session: state.session, turn, ...(op !== undefined && { parent: op }) });
  state.running = {
    told,
    denied: new Set(),
    isInterrupted: false,
    modelCalls: { counted: 0, begun: 0 },
    isLimited: false,
    isSilent: true,
    pieces: new Map(),
    complaint: "",
  };
  return told.start();
}
