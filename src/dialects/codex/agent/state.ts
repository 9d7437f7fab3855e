/** What the agent's end remembers: the client, its threads with the turns that were told, what waits for the agent, and open questions. */
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
  /** Of its items, once it is over. */
  bytes: number;
}

/** A stream of items: of a thread's own turn, or of a sub-agent, which is a thread of its own on this wire. */
export interface Lane {
  threadId: string;
  turn: KeptTurn;
  /** The block that is open. */
  block: { id: string; kind: "text" | "thinking"; text: string } | undefined;
  /** How many items of ours the turn has had: they are named by their number. */
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
  isKept: boolean;
  config: SessionConfig;
  /** Ops that change it and are not answered: until then nobody can tell what is a change. */
  changing: Set<string>;
  /** What would be asked is denied. */
  never: boolean;
  shown: Policy;
  preview: string;
  name: string | undefined;
  createdAt: number;
  turns: KeptTurn[];
  /** The thread's own turn that runs, and under the calls of sub-agents theirs. */
  lanes: Map<string, Lane>;
  /** The turn whose start was told last. */
  lastTurn: string | undefined;
  /** The client's input of turns that have not begun, by their ids; `op` is the prompt that each was asked with. */
  inputs: Map<string, { op: string; input: UserInput[]; schema?: Record<string, unknown> | undefined }>;
  /** The turn begun last, where the agent does not take the id that the client was answered. */
  renamed: { agent: string; client: string } | undefined;
  calls: Map<string, ShownCall>;
  usage: Usage | undefined;
  isCounted: boolean;
  /** Why the turn that runs fails. */
  fault: Fault | undefined;
  /** What the model handed over for a schema. */
  structured: { value: unknown } | undefined;
  /** A schema binds the turn that runs. */
  wantsStructure: boolean;
  /** Calls that the client accepted for the whole session, each by what it does. */
  accepted: Set<string>;
  /** Questions that are open. */
  asking: number;
  /** A summary that the client asked for, which is a turn on this wire. */
  compacting: { turn: string; begun: boolean } | undefined;
  /** The request that asked for its end. */
  closer: RequestId | undefined;
  /** Replayed events that are still to come. */
  replayLeft: number;
  /** Called once all replayed events are there. */
  onReplayed: (() => unknown[]) | undefined;
}

export interface OpenThread {
  handle: string;
  config: SessionConfig;
  asking: Asking | undefined;
  shown: Policy | undefined;
}

export type ClientQuestion = { id: number; thread: ClientThread } & (
  | { kind: "approval"; call: string; key: string; form: "decision" | "elicitation" }
  | { kind: "tool" | "input" | "elicitation"; request: string }
);

export interface AgentState {
  isGreeted: boolean;
  client: string;
  /** Notifications that the client does not want. */
  muted: ReadonlySet<string>;
  /** What the command line says of every session. */
  defaults: SessionConfig;
  cwd: string | undefined;
  readonly threads: Map<string, ClientThread>;
  /** Sessions that are being opened, by the ids of their ops. */
  readonly opening: Map<string, OpenThread>;
  /** Events of a session that is not told yet. */
  readonly early: Event[];
  /** What becomes of the agent's answer to an op of ours. */
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
