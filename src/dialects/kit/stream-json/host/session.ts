/** The state of a host's side on every stream-json wire: one process, one session, the open requests of both sides. */
import type { SessionConfig } from "../../../../core/config.js";
import type { Fault } from "../../../../core/errors.js";
import type { Event, EventOf } from "../../../../core/event.js";
import type { SideEnv } from "../../../dialect.js";
import { AgentQuestions } from "./agent-questions.js";
import type { Purpose } from "./changes.js";
import { SentRequests } from "./sent-requests.js";
import type { HostTurn, SentPrompt } from "./turns.js";

/** `Own` are the purposes of requests that only one wire has. */
export interface HostSession<Turn extends HostTurn, Own = never> {
  session: string;
  /** Undefined while only the agent knows the id. */
  sessionId: string | undefined;
  opener: string | undefined;
  isReady: boolean;
  /** The reason for which the session cannot begin. */
  refused: Fault | undefined;
  config: SessionConfig;
  /** Warnings about settings that the wire cannot say, emitted after `session.ready`. */
  lost: Event[];
  readonly requests: SentRequests<Purpose | Own>;
  readonly questions: AgentQuestions;
  prompts: SentPrompt[];
  running: Turn | undefined;
  /** Adds the fields of this wire to a turn that begins. */
  readonly turnFrom: (turn: HostTurn) => Turn;
}

export function hostSession<Turn extends HostTurn, Own = never>(env: SideEnv, turnFrom: (turn: HostTurn) => Turn): HostSession<Turn, Own> {
  return {
    session: "",
    sessionId: undefined,
    opener: undefined,
    isReady: false,
    refused: undefined,
    config: {},
    lost: [],
    requests: new SentRequests(env),
    questions: new AgentQuestions(),
    prompts: [],
    running: undefined,
    turnFrom,
  };
}

/** The answer to the handshake: the session is ready, or the reason for which it cannot begin. */
export function onReady(
  { fault, capabilities }: { fault: Fault | undefined; capabilities: Record<string, unknown> },
  state: Pick<HostSession<HostTurn>, "session" | "sessionId" | "opener" | "isReady" | "refused" | "config">,
): EventOf<"session.ready"> | undefined {
  if (fault !== undefined) {
    state.refused = fault;
    return undefined;
  }
  state.isReady = true;
  const { session, opener, sessionId, config } = state;
  return {
    type: "session.ready",
    session,
    ...(opener !== undefined && { parent: opener }),
    ...(sessionId !== undefined && { sessionId }),
    config: { ...(config.model !== undefined && { model: config.model }), mode: config.mode ?? "default" },
    capabilities: { approvals: true, thinking: true, catalog: true, ...capabilities },
  };
}
