/** The state of the agent's side that only this wire has. */
import type { Usage } from "../../../core/event.js";
import type { Out, SideEnv } from "../../dialect.js";
import type { Questions } from "../../kit/stream-json/agent/questions.js";
import type { KnownRequest } from "./read-requests.js";
import { agentSession, envelopeOf, type AgentSession, type Control as AnyControl } from "../../kit/stream-json/agent/session.js";
import { systemLine } from "./lines.js";
import { NO_SWITCHES, type Switches } from "../../kit/stream-json/agent/switches.js";
import type { RequestName } from "../wire/op-records.js";
import type { Turn } from "./write-turns.js";

/** The answer repeats `said`; `applies`, of an effort: the model takes it. */
export interface Control extends AnyControl {
  subtype: RequestName;
  said: string;
  applies?: boolean;
}

export interface AgentState extends AgentSession<KnownRequest, Control> {
  switches: Switches;
  turn: Turn | undefined;
  /** How the last turn stopped, for a host that wants to continue it. */
  unfinished: "none" | "interrupted_prompt" | "interrupted_turn";
  /** Usage of all model calls since the start. */
  usage: Usage;
  modelCalls: number;
  /** Ended tool calls by name. */
  readonly tools: Map<string, { count: number; success: number; fail: number }>;
  /** The lines of a run with one document. */
  readonly document: unknown[];
}

export function agentState(env: SideEnv, questions: Questions): AgentState {
  return {
    ...agentSession<KnownRequest, Control>(env, questions),
    switches: { ...NO_SWITCHES },
    turn: undefined,
    unfinished: "none",
    usage: { input: 0, output: 0 },
    modelCalls: 0,
    tools: new Map(),
    document: [],
  };
}

/** A line for people, where the original has none. */
export function notice(text: string, state: AgentState, level = "warning", kind?: string): Out {
  return systemLine("notice", { level, notice: text, ...(kind !== undefined && { kind }) }, envelopeOf(state));
}
