/** The state of the agent's side that only this wire has. */
import type { TodoItem } from "../../../core/content.js";
import type { Usage } from "../../../core/event.js";
import type { SideEnv } from "../../dialect.js";
import { agentSession, type AgentSession, type Control as AnyControl } from "../../kit/stream-json/agent/session.js";
import type { AgentTurn, CountedCall } from "../../kit/stream-json/agent/turn.js";
import type { Questions } from "../../kit/stream-json/agent/questions.js";
import type { KnownRequest, RequestName } from "../wire/op-records.js";
import type { HostHooks } from "./hooks.js";
import { NO_SWITCHES, type Switches as AnySwitches } from "../../kit/stream-json/agent/switches.js";

/** A control request of the host; its answer repeats `said`. */
export interface Control extends AnyControl {
  subtype: RequestName;
  said: string;
}

/** Switches of this wire alone. */
interface Switches extends AnySwitches {
  /** Each prompt is said again when its turn begins. */
  replays: boolean;
  /** The host did not say that it answers questions. */
  asksNobody: boolean;
  /** The host hears when the session runs, waits for it, and rests. */
  tellsStates: boolean;
}

interface Turn extends AgentTurn<CountedCall & { since?: number; toldSeconds?: number }> {
  /** Usage of the session's own agent, sub-agents apart. */
  usage: Usage;
  /** The interrupt hit a call: a running, waiting or just denied one. */
  hadTools: boolean;
}

export interface AgentState extends AgentSession<KnownRequest, Control> {
  switches: Switches;
  turn: Turn | undefined;
  readonly hooks: HostHooks;
  /** Usage of all model calls since the start, sub-agents included, by model. */
  readonly spent: Map<string, { usage: Usage; cost: number }>;
  costs: number;
  /** The todo list that the model wrote last. */
  todos: readonly TodoItem[];
  /** How the session began, in the wire's word for it. */
  source: "startup" | "resume" | "fork";
  /** The model of the command line, to which a host returns by naming none. */
  ownModel: string | undefined;
  /** Calls that a hook of the host allowed: the host is not asked again. */
  readonly allowed: Set<string>;
  /** Calls that the host's user, or one of its hooks, decided about. */
  readonly decided: Map<string, "user" | "hook">;
  /** The reason for which a hook of the host ended the turn. */
  stopped: string | undefined;
  /** The host interrupts the turn: it is asked nothing more. */
  isStopping: boolean;
  /** A hook of the host kept the prompt from the model: the words that tell it. */
  blocked: string | undefined;
  /** The last result was an error: the process exits with 1, as Claude Code does. */
  isFailed: boolean;
}

export function agentState(env: SideEnv, questions: Questions, hooks: HostHooks): AgentState {
  return {
    ...agentSession<KnownRequest, Control>(env, questions),
    switches: { ...NO_SWITCHES, replays: false, asksNobody: false, tellsStates: false },
    turn: undefined,
    hooks,
    spent: new Map(),
    costs: 0,
    todos: [],
    source: "startup",
    ownModel: undefined,
    allowed: new Set(),
    decided: new Map(),
    stopped: undefined,
    isStopping: false,
    blocked: undefined,
    isFailed: false,
  };
}
