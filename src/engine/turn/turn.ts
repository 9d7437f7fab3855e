/** A turn: the prompt that it answers, the settings that it began with, and all that the loop, its calls and its sub-agents use. */
import type { SessionConfig } from "../../core/config.js";
import type { Part } from "../../core/content.js";
import type { Event, Usage } from "../../core/event.js";
import type { OpOf } from "../../core/op.js";
import type { AccessLock } from "../calls/locks.js";
import type { Hooks } from "../extensions/hooks/hooks.js";
import type { Model, ModelCall, ModelRequest } from "../models/model.js";
import type { Instruction } from "../session/briefing.js";
import type { History } from "../session/history.js";
import type { SessionServices } from "../session/services.js";
import type { Address } from "../session/session-events.js";
import type { SeenFileMap } from "../session/seen-files.js";
import type { AgentShell } from "../tools/shell/agent-shell.js";
import type { Tool } from "../tools/tool.js";
import type { Trace } from "../trace/trace.js";
import type { FileChanges } from "../undo/file-changes.js";
import { Budget } from "./budget.js";

/** Takes a fresh event over, stamps and addresses it. A promise when the host is slow: wait for it. */
export type Emit = (event: Event) => Promise<void> | undefined;

/** The queue makes it from a prompt, `runTurn` equips it, and a sub-agent has one of its own below it. */
export interface Turn {
  readonly id: string;
  readonly session: SessionServices;
  /** Aborted by an interrupt or a limit. */
  readonly signal: AbortSignal;
  readonly address: Address;
  readonly emit: Emit;
  /** The levels of sub-agents above it: 0 for the session's own agent. */
  readonly depth: number;
  /** The name that the model gave a sub-agent's task. */
  readonly name: string | undefined;
  readonly history: History;
  readonly seen: SeenFileMap;
  readonly access: AccessLock;
  readonly shell: AgentShell;
  readonly steering: Steering;
  /** The files that its tools change; undefined where no copies are kept. */
  readonly changes: FileChanges | undefined;
  /** Tokens of the whole turn, sub-agents included. */
  readonly used: { total: Usage | undefined };
  prompt: OpOf<"turn.prompt">;
  /** Calls that the host asks for in the model's place. */
  calls: readonly ModelCall[];
  /** Its place in a trace, where traces are collected. */
  trace: Trace | undefined;

  // --- the session's settings when it began ---

  config: SessionConfig;
  /** The model that answers; a fallback for the rest of the turn once the first cannot. */
  model: Model;
  /** The provider of the model that the turn began with. */
  ownProvider: string;
  /** Models that answer in its place, in this order; the first `fallenBack` of them could not answer either. */
  fallbacks: readonly Model[];
  fallenBack: number;

  // --- its equipment ---

  tools: ReadonlyMap<string, Tool>;
  hooks: Hooks | undefined;
  /** The instructions as they are now; the conversation's briefing says which of them the system prompt holds. */
  instructions: readonly Instruction[];
  /** Everything of a request but the conversation. */
  request: Omit<ModelRequest, "messages">;
  budget: Budget;
}

/** Words that wait for the model, about how many bytes they are, and the op that brought the first of them. */
export interface Steering {
  parts: Part[];
  bytes: number;
  op: string | undefined;
}

/** A turn as it is before its start: with the settings of this moment, and without equipment. */
export function newTurn(session: SessionServices, id: string, prompt: OpOf<"turn.prompt">, signal: AbortSignal): Turn {
  const { history, seen, access, shell, settings } = session;
  const address: Address = { turn: id, ...(prompt.id !== undefined && { parent: prompt.id }) };
  const emit: Emit = (event) => session.events.tell(event, address);
  return {
    id,
    session,
    signal,
    address,
    emit,
    changes: session.changes((text) => void emit({ type: "notice", level: "warning", kind: "undo", text })),
    depth: 0,
    name: undefined,
    history,
    seen,
    access,
    shell,
    steering: { parts: [], bytes: 0, op: undefined },
    used: { total: undefined },
    prompt,
    calls: [],
    trace: undefined,
    config: settings.config,
    model: settings.model,
    ownProvider: settings.model.provider,
    fallbacks: settings.fallbacks,
    fallenBack: 0,
    tools: new Map(),
    hooks: undefined,
    instructions: [],
    request: { system: "", tools: [] },
    budget: new Budget(0),
  };
}

/** Takes what waits: each word is taken once. */
export function takeParts(steering: Steering): Part[] {
  steering.bytes = 0;
  steering.op = undefined;
  return steering.parts.splice(0);
}
