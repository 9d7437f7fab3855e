/** What each side of a connection remembers. */
import type { Call } from "../../core/event.js";
import type { OpenWork } from "../kit/open-work.js";

/** The agent's side: our events go out, the host's commands come in. */
export interface AgentState {
  session: string;
  /** `ready` is out: what fails from then on is no reason to leave. */
  ready: boolean;
  /** The host's name of each turn that has not ended, in the order of asking; two may carry the same name. */
  readonly messages: Map<string, string>;
  readonly calls: Map<string, Call>;
  /** Calls that the host has heard of. */
  readonly announced: Set<string>;
}

/** The host's side: a driven agent's lines come in, our ops go out. */
export interface HostState {
  session: string;
  /** The op that a `ready`, or an error before it, answers. */
  opener: string | undefined;
  ready: boolean;
  /** The op that began each message, by the turn's id, which is the message's. */
  readonly prompts: Map<string, string>;
  turn: string | undefined;
  readonly calls: Map<string, Call>;
  /** Calls that we denied, with our reason: the wire has one word for denied and cancelled. */
  readonly denied: Set<string>;
  block: { type: "text" | "thinking"; text: string } | undefined;
  interrupted: boolean;
  failed: { code: string; message: string; retryable?: boolean } | undefined;
  readonly work: OpenWork;
}
