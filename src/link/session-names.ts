/**
 * Two names of a session: the one that the host sees and can ask for again, and the agent's own. The host sees the name that it asked
 * with, or else its handle; a name that nobody gave to the host (the agent's own id, "latest") is passed on as it is, or taken off where
 * only known ones count.
 */
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import type { OpOf } from "../core/op.js";

/** Which session of the driven agent stands behind a name that the host knows. */
export interface SessionMap {
  get(name: string): string | undefined;
  /** False when it cannot be remembered. */
  set(name: string, sessionId: string): boolean;
}

export class SessionNames {
  readonly #map: SessionMap;
  readonly #onlyKnown: boolean;
  /** What the host will call the session that an open brings, by the id of that op; by the agent's own name where there is none. */
  readonly #opening = new Map<string, string>();
  /** The same for sessions that are ready, by handle. */
  readonly #names = new Map<string, string>();

  constructor(map: SessionMap, onlyKnown = false) {
    this.#map = map;
    this.#onlyKnown = onlyKnown;
  }

  towardsAgent(op: OpOf<"session.open">): OpOf<"session.open"> {
    const asked = op.sessionId ?? (op.open === "new" ? undefined : op.session);
    const known = asked === undefined ? undefined : this.#map.get(asked);
    // A copy has a name of its own: the one that was asked for stays the original's.
    if (op.fork === true) this.#opening.set(op.id ?? "", this.#free(op.session));
    else if (op.open === "new" || known !== undefined) this.#opening.set(op.id ?? "", asked ?? this.#free(op.session));
    const { sessionId: _asked, ...nameless } = op;
    if (known === undefined) return this.#onlyKnown ? nameless : op;
    return { ...nameless, sessionId: known };
  }

  towardsHost(event: Event): Event {
    switch (event.type) {
      case "session.ready":
        this.#ready(event.parent ?? "", event.session ?? "");
        return this.#renamed(event);
      case "session.updated":
        return this.#renamed(event);
      case "session.ended":
        this.#names.delete(event.session ?? "");
        return event;
      case "reply":
        if (event.to === "session.open") this.#opening.delete(event.parent ?? "");
        return event;
      default:
        return event;
    }
  }

  #ready(opener: string, handle: string): void {
    const name = this.#opening.get(opener);
    if (name !== undefined) this.#names.set(handle, name);
    this.#opening.delete(opener);
  }

  #renamed(event: EventOf<"session.ready" | "session.updated">): Event {
    const name = this.#names.get(event.session ?? "");
    if (name === undefined || event.sessionId === undefined || !this.#map.set(name, event.sessionId)) return event;
    return { ...event, sessionId: name };
  }

  /** A host may use its handles again; an earlier session keeps its name. */
  #free(handle: string): string {
    return this.#map.get(handle) === undefined ? handle : mintId();
  }
}
