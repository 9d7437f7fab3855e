/** The translator: speaks one dialect to the host and drives an agent of another. */
import type { Agent } from "../core/agent.js";
import type { Closed, Event } from "../core/event.js";
import { Grammar } from "../core/grammar.js";
import type { Op } from "../core/op.js";
import type { Transport } from "../core/wire.js";
import type { Dialect } from "../dialects/dialect.js";
import { connect, type ConnectOptions, type Dial } from "./connect.js";
import { serve, type ServeOptions } from "./serve.js";

/** Which session of the driven agent stands behind a handle that the host knows. */
export interface SessionMap {
  get(handle: string): string | undefined;
  set(handle: string, sessionId: string): void;
}

export interface RelayOptions extends ConnectOptions, ServeOptions {
  as: Dialect;
  transport: Transport;
  drive: Dialect;
  dial: Dial;
  sessions?: SessionMap;
  /** Hears each breach of the grammar at the seam, where both dialects meet. */
  onViolation?(violation: string): void;
  onOp?(op: Op): void;
  onEvent?(event: Event): void;
}

export interface Relay {
  /** The driven agent, for whoever must end it early. */
  agent: Agent;
  closed: Promise<Closed>;
}

export function relay(options: RelayOptions): Relay {
  const driven = connect(options.drive, options.dial, options);
  const agent = seam(driven, options);
  return { agent, closed: serve(agent, options.as, options.transport, options) };
}

/** Where both dialects meet: handles are translated, and whoever wants to listens in. */
function seam(agent: Agent, { sessions, onViolation, onOp, onEvent }: Omit<RelayOptions, "as" | "drive" | "dial" | "transport">): Agent {
  const grammar = onViolation === undefined ? undefined : new Grammar();
  return {
    send(op) {
      grammar?.op(op);
      onOp?.(op);
      return agent.send(op.type === "session.open" && sessions !== undefined ? towardsAgent(op, sessions) : op);
    },
    events: heard(),
    close: () => agent.close(),
  };

  async function* heard(): AsyncIterable<Event> {
    for await (const event of agent.events) {
      for (const violation of grammar?.event(event) ?? []) onViolation?.(violation);
      onEvent?.(event);
      yield sessions === undefined ? event : towardsHost(event, sessions);
    }
    for (const violation of grammar?.end() ?? []) onViolation?.(violation);
  }
}

function towardsAgent(op: Extract<Op, { type: "session.open" }>, sessions: SessionMap): Op {
  const known = op.sessionId === undefined ? undefined : sessions.get(op.sessionId);
  return known === undefined ? op : { ...op, sessionId: known };
}

/** The host sees our handle: it is what it will ask for again. */
function towardsHost(event: Event, sessions: SessionMap): Event {
  if (event.type !== "session.ready" || event.sessionId === undefined || event.session === undefined) return event;
  sessions.set(event.session, event.sessionId);
  return { ...event, sessionId: event.session };
}
