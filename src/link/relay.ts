/** The translator: speaks one dialect to the host and drives an agent of another. */
import type { Agent } from "../core/agent.js";
import type { Closed, Event } from "../core/event.js";
import { Grammar } from "../core/grammar.js";
import type { Transport } from "../core/wire.js";
import type { Dialect } from "../dialects/dialect.js";
import { connect, type ConnectOptions, type Dial } from "./connect.js";
import { serve, type ServeOptions } from "./serve.js";

export interface RelayOptions extends ConnectOptions, ServeOptions {
  as: Dialect;
  transport: Transport;
  drive: Dialect;
  dial: Dial;
  /** Hears each breach of the grammar at the seam, where both dialects meet. */
  onViolation?(violation: string): void;
}

export function relay(options: RelayOptions): Promise<Closed> {
  const agent = connect(options.drive, options.dial, options);
  const { onViolation } = options;
  return serve(onViolation === undefined ? agent : checked(agent, onViolation), options.as, options.transport, options);
}

/** The same agent, with the grammar checker listening in on both directions. */
export function checked(agent: Agent, onViolation: (violation: string) => void): Agent {
  const grammar = new Grammar();
  return {
    send(op) {
      grammar.op(op);
      return agent.send(op);
    },
    events: tap(agent.events, grammar, onViolation),
    close: () => agent.close(),
  };
}

async function* tap(events: AsyncIterable<Event>, grammar: Grammar, onViolation: (violation: string) => void): AsyncIterable<Event> {
  for await (const event of events) {
    grammar.event(event).forEach(onViolation);
    yield event;
  }
  grammar.end().forEach(onViolation);
}
