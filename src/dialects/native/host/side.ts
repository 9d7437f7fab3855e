/** The host's side of the wire: one agent process with any number of sessions. */
import type { Closed, Event } from "../../../core/event.js";
import { Grammar } from "../../../core/grammar.js";
import type { Op } from "../../../core/op.js";
import type { Side, SideEnv, Step } from "../../dialect.js";
import { badLine } from "../../kit/bad-line.js";
import { exitMessage } from "../../kit/exit-message.js";
import { NOTHING } from "../../kit/step.js";
import { readEvent } from "./read-events.js";
import { denial, isTurnScoped, tell, withoutTurn } from "./read-turns.js";
import { SessionReader } from "./session-reader.js";

export function hostSide({ breach }: Pick<SideEnv, "breach">): Side<Event, Op> {
  const grammar = breach === undefined ? undefined : new Grammar();
  const sessions = new Map<string, SessionReader>();
  /** Events pass unchecked until a session is opened here. */
  let hasOpened = false;
  let strange: string | undefined;
  return {
    read(frame) {
      if ("launch" in frame) return NOTHING;
      return heard("bad" in frame ? badLine(frame) : readEvent(frame.rec));
    },
    write: (op) => ({ in: [], out: [{ rec: sessionOf(op)?.op(op) ?? op }] }),
    end: (closed) => ({ in: ended(closed), out: [] }),
  };

  function heard(event: Event): Step<Event> {
    // The link emits it, when the process has really ended.
    if (event.type === "closed") return NOTHING;
    for (const words of grammar?.event(event) ?? []) breach?.(words);
    const found = told(event);
    const isReplayed = event.replay === true && event.type !== "session.ready" && found?.[1].takesReplay !== true;
    const session = isReplayed ? undefined : found;
    if (session !== undefined) return heardOf(session, event);
    if (!hasOpened || (isReplayed && found?.[1].isReady === true)) return tell(event);
    return event.type === "session.ready" || isReplayed || isTurnScoped(event) ? unheardOf(event) : tell(withoutTurn(event));
  }

  function heardOf([handle, session]: [string, SessionReader], event: Event): Step<Event> {
    const step = session.read(event);
    if (session.isOver) sessions.delete(handle);
    return step;
  }

  /** An event of a turn without a session is for the only session. */
  function told(event: Event): [string, SessionReader] | undefined {
    const isUnnamed = event.session === undefined && sessions.size === 1 && (event.turn !== undefined || isTurnScoped(event));
    const handle = isUnnamed ? sessions.keys().next().value : event.session;
    const session = handle === undefined ? undefined : sessions.get(handle);
    return handle === undefined || session === undefined ? undefined : [handle, session];
  }

  /** An unknown session is reported once, whatever number of its events come. */
  function unheardOf(event: Event): Step<Event> {
    const { session = "" } = event;
    const text = `The agent told of session '${session}', which is not open here, and was not heard`;
    const step = strange === session ? NOTHING : tell({ type: "notice", level: "warning", source: "link", text });
    strange = session;
    return event.type === "approval.requested" ? { ...step, out: [denial(event.session, event.calls)] } : step;
  }

  function sessionOf(op: Op): SessionReader | undefined {
    if (op.session === undefined) return sessions.size === 1 ? sessions.values().next().value : undefined;
    if (op.type !== "session.open") return sessions.get(op.session);
    hasOpened = true;
    const session = sessions.get(op.session) ?? new SessionReader(op.session);
    sessions.set(op.session, session);
    return session;
  }

  function ended(closed: Closed): Event[] {
    const fault = { code: "launch", message: exitMessage(closed), retryable: true };
    const events = [...sessions.values()].flatMap((session) => session.end(fault));
    sessions.clear();
    return events;
  }
}
