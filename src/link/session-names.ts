/**
 * Two names of a session: the host's name, which it can ask for again, and the agent's own. The host sees the name that it asked
 * with, or else its handle. A name that the host never got (the agent's own id, "latest") is passed on unchanged, or removed if
 * only known names count.
 */
import * as v from "valibot";
import type { SessionConfig } from "../core/config.js";
import type { Event, EventOf } from "../core/event.js";
import { mintId } from "../core/ids.js";
import type { OpOf } from "../core/op.js";

/** A session of the driven agent with its last known model: some agents do not tell the model when they resume. */
export interface KnownSession {
  sessionId: string;
  model?: string | undefined;
  provider?: string | undefined;
}

/** Maps the host's names to sessions of the driven agent. */
export interface SessionMap {
  get(name: string): KnownSession | undefined;
  /** Returns false if the name cannot be stored. */
  set(name: string, session: KnownSession): boolean;
}

const MOST_SHOWN = 10_000;

const Listed = v.looseObject({ stored: v.array(v.looseObject({ id: v.string() })) });

type ModelChoice = Pick<SessionConfig, "model" | "provider">;

export class SessionNames {
  readonly #map: SessionMap;
  readonly #onlyKnown: boolean;
  /** The host's name for the session of an open, by the op's id. Without an entry the agent's own name counts. */
  readonly #opening = new Map<string, string>();
  /** The model that an open asks for, or that its session had, by the op's id. */
  readonly #asked = new Map<string, ModelChoice>();
  /** The models of ready sessions, by handle. */
  readonly #models = new Map<string, ModelChoice>();
  /** Names of ready sessions, by handle. */
  readonly #names = new Map<string, string>();

  /** The newest of the host's names, by the agent's own name, for the agent's list of sessions. */
  readonly #shown = new Map<string, string>();

  constructor(map: SessionMap, onlyKnown = false) {
    this.#map = map;
    this.#onlyKnown = onlyKnown;
  }

  towardsAgent(op: OpOf<"session.open">): OpOf<"session.open"> {
    const asked = op.sessionId ?? (op.open === "new" ? undefined : op.session);
    const known = asked === undefined ? undefined : this.#map.get(asked);
    // A fork has a name of its own: the name in the op stays the original's.
    if (op.fork === true) this.#opening.set(op.id ?? "", this.#free(op.session));
    else if (op.open === "new" || known !== undefined) this.#opening.set(op.id ?? "", asked ?? this.#free(op.session));
    this.#asked.set(op.id ?? "", { ...choiceOf(known), ...choiceOf(op.config) });
    const { sessionId: _asked, ...nameless } = op;
    if (known === undefined) return this.#onlyKnown ? nameless : op;
    return { ...nameless, sessionId: known.sessionId };
  }

  /** The agent's own name of a stored session. */
  agentsName(name: string): string {
    return this.#map.get(name)?.sessionId ?? name;
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
        this.#models.delete(event.session ?? "");
        return event;
      case "reply":
        if (event.to === "session.open") this.#forgetOpening(event.parent ?? "");
        return event.to === "session.list" ? this.#listed(event) : event;
      case "session.changed":
      case "closed":
      case "turn.started":
      case "turn.ended":
      case "text.delta":
      case "text.done":
      case "thinking.delta":
      case "thinking.done":
      case "user.message":
      case "tool.requested":
      case "tool.delta":
      case "tool.started":
      case "tool.progress":
      case "tool.ended":
      case "approval.requested":
      case "approval.settled":
      case "host.request":
      case "host.settled":
      case "usage":
      case "compaction":
      case "notice":
      case "catalog.updated":
      case "error":
      case "other":
        return event;
      default:
        event satisfies never;
        return event;
    }
  }

  #ready(opener: string, handle: string): void {
    const name = this.#opening.get(opener);
    if (name !== undefined) this.#names.set(handle, name);
    this.#models.set(handle, this.#asked.get(opener) ?? {});
    this.#forgetOpening(opener);
  }

  #forgetOpening(opener: string): void {
    this.#opening.delete(opener);
    this.#asked.delete(opener);
  }

  #renamed(event: EventOf<"session.ready" | "session.updated">): Event {
    const handle = event.session ?? "";
    const choice = { ...this.#models.get(handle), ...choiceOf(event.config) };
    this.#models.set(handle, choice);
    const told: typeof event = event.type === "session.ready" ? { ...event, config: { ...choice, ...event.config } } : event;
    const name = this.#names.get(handle);
    if (name === undefined || event.sessionId === undefined || !this.#map.set(name, { sessionId: event.sessionId, ...choice })) return told;
    this.#show(event.sessionId, name);
    return { ...told, sessionId: name };
  }

  #show(sessionId: string, name: string): void {
    this.#shown.delete(sessionId);
    this.#shown.set(sessionId, name);
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_SHOWN && oldest !== undefined) this.#shown.delete(oldest);
  }

  /** A session that no host opened here keeps the agent's own name, by which it can be resumed, too. */
  #listed(reply: EventOf<"reply">): Event {
    if (!v.is(Listed, reply.data)) return reply;
    const stored = reply.data.stored.map((session) => ({ ...session, id: this.#shown.get(session.id) ?? session.id }));
    return { ...reply, data: { ...reply.data, stored } };
  }

  /** A host may use a handle again; the earlier session keeps its name. */
  #free(handle: string): string {
    return this.#map.get(handle) === undefined ? handle : mintId();
  }
}

function choiceOf({ model, provider }: Omit<KnownSession, "sessionId"> = {}): ModelChoice {
  return { ...(model !== undefined && { model }), ...(provider !== undefined && { provider }) };
}
