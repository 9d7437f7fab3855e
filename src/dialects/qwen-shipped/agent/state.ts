/** What the agent's side of a connection knows: one process, one session, its prompts in their order. */
import type { SessionConfig } from "../../../core/config.js";
import type { Event, EventOf, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out, SideEnv } from "../../dialect.js";
import type { Questions } from "../../kit/stream-json/questions.js";
import type { KnownRequest } from "./read-requests.js";
import type { Envelope } from "../../kit/stream-json/write-lines.js";
import { systemLine } from "./lines.js";
import type { MessageWriter } from "../../kit/stream-json/message-writer.js";
import type { Switches } from "./switches.js";
import type { RequestName } from "../wire/op-records.js";
import type { Turn } from "./write-turns.js";
import type { Task } from "./write-tasks.js";

/** What came of a prompt that no turn answered: a command's words, or what was wrong. */
export type Outcome = { text: string } | { problem: string };

/** A line that wants a `result`. They get theirs in the order in which they came. */
export interface Asked {
  /** Of a prompt: the op that it is, and its turn. A line that could not be read has none. */
  op?: OpOf<"turn.prompt">;
  /** The same without its command: what nobody knows as a command is a prompt. */
  plain?: OpOf<"turn.prompt">;
  /** Not with the agent yet: it waits for what surrounds the session. */
  isHeld?: boolean;
  outcome?: Outcome;
  /** It stands for so many lines. */
  times?: number;
}

/** A control request of the host whose answer comes from the agent, by the id of the op that it became. */
export interface Control {
  request_id: string;
  subtype: RequestName;
  /** Goes into the answer as it was said. */
  said: string;
  /** Of an effort: whether the model takes it. */
  applies?: boolean;
}

type Catalogue = Pick<EventOf<"catalog.updated">, "skills" | "subagents" | "mcpServers" | "commands">;

export interface AgentState {
  readonly env: SideEnv;
  switches: Switches;
  session: string;
  /** As the agent keeps it, and hosts know it. */
  sessionId: string;
  /** The op that opened it. */
  opener: string;
  isReady: boolean;
  config: SessionConfig;
  capabilities: Record<string, unknown>;
  catalogue: Catalogue;
  /** Nothing surrounds the session that is still on its way; until then prompts wait. */
  isGathered: boolean;
  /** Servers of the host that the first turn must have seen connect, or fail. */
  readonly awaited: Set<string>;
  /** The host said `initialize`, so it answers questions. */
  isControlled: boolean;
  /** The mode as the host said it, where two of its modes are one of ours. */
  modeName: string | undefined;
  /** The host has no more to say. */
  isDeaf: boolean;
  /** It ended while something was held. */
  drains: boolean;
  /** Nothing follows. */
  isOver: boolean;
  readonly controls: Map<string, Control>;
  /** Control requests that cannot be answered yet. */
  readonly late: { request_id: string; request: KnownRequest }[];
  readonly asked: Asked[];
  readonly questions: Questions;
  turn: Turn | undefined;
  /** How the last turn stopped, for a host that wants it to go on. */
  unfinished: "none" | "interrupted_prompt" | "interrupted_turn";
  readonly speeches: Map<string, MessageWriter>;
  readonly tasks: Map<string, Task>;
  /** Of all model calls since the start. */
  usage: Usage;
  modelCalls: number;
  /** Tool calls that ended, by name. */
  readonly tools: Map<string, { count: number; success: number; fail: number }>;
  /** What the model handed over as its result, where the host gave a schema for it. */
  structured: { value: unknown } | undefined;
  /** Lines of a run that is one document. */
  readonly document: unknown[];
}

export function agentState(env: SideEnv, questions: Questions): AgentState {
  return {
    env,
    switches: { partial: false, isOneShot: false, format: "lines" },
    session: "",
    sessionId: "",
    opener: "",
    isReady: false,
    config: {},
    capabilities: {},
    catalogue: {},
    isGathered: false,
    awaited: new Set(),
    isControlled: false,
    modeName: undefined,
    isDeaf: false,
    drains: false,
    isOver: false,
    controls: new Map(),
    late: [],
    asked: [],
    questions,
    turn: undefined,
    unfinished: "none",
    speeches: new Map(),
    tasks: new Map(),
    usage: { input: 0, output: 0 },
    modelCalls: 0,
    tools: new Map(),
    structured: undefined,
    document: [],
  };
}

export function envelopeOf(state: AgentState, under?: string): Envelope {
  return { env: state.env, session_id: state.sessionId, under: under ?? null };
}

/** When it happened: the agent's word, or ours. */
export function timeOf(event: Event, { env }: AgentState): number {
  return event.at ?? env.stamp().at;
}

export function address(state: AgentState): { id: string; session: string } {
  return { id: state.env.stamp().id, session: state.session };
}

/** What is for people, and the original has no line for. */
export function notice(text: string, state: AgentState, level = "warning", kind?: string): Out {
  return systemLine("notice", { level, notice: text, ...(kind !== undefined && { kind }) }, envelopeOf(state));
}
