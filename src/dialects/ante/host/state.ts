/** The state of our side when we drive the daemon. */
import type { Mode, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Op } from "../../../core/op.js";
import type { TurnReader } from "../../kit/turn-reader.js";

/** A stream of turns as it is read: live, or replayed. */
export interface Reading {
  readonly isReplay: boolean;
  /** The turn that runs. */
  turn: TurnReader | undefined;
  /** Turns of sub-agents within it, by the wire's names. */
  readonly nested: Set<string>;
}

/** An op of ours on the wire. The outcome of an op without an id is told to no one. */
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
  /** Why the session cannot begin. */
  refused: Fault | undefined;
  /** Whether the opener wants to hear what was said before. */
  wantsReplay: boolean;
  /** The mode whose calls our side answers itself: the wire has two policies, and for the whole session. */
  answeredMode: Mode | undefined;
  runsAll: boolean;
  /** The session's present configuration, since the wire wants a whole specification for each change. */
  config: SessionConfig;
  /** The first list of extensions has come; servers may still connect. */
  catalogued: boolean;
  /** Our ops by the ids that they have on the wire, the newest ones. */
  readonly sent: Map<string, SentOp>;
  /** Prompts on the wire whose turns have not begun, oldest first. */
  readonly prompts: SentOp[];
  readonly now: Reading;
  readonly before: Reading;
  /** The batch that waits for one answer: the wire's turn, and what is decided so far. */
  pause: { turn: string; calls: Map<string, string | undefined> } | undefined;
  /** Blocks of information that were opened. */
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
  return { isReplay, turn: undefined, nested: new Set() };
}
