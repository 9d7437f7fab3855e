/** The state of an agent's side that every stream-json wire has: one process, one session, its prompts in their order. */
import type { SessionConfig } from "../../../core/config.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import type { Questions } from "./questions.js";
import type { Prompt } from "./wire.js";
import type { Envelope } from "./write-lines.js";

/** The answer to a prompt without a turn: the words of a command, or what was wrong. */
export type Outcome = { text: string } | { problem: string };

/** A line that gets a `result`, in the order of the lines. */
export interface Asked {
  /** The op of a prompt, which names its turn. A line that could not be read has none. */
  op?: OpOf<"turn.prompt">;
  /** The line that asked for it, on wires that say it again. */
  said?: Prompt;
  /** The same op without its command: an unknown command is a prompt. */
  plain?: OpOf<"turn.prompt">;
  /** The prompt waits here for what surrounds the session. */
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
  /** The agent's own name of the session, which hosts know. */
  sessionId: string;
  /** The op that opened the session. */
  opener: string;
  isReady: boolean;
  config: SessionConfig;
  capabilities: Record<string, unknown>;
  catalogue: Catalogue;
  /** Everything that surrounds the session is known; until then prompts wait. */
  isGathered: boolean;
  /** Servers of the host that must connect, or fail, before the first turn. */
  readonly awaited: Set<string>;
  /** The host said `initialize`, so it answers questions. */
  isControlled: boolean;
  /** The host's name of the mode, where two of its modes are one of ours. */
  modeName: string | undefined;
  /** The input of the host has ended. */
  isDeaf: boolean;
  /** The input ended while something was held. */
  drains: boolean;
  /** Nothing follows. */
  isOver: boolean;
  /** The process runs one prompt and leaves when that is answered. */
  isOneShot: boolean;
  /** By the id of the op that each request became. */
  readonly controls: Map<string, Pending>;
  /** Control requests that cannot be answered yet. */
  readonly late: { request_id: string; request: Request }[];
  readonly asked: Asked[];
  readonly questions: Questions;
  turn: { readonly id: string } | undefined;
}

export type AnySession = AgentSession<{ subtype: string }, Control>;

/** The parts of a session without its turn, whose shape is each wire's own. */
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
  };
}

type Addressed = Pick<AnySession, "env" | "session" | "sessionId">;

export function envelopeOf({ env, sessionId }: Addressed, under?: string): Envelope {
  return { env, session_id: sessionId, under: under ?? null };
}

/** The time of the event as the agent told it, or our time. */
export function timeOf(event: Event, { env }: Pick<Addressed, "env">): number {
  return event.at ?? env.stamp().at;
}

export function address({ env, session }: Addressed): { id: string; session: string } {
  return { id: env.stamp().id, session };
}

/** Interrupts the turn that was written last, or the next one. A prompt that is still held here is answered by `words`. */
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

/** A server that has connected or failed already: there may be no more news of it. */
export function isSettled(name: string, { catalogue }: Pick<AnySession, "catalogue">): boolean {
  return catalogue.mcpServers?.some((server) => server.name === name && server.status !== "connecting") === true;
}
