/** The parts of an agent's side that differ between stream-json wires. */
import type { Fault } from "../../../../core/errors.js";
import type { Event, EventOf } from "../../../../core/event.js";
import type { Op, OpOf } from "../../../../core/op.js";
import type { Launch } from "../../../../core/wire.js";
import type { Out, Step } from "../../../dialect.js";
import type { AgentSession, Control, Outcome } from "./session.js";
import type { Refused } from "./read-host-lines.js";
import type { HostResponse, Prompt } from "../wire.js";

/** Events that become lines of a turn, or around one. */
export type TurnEvent = Exclude<
  Event,
  { type: "session.ready" | "session.updated" | "session.ended" | "closed" | "catalog.updated" | "reply" | "host.request" | "host.settled" }
>;

export interface AgentWire<Request extends { subtype: string }, Pending extends Control> {
  readonly state: AgentSession<Request, Pending>;
  /** Reads the command line; returns its additions to the session's config. */
  launched(launch: Launch): OpOf<"session.open">["config"];

  /** Types of lines without an effect. */
  readonly quiet?: ReadonlySet<string>;

  // --- control requests ---
  readRequest(request: unknown): Request | Refused;
  canAnswer(request: Request): boolean;
  onRequest(request_id: string, request: Request): Step<Op>;
  /** The answer to a request whose op is done. */
  answer(asked: Pending, data: unknown): Out;
  refuse(asked: Pending, fault: Fault): Out;

  // --- lines ---
  /** The id of the turn that a prompt begins; that of its op without this. */
  turnId?(prompt: Prompt, op: string): string;
  /** The lines of prompts are kept until their turns begin. */
  keepsPrompts?(): boolean;
  /** The answer to an unreadable line; `ignored` is the answer to an unknown one. */
  unread(problem: string): Out[];
  ignored(text: string): Out;
  /** The answer to a prompt without a turn. */
  outcome(outcome: Outcome): Out[];
  /** The text for a prompt that was interrupted before its turn. */
  readonly cancelled: string;
  /** The lines for a prompt that cannot continue the last turn. */
  notContinued?(fault: Fault): Out[];
  /** The session could not be opened: the last lines, and the exit code. */
  notOpened(fault: Fault | undefined): { message: string; out: Out[] };
  /** The agent is gone: records after the last results. */
  closed?(): Out[];

  // --- events ---
  ready?(event: EventOf<"session.ready">): void;
  turnEvent(event: TurnEvent): Step<Op>;
  hostRequest(event: EventOf<"host.request">): Step<Op>;
  hostSettled?(request: string): Out[];
  /** The mode changed without a request of the host. */
  modeChanged?(): Out[];
  /** Reads an answer to a question outside `state.questions`. */
  answered?(response: HostResponse): Step<Op> | undefined;
  /** Refuses those questions at the end of the host's input. */
  unasked?(reason: string): Op[];
  /** Converts an outgoing step, for outputs that are not lines. */
  collected(step: Step<Op>): Step<Op>;
}
