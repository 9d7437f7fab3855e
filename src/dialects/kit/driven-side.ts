/**
 * The host's side of every wire whose agent must be ready before it takes ops: ops are held until then; a refusal answers the open and
 * all held ops and ends the agent; the agent's exit closes everything open. A dialect adds only the records of its wire.
 */
import type { Fault } from "../../core/errors.js";
import type { Closed, Event } from "../../core/event.js";
import type { Op, OpOf } from "../../core/op.js";
import type { Frame } from "../../core/wire.js";
import type { Side, Step } from "../dialect.js";
import { badLine } from "./bad-line.js";
import { exitMessage, isClean } from "./exit-message.js";
import { refusal } from "./reply.js";
import { NOTHING, together } from "./step.js";

export interface DrivenWire {
  /** Starts or greets the agent. */
  open(op: OpOf<"session.open">): Step<Event>;
  read(rec: unknown): Step<Event>;
  /** Called once the agent is ready. */
  write(op: Op): Step<Event>;
  isReady(): boolean;
  /** Written after the record that made the agent ready, and before the held ops. */
  onReady?(): Step<Event>;
  /** The reason for which the agent cannot be driven: it is ended, and its further output is ignored. */
  refusal(): Fault | undefined;
  /** Removes and returns the opens without an answer; each is answered once. */
  takeOpens(): { session: string; op: string | undefined }[];
  /** The session for a bad line and for an op without a session, on a wire with one session. */
  session?(): string;
  /** Whether an op is written before the agent is ready. */
  isUrgent?(op: Op): boolean;
  /** The process ended after it was ready: closes everything open. */
  end(closed: Closed, fault: Fault): Event[];
  /** The fault of an exit that is not a failed launch. */
  faultOf?(closed: Closed): Fault | undefined;
  quiet?(): Step<Event>;
  beat?(): Step<Event>;
}

export function drivenSide(wire: DrivenWire): Side<Event, Op> {
  const held: Op[] = [];
  const session = (): string | undefined => wire.session?.();
  return {
    read,
    write(op) {
      if (op.type === "session.open") return wire.open(op);
      if (wire.isReady() || wire.isUrgent?.(op) === true) return wire.write(op);
      held.push(op);
      return NOTHING;
    },
    end(closed) {
      const fault = wire.refusal() ?? wire.faultOf?.(closed) ?? { code: "launch", message: exitMessage(closed), retryable: true };
      return { in: wire.isReady() ? wire.end(closed, fault) : refuseAll(fault), out: [] };
    },
    ...(wire.quiet !== undefined && { quiet: wire.quiet }),
    ...(wire.beat !== undefined && { beat: wire.beat }),
  };

  function read(frame: Frame): Step<Event> {
    if ("launch" in frame || wire.refusal() !== undefined) return NOTHING;
    if ("bad" in frame) return { in: [badLine(frame, session())], out: [] };
    const wasReady = wire.isReady();
    const step = wire.read(frame.rec);
    const refusal = wire.refusal();
    if (refusal !== undefined) return { in: [...step.in, ...(wasReady ? [] : refuseAll(refusal))], out: [{ kill: true }] };
    return !wasReady && wire.isReady() ? together(step, release()) : step;
  }

  function release(): Step<Event> {
    const begun = wire.onReady?.() ?? NOTHING;
    return held
      .splice(0)
      .map((op) => wire.write(op))
      .reduce(together<Event>, begun);
  }

  function refuseAll(fault: Fault): Event[] {
    const opens = wire.takeOpens().map(({ session: opened, op }): Event => ({
      type: "reply",
      to: "session.open",
      status: "error",
      session: opened,
      ...(op !== undefined && { parent: op }),
      fault,
    }));
    const only = session();
    return [...opens, ...held.splice(0).map((op) => refusal(only === undefined ? op : { ...op, session: only }, fault))];
  }
}

/** Takes the only open of a wire with one session, once. */
export function takeOpen(state: { readonly session: string; opener: string | undefined }): { session: string; op: string | undefined }[] {
  const { session, opener: op } = state;
  state.opener = undefined;
  return op === undefined ? [] : [{ session, op }];
}

/** The end of a session, after the events that end its turn. The error belongs to the turn if one ran. */
export function sessionOver(
  turn: readonly Event[],
  { session, closed, fault }: { session: string; closed: Closed; fault: Fault },
): Event[] {
  const alone: Event[] = turn.length === 0 && !isClean(closed) ? [{ type: "error", session, fault }] : [];
  return [...turn, ...alone, { type: "session.ended", session }];
}
