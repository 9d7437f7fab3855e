/** The parts of an agent's side that each stream-json wire says for itself; the rest is the same on all of them. */
import type { Fault } from "../../../core/errors.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Op, OpOf } from "../../../core/op.js";
import type { Launch } from "../../../core/wire.js";
import type { Out, Step } from "../../dialect.js";
import type { AgentSession, Control, Outcome } from "./agent-session.js";
import type { Refused } from "./read-host-lines.js";
import type { HostResponse } from "./wire.js";

/** Events that are lines of a turn, or around one. */
export type TurnEvent = Exclude<
  Event,
  { type: "session.ready" | "session.updated" | "session.ended" | "closed" | "catalog.updated" | "reply" | "host.request" | "host.settled" }
>;

export interface AgentWire<Request extends { subtype: string }, Pending extends Control> {
  readonly state: AgentSession<Request, Pending>;
  /** Reads the command line; returns what it adds to the config of the session. */
  launched(launch: Launch): OpOf<"session.open">["config"];

  /** Types of lines that change nothing. */
  readonly quiet?: ReadonlySet<string>;

  // --- control requests ---
  readRequest(request: unknown): Request | Refused;
  canAnswer(request: Request): boolean;
  onRequest(request_id: string, request: Request): Step<Op>;
  /** The answer to a request, when the op that it became is done. */
  answer(asked: Pending, data: unknown): Out;
  refuse(asked: Pending, fault: Fault): Out;

  // --- lines ---
  /** The lines of prompts are kept until their turns begin. */
  keepsPrompts?(): boolean;
  /** The host is told of a line that cannot be read, and of what is ignored. */
  unread(problem: string): Out[];
  ignored(text: string): Out;
  /** The answer to a prompt that no turn answers. */
  outcome(outcome: Outcome): Out[];
  /** The words for a prompt that was interrupted before its turn. */
  readonly cancelled: string;
  /** A prompt that should go on with the last turn cannot. */
  notContinued?(fault: Fault): Out[];
  /** The session could not be opened: the last lines, and the exit code. */
  notOpened(fault: Fault | undefined): { message: string; out: Out[] };
  /** The agent is gone: behind the last results. */
  closed?(): Out[];

  // --- events ---
  ready?(event: EventOf<"session.ready">): void;
  turnEvent(event: TurnEvent): Step<Op>;
  hostRequest(event: EventOf<"host.request">): Step<Op>;
  hostSettled?(request: string): Out[];
  /** The mode changed without a word of the host. */
  modeChanged?(): Out[];
  /** An answer of the host to a question that is not one of `state.questions`. */
  answered?(response: HostResponse): Step<Op> | undefined;
  /** Refuses those questions when the input of the host ends. */
  unasked?(reason: string): Op[];
  /** A step as it goes out, for outputs that are no lines. */
  collected(step: Step<Op>): Step<Op>;
}
