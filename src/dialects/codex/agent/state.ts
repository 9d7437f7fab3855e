/** The state of the agent's side: the client, its threads with their kept turns, requests that wait for the agent, and open questions. */
import type { Questions } from "../../../core/question.js";
import type { SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Call, Event, Usage } from "../../../core/event.js";
import type { Op } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import type { AnyItem, UserInput } from "../wire/items.js";
import type { Asking, Policy } from "../wire/policy.js";
import type { RequestId } from "../wire/requests.js";

/** A turn as `thread/read` shows it. */
export interface KeptTurn {
  id: string;
  items: AnyItem[];
  status: "completed" | "interrupted" | "failed" | "inProgress";
  error: unknown;
  startedAt: number;
  completedAt: number | null;
  /** The size of its items; set at its end. */
  bytes: number;
}

/** A stream of items: that of a thread's own turn, or of a sub-agent, which is a thread of its own on this wire. */
export interface Lane {
  threadId: string;
  turn: KeptTurn;
  /** The open block of text or thinking. */
  block: { id: string; kind: "text" | "thinking"; text: string } | undefined;
  /** The number of items that this side has named in the turn; the next name has the next number. */
  count: number;
}

interface ShownCall {
  call: Call;
  lane: Lane;
  item: AnyItem;
}

export interface ClientThread {
  handle: string;
  threadId: string;
  forkedFrom: string | undefined;
  isKept: boolean;
  config: SessionConfig;
  /** Unanswered ops that change the config. Until their answers a settings notification cannot be told from an echo. */
  changing: Set<string>;
  /** The policy `never`: approvals are denied without asking the client. */
  never: boolean;
  shown: Policy;
  preview: string;
  name: string | undefined;
  createdAt: number;
  turns: KeptTurn[];
  /** Lanes by the call of their sub-agent; the key of the thread's own turn is "". */
  lanes: Map<string, Lane>;
  /** The turn that started last. */
  lastTurn: string | undefined;
  /** The client's input of queued turns, by turn id; `op` is the id of the prompt. */
  inputs: Map<string, { op: string; input: UserInput[]; schema?: Record<string, unknown> | undefined }>;
  /** Both ids of the last turn, if the agent did not take the id that the client was given. */
  renamed: { agent: string; client: string } | undefined;
  calls: Map<string, ShownCall>;
  usage: Usage | undefined;
  isCounted: boolean;
  /** The fault of the running turn. */
  fault: Fault | undefined;
  /** The result that the model handed over for a schema. */
  structured: { value: unknown } | undefined;
  /** The running turn has an output schema. */
  wantsStructure: boolean;
  /** The calls that the client accepted for the session, by their `acceptKey`. */
  accepted: Set<string>;
  /** The reasons why the thread waits, in the wire's words. */
  waitsFor: readonly string[];
  /** The compaction that the client asked for; it is a turn on this wire. */
  compacting: { turn: string; begun: boolean } | undefined;
  /** The request that closes the thread. */
  closer: RequestId | undefined;
  /** The number of replayed events still to come. */
  replayLeft: number;
  /** Called after the last replayed event. */
  onReplayed: (() => unknown[]) | undefined;
}

export interface OpenThread {
  handle: string;
  /** The thread that it is a copy of. */
  forkedFrom?: string;
  config: SessionConfig;
  asking: Asking | undefined;
  shown: Policy | undefined;
}

export type ClientQuestion = { id: number; thread: ClientThread } & (
  | { kind: "approval"; call: string; key: string; form: "decision" | "elicitation" }
  | { kind: "tool" | "elicitation"; request: string }
  | { kind: "input"; request: string; questions: Questions["questions"] }
);

export interface AgentState {
  isGreeted: boolean;
  client: string;
  /** Notifications that the client switched off. */
  muted: ReadonlySet<string>;
  /** The config of the command line, for every session. */
  defaults: SessionConfig;
  cwd: string | undefined;
  readonly threads: Map<string, ClientThread>;
  /** Sessions being opened, by the id of the op. */
  readonly opening: Map<string, OpenThread>;
  /** Events of sessions being opened. */
  readonly early: Event[];
  /** Handlers of the agent's answers, by the id of the op. */
  readonly waiting: Map<string, (event: Event) => Step<Op>>;
  readonly questions: Map<RequestId, ClientQuestion>;
  lastQuestion: number;
}

export function agentState(): AgentState {
  return {
    isGreeted: false,
    client: "codex",
    muted: new Set(),
    defaults: {},
    cwd: undefined,
    threads: new Map(),
    opening: new Map(),
    early: [],
    waiting: new Map(),
    questions: new Map(),
    lastQuestion: 0,
  };
}

export function threadOfHandle(handle: string | undefined, { threads }: AgentState): ClientThread | undefined {
  return handle === undefined ? undefined : [...threads.values()].find((thread) => thread.handle === handle);
}
