/** Ops of the host that become control requests: an interrupt, and changes of the session's settings. */
import type { Fault } from "../../../../core/errors.js";
import type { Event, EventOf } from "../../../../core/event.js";
import type { OpOf } from "../../../../core/op.js";
import type { Step } from "../../../dialect.js";
import { replied } from "../../reply.js";
import type { SentRequests } from "./sent-requests.js";
import type { HostSession } from "./session.js";
import type { HostTurn } from "./turns.js";

/** The purpose of a request of ours. */
export type Purpose = { for: "initialize" } | { for: "interrupt"; op: string | undefined } | { for: "change"; change: Change };

/** One `session.configure`. It may take several requests and is answered after the last of them. */
export interface Change {
  op: OpOf<"session.configure">;
  left: number;
  fault: Fault | undefined;
}

type State = Pick<HostSession<HostTurn>, "session" | "sessionId" | "config" | "prompts"> & {
  readonly running: HostTurn | undefined;
  readonly requests: Pick<SentRequests<Purpose>, "send">;
};

/** Interrupts the turn on the wire. The wire's interrupt names no turn, so another turn is refused with `noop`. */
export function interrupt(op: OpOf<"turn.interrupt">, { running, prompts, requests }: State): Step<Event> {
  const onWire = running?.told.address.turn ?? prompts[0]?.turn;
  if (onWire === undefined || (op.turn !== undefined && op.turn !== onWire)) return replied(op, "noop");
  return { in: [], out: [requests.send({ subtype: "interrupt" }, { for: "interrupt", op: op.id })] };
}

export function onInterrupted(op: string | undefined, fault: Fault | undefined, state: State): Event[] {
  if (fault === undefined && state.running !== undefined) state.running.isInterrupted = true;
  return op === undefined ? [] : [answerTo("turn.interrupt", op, fault, state)];
}

export function change(op: OpOf<"session.configure">, requests: readonly { subtype: string }[], state: State): Step<Event> {
  if (requests.length === 0) return replied(op, "noop");
  const one: Change = { op, left: requests.length, fault: undefined };
  return { in: [], out: requests.map((each) => state.requests.send(each, { for: "change", change: one })) };
}

export function onChanged(change: Change, fault: Fault | undefined, state: State): Event[] {
  change.left--;
  change.fault ??= fault;
  if (change.left > 0) return [];
  const { op } = change;
  if (change.fault !== undefined) return op.id === undefined ? [] : [answerTo(op.type, op.id, change.fault, state)];
  state.config = { ...state.config, ...op.patch };
  const { session, sessionId } = state;
  const event: EventOf<"session.updated"> = { type: "session.updated", session, config: op.patch };
  return [{ ...event, ...(sessionId !== undefined && { sessionId }), ...(op.id !== undefined && { parent: op.id }) }];
}

export function answerTo(to: string, parent: string, fault: Fault | undefined, { session }: { readonly session: string }): Event {
  return { type: "reply", to, status: fault === undefined ? "ok" : "error", session, parent, ...(fault !== undefined && { fault }) };
}
