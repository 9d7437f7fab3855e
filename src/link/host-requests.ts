/** Requests of a driven agent that its host must answer. The agent owns their deadlines; a request that no host can answer any more is refused here. */
import type { Event, EventOf } from "../core/event.js";
import type { Op, OpOf } from "../core/op.js";

export class HostRequests {
  readonly #pending = new Set<EventOf<"host.request">>();

  event(event: Event): void {
    if (event.type === "host.request") this.#pending.add(event);
    if (event.type === "host.settled") this.#settle(event.session, event.request);
    if (event.type === "session.ended") this.#drop((pending) => pending.session === event.session);
  }

  op(op: Op): void {
    if (op.type === "host.answer") this.#settle(op.session, op.request);
  }

  /** Refuses all open requests, and forgets them. */
  refuse(message: string): OpOf<"host.answer">[] {
    const pending = [...this.#pending];
    this.#pending.clear();
    return pending.map(({ session, request }) => ({
      type: "host.answer",
      ...(session !== undefined && { session }),
      request,
      ok: false,
      data: { message },
    }));
  }

  /** Requests of two sessions may have the same name; an answer without a session matches the request in any session. */
  #settle(session: string | undefined, request: string): void {
    this.#drop((pending) => pending.request === request && (session === undefined || pending.session === session));
  }

  #drop(isMeant: (pending: EventOf<"host.request">) => boolean): void {
    for (const pending of this.#pending) if (isMeant(pending)) this.#pending.delete(pending);
  }
}
