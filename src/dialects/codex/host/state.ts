/** What the host's end remembers: the server behind the connection, its threads, our requests, and the questions of the agent. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { TurnReader } from "../../kit/turn-reader.js";
import type { RequestId } from "../wire/requests.js";

/** A prompt on the wire whose turn has not ended. */
export interface SentPrompt {
  /** Our name of its turn. */
  turn: string;
  op: string | undefined;
  /** The server's name of its turn, once it is told. */
  wireTurn: string | undefined;
  /** It is to be interrupted as soon as its turn has begun. */
  isStopped: boolean;
}

/** The turn that runs. */
export interface RunningTurn {
  wireTurn: string;
  prompt: SentPrompt | undefined;
  told: TurnReader;
  /** Calls that we declined: not every kind of item says so. */
  denied: Set<string>;
  failed: Fault | undefined;
  /** The server has said that it began: before that it takes no interrupt. */
  isBegun: boolean;
  /** We asked for its end. */
  isStopped: boolean;
  /** Plans told so far: each is a call of its own. */
  plans: number;
}

export interface HostedThread {
  handle: string;
  open: OpOf<"session.open">;
  /** The server's name for it; undefined until it is open. */
  threadId: string | undefined;
  config: SessionConfig;
  /** Ops that wait until it is open. */
  held: Op[];
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
  isClosing: boolean;
}

/** A question of the agent that waits for its answer. `reply` makes the answer's result of what the host decided. */
export type Question = { thread: HostedThread } & (
  | { kind: "approval"; call: string; reply(allowed: boolean): unknown }
  | { kind: "request"; request: string; reply(op: OpOf<"host.answer">): unknown }
);

export type Answer = { result: unknown } | { error: Fault };

export interface HostState {
  isReady: boolean;
  /** The server does not let us in. */
  refused: Fault | undefined;
  version: string | undefined;
  isGreeting: boolean;
  readonly threads: Map<string, HostedThread>;
  /** Threads of sub-agents: the call that each works under. */
  readonly children: Map<string, { thread: HostedThread; call: string }>;
  /** Our requests that are not answered, and what becomes of the answer. */
  readonly asked: Map<number, (answer: Answer) => Step<Event>>;
  readonly questions: Map<RequestId, Question>;
  lastId: number;
}

export function hostState(): HostState {
  return {
    isReady: false,
    refused: undefined,
    version: undefined,
    isGreeting: false,
    threads: new Map(),
    children: new Map(),
    asked: new Map(),
    questions: new Map(),
    lastId: 0,
  };
}

export function hostedThread(open: OpOf<"session.open">): HostedThread {
  return {
    handle: open.session,
    open,
    threadId: undefined,
    config: open.config ?? {},
    held: [],
    prompts: [],
    running: undefined,
    isClosing: false,
  };
}

/** A request of ours. */
export function ask(method: string, params: object, state: HostState, answered: (answer: Answer) => Step<Event>): Out {
  const id = ++state.lastId;
  state.asked.set(id, answered);
  return { rec: { id, method, params } };
}

/** Whose thread it is, and for a sub-agent's the call that it works under. */
export function placeOf(threadId: string | null | undefined, state: HostState): { thread: HostedThread; under?: string } | undefined {
  if (threadId == null) return undefined;
  const thread = [...state.threads.values()].find((each) => each.threadId === threadId);
  if (thread !== undefined) return { thread };
  const child = state.children.get(threadId);
  return child === undefined ? undefined : { thread: child.thread, under: child.call };
}

/** The prompt that a turn of the server answers; a turn that nobody asked for has none. */
export function startTurn(wireTurn: string, thread: HostedThread): Event[] {
  if (thread.running?.wireTurn === wireTurn) return [];
  const prompt = thread.prompts.find((each) => each.wireTurn === wireTurn) ?? thread.prompts.find((each) => each.wireTurn === undefined);
  if (prompt !== undefined) prompt.wireTurn = wireTurn;
  const told = new TurnReader({
    session: thread.handle,
    turn: prompt?.turn ?? wireTurn,
    ...(prompt?.op !== undefined && { parent: prompt.op }),
  });
  thread.running = { wireTurn, prompt, told, denied: new Set(), failed: undefined, isBegun: false, isStopped: false, plans: 0 };
  return told.start();
}

export function modeOf({ config }: HostedThread): Mode {
  return config.mode ?? "default";
}
