/** The state of the agent's side: the client, its sessions, its open requests and our open questions. */
import type { SessionConfig } from "../../../core/config.js";
import type { Call, EventOf, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { RpcId } from "../wire/rpc.js";
import type { ClientCapabilities } from "../wire/sessions.js";

/** A `session/prompt` that is not answered yet. */
export interface AskedPrompt {
  rpc: RpcId;
  op: string;
  turn: string;
  /** The prompt as plain text, if it was sent as a command that the agent may not have. */
  plain: OpOf<"turn.prompt"> | undefined;
}

/** A call without an end. */
interface OpenCall {
  call: Call;
  turn: string | undefined;
  /** The last characters of its progress. */
  tail: string;
  /** The client shows a terminal for the call and gets its output in pieces. */
  showsTerminal: boolean;
  /** The id of the terminal that the client shows with the call, once something is in it. */
  terminal: string | undefined;
}

export interface ClientSession {
  readonly handle: string;
  /** The session's name on the wire. */
  id: string;
  isReady: boolean;
  config: SessionConfig;
  name: string | undefined;
  capabilities: Record<string, unknown>;
  /** Names of commands; undefined until the agent has listed them. */
  commands: ReadonlySet<string> | undefined;
  readonly calls: Map<string, OpenCall>;
  /** The message on the wire that the open block writes to. */
  message: { kind: "text" | "thinking"; id: string } | undefined;
  readonly prompts: AskedPrompt[];
  /** The number of replayed events still to come, and the request that is answered after them. */
  replay: { left: number; rpc: RpcId } | undefined;
  /** The mode and the options as the client knows them. */
  told: { mode: string; options: string };
  used: { usage: Usage; cost: number | undefined } | undefined;
  compaction: string | undefined;
}

/** Which sessions a list has. */
export type ArchiveFilter = "exclude" | "include" | "only";

/** A request of the client that waits for an event. */
export type Pending =
  | { for: "open"; rpc: RpcId; method: string; op: OpOf<"session.open"> }
  | { for: "close"; rpc: RpcId; session: ClientSession }
  | { for: "list"; rpc: RpcId; cwd: string | undefined; cursor: string | undefined; archived: ArchiveFilter }
  | { for: "title"; rpc: RpcId; title: string }
  | { for: "mark"; rpc: RpcId }
  | { for: "status"; rpc: RpcId; sessionId: string }
  | { for: "delete"; rpc: RpcId }
  | { for: "steer"; rpc: RpcId }
  | { for: "mode" | "option"; rpc: RpcId; session: ClientSession };

/** A question of ours to the client. */
export type Question =
  | { for: "approval"; session: ClientSession; turn: string | undefined; call: string }
  | { for: "host"; session: ClientSession; request: string; event: EventOf<"host.request"> };

export interface AgentState {
  client: ClientCapabilities;
  /** The client has logged out: no session begins until it has logged in again. */
  isLoggedOut: boolean;
  /** Sessions by handle. `named` has them by their name on the wire. */
  readonly sessions: Map<string, ClientSession>;
  readonly named: Map<string, ClientSession>;
  /** Requests of the client by the id of the op that each became. */
  readonly pending: Map<string, Pending>;
  /** Questions by the id of our request. */
  readonly questions: Map<number, Question>;
  nextQuestion: number;
}

export function agentState(): AgentState {
  return {
    client: {},
    isLoggedOut: false,
    sessions: new Map(),
    named: new Map(),
    pending: new Map(),
    questions: new Map(),
    nextQuestion: 0,
  };
}

export function clientSession(handle: string, id: string, config: SessionConfig): ClientSession {
  return {
    handle,
    id,
    isReady: false,
    config,
    name: undefined,
    capabilities: {},
    commands: undefined,
    calls: new Map(),
    message: undefined,
    prompts: [],
    replay: undefined,
    told: { mode: "", options: "" },
    used: undefined,
    compaction: undefined,
  };
}

/** Removes an ended session with its open questions. */
export function forget(session: ClientSession, state: AgentState): void {
  state.sessions.delete(session.handle);
  if (state.named.get(session.id) === session) state.named.delete(session.id);
  for (const [id, question] of state.questions) if (question.session === session) state.questions.delete(id);
}
