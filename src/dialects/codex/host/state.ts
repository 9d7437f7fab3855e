/** The state of the host's side: the server, its threads, our open requests and the agent's open questions. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { TurnReader } from "../../kit/turn-reader.js";
import type { RequestId } from "../wire/requests.js";

/** A prompt on the wire whose turn has not ended. */
export interface SentPrompt {
  /** Our id of the turn. */
  turn: string;
  op: string | undefined;
  /** The server's id of the turn; undefined until the server tells it. */
  wireTurn: string | undefined;
  /** The turn is interrupted as soon as the server has begun it. */
  isStopped: boolean;
}

/** The running turn. */
export interface RunningTurn {
  wireTurn: string;
  prompt: SentPrompt | undefined;
  told: TurnReader;
  /** Calls that our side declined: not every kind of item has a status for it. */
  denied: Map<string, string>;
  failed: Fault | undefined;
  /** The server has announced the turn; it takes no interrupt before. */
  isBegun: boolean;
  /** An interrupt was sent. */
  isStopped: boolean;
  /** The number of plans so far: each becomes a call. */
  plans: number;
}

export interface HostedThread {
  handle: string;
  open: OpOf<"session.open">;
  /** The server's id of the thread; undefined until it is open. */
  threadId: string | undefined;
  config: SessionConfig;
  /** Ops that wait until the thread is open. */
  held: Op[];
  prompts: SentPrompt[];
  running: RunningTurn | undefined;
  /** The server's ids of turns that have others here. */
  readonly wireTurns: Map<string, string>;
  isClosing: boolean;
}

/** An open question of the agent. `reply` turns the host's decision into the result on the wire. */
export type Question = { thread: HostedThread } & (
  | { kind: "approval"; call: string; reply(allowed: boolean): unknown }
  | { kind: "request"; request: string; reply(op: OpOf<"host.answer">): unknown }
);

export type Answer = { result: unknown } | { error: Fault };

export interface HostState {
  isReady: boolean;
  /** The reason for which the server refused the greeting. */
  refused: Fault | undefined;
  version: string | undefined;
  isGreeting: boolean;
  readonly threads: Map<string, HostedThread>;
  /** Threads of sub-agents, each with the call that started it. */
  readonly children: Map<string, { thread: HostedThread; call: string }>;
  /** Handlers of the answers to our open requests. */
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
    wireTurns: new Map(),
    isClosing: false,
  };
}

/** Sends a request. */
export function ask(method: string, params: object, state: HostState, answered: (answer: Answer) => Step<Event>): Out {
  const id = ++state.lastId;
  state.asked.set(id, answered);
  return { rec: { id, method, params } };
}

/** The session's thread for a thread id; for the thread of a sub-agent also the call that started it. */
export function placeOf(threadId: string | null | undefined, state: HostState): { thread: HostedThread; under?: string } | undefined {
  if (threadId == null) return undefined;
  const thread = [...state.threads.values()].find((each) => each.threadId === threadId);
  if (thread !== undefined) return { thread };
  const child = state.children.get(threadId);
  return child === undefined ? undefined : { thread: child.thread, under: child.call };
}

/** Starts a turn and gives it its prompt; a turn that the server began by itself has none. */
export function startTurn(wireTurn: string, thread: HostedThread): Event[] {
  if (thread.running?.wireTurn === wireTurn) return [];
  const prompt = thread.prompts.find((each) => each.wireTurn === wireTurn) ?? thread.prompts.find((each) => each.wireTurn === undefined);
  if (prompt !== undefined) {
    prompt.wireTurn = wireTurn;
    thread.wireTurns.set(prompt.turn, wireTurn);
  }
  const told = new TurnReader({
    session: thread.handle,
    turn: prompt?.turn ?? wireTurn,
    ...(prompt?.op !== undefined && { parent: prompt.op }),
  });
  thread.running = { wireTurn, prompt, told, denied: new Map(), failed: undefined, isBegun: false, isStopped: false, plans: 0 };
  return told.start();
}

export function modeOf({ config }: HostedThread): Mode {
  return config.mode ?? "default";
}
