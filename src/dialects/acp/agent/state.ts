/** What our side remembers as the agent: the client, its sessions, what it asked and what it was asked. */
import type { SessionConfig } from "../../../core/config.js";
import type { Call, EventOf, Usage } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { RpcId } from "../wire/rpc.js";
import type { ClientCapabilities } from "../wire/sessions.js";

/** A prompt that the client waits for. */
export interface AskedPrompt {
  rpc: RpcId;
  op: string;
  turn: string;
  /** The same as plain words, where it was taken for a command that nobody may know. */
  plain: OpOf<"turn.prompt"> | undefined;
}

/** A call whose end was not told. */
interface OpenCall {
  call: Call;
  turn: string | undefined;
  /** The end of what it said so far. */
  tail: string;
  /** The client shows its terminal and is told its output in pieces. */
  showsTerminal: boolean;
}

export interface ClientSession {
  readonly handle: string;
  /** As the wire names it. */
  id: string;
  isReady: boolean;
  config: SessionConfig;
  name: string | undefined;
  capabilities: Record<string, unknown>;
  /** Names of commands, once the agent told them. */
  commands: ReadonlySet<string> | undefined;
  readonly calls: Map<string, OpenCall>;
  /** The block that is open: its message on the wire. */
  message: { kind: "text" | "thinking"; id: string } | undefined;
  readonly prompts: AskedPrompt[];
  /** Replayed events that are still to come, and the request that waits for them. */
  replay: { left: number; rpc: RpcId } | undefined;
  /** What the client was told last. */
  told: { mode: string; options: string };
  used: { usage: Usage; cost: number | undefined } | undefined;
  compaction: string | undefined;
}

/** A request of the client that waits for an event. */
export type Pending =
  | { for: "open"; rpc: RpcId; method: string; op: OpOf<"session.open"> }
  | { for: "close"; rpc: RpcId; session: ClientSession }
  | { for: "list"; rpc: RpcId; cwd: string | undefined; cursor: string | undefined }
  | { for: "status"; rpc: RpcId; sessionId: string }
  | { for: "steer"; rpc: RpcId }
  | { for: "mode" | "option"; rpc: RpcId; session: ClientSession };

/** What we asked the client. */
export type Question =
  | { for: "approval"; session: ClientSession; turn: string | undefined; call: string }
  | { for: "host"; session: ClientSession; request: string; event: EventOf<"host.request"> };

export interface AgentState {
  client: ClientCapabilities;
  /** By our handle, and by the wire's name. */
  readonly sessions: Map<string, ClientSession>;
  readonly named: Map<string, ClientSession>;
  /** By the id of the op that was made of it. */
  readonly pending: Map<string, Pending>;
  /** By the id of our request. */
  readonly questions: Map<number, Question>;
  nextQuestion: number;
}

export function agentState(): AgentState {
  return { client: {}, sessions: new Map(), named: new Map(), pending: new Map(), questions: new Map(), nextQuestion: 0 };
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

/** A session that is gone: what was asked about it is void. */
export function forget(session: ClientSession, state: AgentState): void {
  state.sessions.delete(session.handle);
  if (state.named.get(session.id) === session) state.named.delete(session.id);
  for (const [id, question] of state.questions) if (question.session === session) state.questions.delete(id);
}
