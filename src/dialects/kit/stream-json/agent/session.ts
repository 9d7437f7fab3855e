/** The state of the agent's side on every stream-json wire: one process, one session, and its prompts in order. */
import type { SessionConfig } from "../../../../core/config.js";
import type { Event, EventOf } from "../../../../core/event.js";
import type { Op, OpOf } from "../../../../core/op.js";
import type { SideEnv } from "../../../dialect.js";
import type { MessageWriter } from "./message-writer.js";
import type { Questions } from "./questions.js";
import type { Task } from "./tasks.js";
import type { Prompt } from "../wire.js";
import type { Envelope } from "../write-lines.js";

/** The answer to a prompt without a turn: the text of a command, or the problem. */
export type Outcome = { text: string } | { problem: string };

/** A line that needs a `result`, in the order of the lines. */
export interface Asked {
  /** The op of a prompt, which is also its turn's id. An unreadable line has none. */
  op?: OpOf<"turn.prompt">;
  /** The line with the prompt, on wires that repeat it. */
  said?: Prompt;
  /** The prompt without its command: an unknown command is sent as a prompt. */
  plain?: OpOf<"turn.prompt">;
  /** The prompt is held until the session's surroundings are known. */
  isHeld?: boolean;
  outcome?: Outcome;
  /** The number of lines that this entry stands for. */
  times?: number;
}

/** A control request of the host whose answer comes from the agent. */
export interface Control {
  request_id: string;
  subtype: string;
}

type Catalogue = Pick<EventOf<"catalog.updated">, "skills" | "subagents" | "mcpServers" | "commands">;

export interface AgentSession<Request extends { subtype: string }, Pending extends Control> {
  readonly env: SideEnv;
  session: string;
  /** The agent's own name of the session, which hosts use. */
  sessionId: string;
  /** The op that opened the session. */
  opener: string;
  isReady: boolean;
  config: SessionConfig;
  capabilities: Record<string, unknown>;
  catalogue: Catalogue;
  /** Everything around the session has loaded; until then prompts are held. */
  isGathered: boolean;
  /** Servers of the host that must connect or fail before the first turn. */
  readonly awaited: Set<string>;
  /** The host sent `initialize`, so it answers questions. */
  isControlled: boolean;
  /** The host's name of the mode, if two of its modes are one of ours. */
  modeName: string | undefined;
  /** The input of the host has ended. */
  isDeaf: boolean;
  /** The input ended while something was held. */
  drains: boolean;
  /** The last record is out. */
  isOver: boolean;
  /** The process runs one prompt and exits after its answer. */
  isOneShot: boolean;
  /** Control requests by the id of the op that each became. */
  readonly controls: Map<string, Pending>;
  /** Control requests that cannot be answered yet. */
  readonly late: { request_id: string; request: Request }[];
  readonly asked: Asked[];
  readonly questions: Questions;
  turn: { readonly id: string } | undefined;
  /** The writers of messages: of the session's own agent, and of sub-agents by their call. */
  readonly speeches: Map<string, MessageWriter>;
  /** The sub-agents that run, by their call. */
  readonly tasks: Map<string, Task>;
  /** The result that the model handed over, where the host gave a schema for it. */
  structured: { value: unknown } | undefined;
}

export type AnySession = AgentSession<{ subtype: string }, Control>;

/** The state without the turn, whose shape differs from wire to wire. */
export function agentSession<Request extends { subtype: string }, Pending extends Control>(
  env: SideEnv,
  questions: Questions,
): Omit<AgentSession<Request, Pending>, "turn"> {
  return {
    env,
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
    isOneShot: false,
    controls: new Map(),
    late: [],
    asked: [],
    questions,
    speeches: new Map(),
    tasks: new Map(),
    structured: undefined,
  };
}

type Addressed = Pick<AnySession, "env" | "session" | "sessionId">;

export function envelopeOf({ env, sessionId }: Addressed, under?: string): Envelope {
  return { env, session_id: sessionId, under: under ?? null };
}

/** The agent's time of the event, or our own. */
export function timeOf(event: Event, { env }: Pick<Addressed, "env">): number {
  return event.at ?? env.stamp().at;
}

export function address({ env, session }: Addressed): { id: string; session: string } {
  return { id: env.stamp().id, session };
}

/** Interrupts the turn written last, or the next one. A prompt that is held here is answered with `words`. */
export function interrupted(state: Addressed & Pick<AnySession, "asked" | "turn">, words: string): Op[] {
  const next = state.asked.find(({ outcome }) => outcome === undefined);
  const turn = state.turn?.id ?? next?.op?.turn;
  if (turn === undefined) return [];
  if (state.turn === undefined && next?.isHeld === true) {
    next.outcome = { problem: words };
    return [];
  }
  return [{ type: "turn.interrupt", ...address(state), turn }];
}

/** Notes servers that have connected or failed before: they may send no more events. */
export function isSettled(name: string, { catalogue }: Pick<AnySession, "catalogue">): boolean {
  return catalogue.mcpServers?.some((server) => server.name === name && server.status !== "connecting") === true;
}
