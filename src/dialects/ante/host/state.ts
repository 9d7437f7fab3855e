/** The state of the host's side. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Op } from "../../../core/op.js";
import { TurnNames } from "../../kit/turn-names.js";
import type { TurnReader } from "../../kit/turn-reader.js";

/** A stream of turns, live or replayed. */
export interface Reading {
  readonly isReplay: boolean;
  /** The running turn. */
  turn: TurnReader | undefined;
  readonly names: TurnNames;
  /** Turns of sub-agents within it, by the wire's ids. */
  readonly nested: Set<string>;
}

/** An op of ours on the wire. The outcome of an op without an id is dropped. */
export interface SentOp {
  type: Op["type"];
  id: string | undefined;
  turn?: string;
  command?: { name: string; args?: string | undefined };
}

export interface HostState {
  session: string;
  /** The session's name on the wire. */
  sessionId: string;
  opener: string | undefined;
  isReady: boolean;
  /** The reason for which the session cannot begin. */
  refused: Fault | undefined;
  /** Whether the opener asked for a replay. */
  wantsReplay: boolean;
  /** The mode that our side plays by answering questions: the wire has two policies, for the whole session. */
  answeredMode: Mode | undefined;
  runsAll: boolean;
  /** The session's present config: the wire needs a whole specification for each change. */
  config: SessionConfig;
  /** The first list of extensions has come; servers may still connect. */
  catalogued: boolean;
  /** The newest of our ops, by their ids on the wire. */
  readonly sent: Map<string, SentOp>;
  /** Prompts on the wire whose turns have not begun, oldest first. */
  readonly prompts: SentOp[];
  readonly now: Reading;
  readonly before: Reading;
  /** The open batch of approvals: the wire's turn, and the decisions so far. */
  pause: { turn: string; calls: Map<string, string | undefined> } | undefined;
  /** Blocks of information that are open. */
  readonly blocks: Set<string>;
}

export function hostState(): HostState {
  return {
    session: "",
    sessionId: "",
    opener: undefined,
    isReady: false,
    refused: undefined,
    wantsReplay: false,
    answeredMode: undefined,
    runsAll: false,
    config: {},
    catalogued: false,
    sent: new Map(),
    prompts: [],
    now: reading(false),
    before: reading(true),
    pause: undefined,
    blocks: new Set(),
  };
}

function reading(isReplay: boolean): Reading {
  return { isReplay, turn: undefined, names: new TurnNames(), nested: new Set() };
}
