/** What a running agent, the session's own or a sub-agent, has in its hands during a turn. */
import type { Mode } from "../../core/config.js";
import type { OutputCompaction } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import type { Event, Usage } from "../../core/event.js";
import type { Redactor } from "../../core/redact.js";
import type { Budget } from "./budget.js";
import type { SubAgent } from "./built-in-agents.js";
import type { Hooks } from "../extensions/hooks/hooks.js";
import type { History } from "../session/history.js";
import type { Model, ModelRequest } from "../models/model.js";
import type { SpawnOutcome, SpawnTask, Tool } from "../tools/tool.js";
import type { SessionState } from "../session/state.js";
import type { Trace } from "../trace/trace.js";

/** Takes a fresh event over, stamps and addresses it. A promise when the host is slow: wait for it. */
export type Emit = (event: Event) => Promise<void> | undefined;

export interface Run {
  readonly turn: string;
  readonly hooks: Hooks | undefined;
  readonly state: SessionState;
  /** The one that answers; a fallback for the rest of the turn once its own cannot. */
  model: Model;
  /** Models that answer in its place, and how many of them do not either. */
  readonly fallbacks: readonly Model[];
  fallenBack: number;
  readonly history: History;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Tokens of conversation that fit, when known; and those that the user wants to fit. */
  contextLimit: number | undefined;
  readonly wantedWindow: number | undefined;
  /** Everything of a request but the conversation. */
  readonly request: Omit<ModelRequest, "messages">;
  readonly emit: Emit;
  readonly redactor: Redactor;
  readonly streaming: boolean;
  readonly outputCompaction: OutputCompaction;
  readonly signal: AbortSignal;
  readonly budget: Budget;
  /** Where traces are collected: the turn's or the sub-agent's place in one. */
  readonly trace: Trace | undefined;
  /** What the host said in the meantime; taken once. */
  takeSteering(): Promise<Part[]>;
  /** What was told so far survives a power cut: before anything is done that cannot be undone. */
  persist(): Promise<void>;
  addUsage(usage: Usage): void;
  /** How a sub-agent of that kind differs from this one. Throws when its model cannot be opened. */
  outfit(agent: SubAgent | undefined): Promise<Outfit>;
  /** The session's own, from the next request on. */
  setMode(mode: Mode): void;
  /** Runs sub-agents under a call of this one; rejects where none are allowed. */
  spawn(call: string, tasks: readonly SpawnTask[], trace: Trace | undefined): Promise<SpawnOutcome[]>;
}

export interface Outfit {
  system: string;
  model?: Model;
  contextLimit?: number | undefined;
}

/** Thrown through the loop when the turn was interrupted. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** An interrupt does not wait for whoever is slow to hear of it. */
export function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Interrupted());
    const over = (): void => signal.removeEventListener("abort", stop);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    // Whoever is left behind may still fail, and nobody listens then.
    work.then(
      (result) => {
        over();
        if (signal.aborted) stop();
        else resolve(result);
      },
      (error: unknown) => {
        over();
        reject(error);
      },
    );
  });
}
