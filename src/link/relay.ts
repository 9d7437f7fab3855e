/** The translator: speaks one dialect to the host and drives an agent of another. */
import type { Agent } from "../core/agent.js";
import type { SessionConfig } from "../core/config.js";
import type { Closed, Event } from "../core/event.js";
import { Grammar } from "../core/grammar.js";
import type { Op, OpOf } from "../core/op.js";
import type { Transport } from "../core/wire.js";
import type { Dialect } from "../dialects/dialect.js";
import { connect, type ConnectOptions, type Dial } from "./connect.js";
import { serve, type ServeOptions } from "./serve.js";
import { SessionNames, type SessionMap } from "./session-names.js";

export type { KnownSession, SessionMap } from "./session-names.js";

/** Both ends of a relay, and who listens to what passes. */
export interface RelayOptions extends ConnectOptions, ServeOptions {
  as: Dialect;
  transport: Transport;
  drive: Dialect;
  dial: Dial;
  /** The default configuration of a session; the host's own wins. */
  config?: SessionConfig;
  sessions?: SessionMap;
  /** Called with each breach of the grammar between both dialects. */
  onViolation?(violation: string): void;
  onOp?(op: Op): void;
  onEvent?(event: Event): void;
}

/** A running translation between a host and an agent. */
export interface Relay {
  /** The driven agent, for a caller that must end it early. */
  agent: Agent;
  closed: Promise<Closed>;
}

/**
 * Joins a host of one dialect to an agent of another.
 *
 * @example
 * const { closed } = relay({ as: aionrs, transport: stdio(aionrs.framing), drive: acp, dial });
 */
export function relay(options: RelayOptions): Relay {
  const onViolation = options.onViolation?.bind(options);
  const driven = connect(options.drive, options.dial, { ...options, ...(onViolation !== undefined && { onBreach: onViolation }) });
  const agent = seam(driven, options);
  return { agent, closed: serve(agent, options.as, options.transport, options) };
}

/** Joins both dialects: translates the names of sessions and calls the listeners. */
function seam(agent: Agent, options: Omit<RelayOptions, "as" | "dial" | "transport">): Agent {
  const { config, onViolation, onOp, onEvent } = options;
  const grammar = onViolation === undefined ? undefined : new Grammar();
  // With a process for each turn, only the first turn could find out that an id is unknown.
  const names = options.sessions === undefined ? undefined : new SessionNames(options.sessions, options.drive.lifetime === "turn");
  return {
    send(op) {
      grammar?.op(op);
      onOp?.(op);
      if (op.type === "session.delete" || op.type === "session.mark")
        return agent.send({ ...op, sessionId: names?.agentsName(op.sessionId) ?? op.sessionId });
      return agent.send(op.type === "session.open" ? opening(op) : op);
    },
    events: heard(),
    close: () => agent.close(),
  };

  function opening(op: OpOf<"session.open">): Op {
    const whole = config === undefined ? op : { ...op, config: { ...config, ...op.config } };
    return names?.towardsAgent(whole) ?? whole;
  }

  async function* heard(): AsyncIterable<Event> {
    for await (const event of agent.events) {
      for (const violation of grammar?.event(event) ?? []) onViolation?.(violation);
      onEvent?.(event);
      yield names?.towardsHost(event) ?? event;
    }
    for (const violation of grammar?.end() ?? []) onViolation?.(violation);
  }
}
