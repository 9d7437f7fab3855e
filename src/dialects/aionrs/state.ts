/** What each side of a connection remembers. */
import type { Fault } from "../../core/errors.js";
import type { Call, Event } from "../../core/event.js";
import type { Op } from "../../core/op.js";
import type { OpenWork } from "../kit/open-work.js";

/** The agent's side: our events go out, the host's commands come in. */
export interface AgentState {
  session: string;
  /** `ready` is out: what fails from then on is no reason to leave. */
  ready: boolean;
  /** What was to be told before that. */
  readonly early: Event[];
  /** The host's name of each turn that has not ended, in the order of asking; two may carry the same name. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
  /** Calls that the host has heard of. */
  readonly announced: Set<string>;
}

/** The host's side: a driven agent's lines come in, our ops go out. */
export interface HostState {
  session: string;
  /** The op that a `ready`, or an end before it, answers. */
  opener: string | undefined;
  ready: boolean;
  /** Set when it speaks a version that we do not: whatever it says then is not heard. */
  refused: Fault | undefined;
  /** What the wire cannot be told at the start is told once it is ready. */
  mode: "auto_edit" | undefined;
  /** Nothing may be written before `ready`. */
  held: Op[];
  /** Errors before `ready`: the reason for the end, should it come now; a failed MCP server, should it not. */
  early: Fault[];
  /** Its revision does not end a turn after an error. */
  endsAtError: boolean;
  /** Messages on the wire whose turns have not ended, by the turn's id, which is the message's; and the op that each came from. */
  readonly prompts: Map<string, string | undefined>;
  turn: string | undefined;
  readonly calls: Map<string, "requested" | "running" | "ended">;
  /** Calls that we denied: the wire has one word for denied and cancelled. */
  readonly denied: Set<string>;
  block: { type: "text" | "thinking"; text: string } | undefined;
  interrupted: boolean;
  failed: Fault | undefined;
  readonly work: OpenWork;
}

export function agentState(): AgentState {
  return { session: "", ready: false, early: [], messages: new Map(), calls: new Map(), announced: new Set() };
}

export function hostState(work: OpenWork): HostState {
  return {
    session: "",
    opener: undefined,
    ready: false,
    refused: undefined,
    mode: undefined,
    held: [],
    early: [],
    endsAtError: false,
    prompts: new Map(),
    turn: undefined,
    calls: new Map(),
    denied: new Set(),
    block: undefined,
    interrupted: false,
    failed: undefined,
    work,
  };
}
