/** The host side of a wire: makes an Agent of a dialect and a dial function. */
import type { Agent } from "../core/agent.js";
import type { Closed, Event } from "../core/event.js";
import { EVENT_BYTES, EVENT_WEIGHT } from "../core/limits.js";
import { Queue, roughSize } from "../core/queue.js";
import type { Op, OpOf } from "../core/op.js";
import type { Dialect } from "../dialects/dialect.js";
import { exitMessage } from "../dialects/kit/exit-message.js";
import { Line } from "./driven-connection.js";
import type { ConnectOptions, Dial } from "./options.js";
import { sideEnv } from "./stamp.js";
import { onTape } from "./on-tape.js";
import { refusal } from "./unanswered.js";

export type { ConnectOptions, Dial } from "./options.js";

/** The number of ended sessions that are remembered. */
const REMEMBERED = 256;

/**
 * Speaks a dialect as the host: an agent behind any transport becomes an `Agent`.
 *
 * @example
 * const agent = connect(await loadDialect("ante"), (launch) => spawnTransport({ argv: ["ante", "serve", ...launch.argv] }));
 */
export function connect(dialect: Dialect, dial: Dial, options: ConnectOptions = {}): Agent {
  const { tape, ...rest } = options;
  if (tape !== undefined) return onTape(tape, dialect, dial, (taped) => connect(dialect, taped, rest));
  const events = new Queue<Event>(EVENT_BYTES, (event) => Math.max(EVENT_WEIGHT, roughSize(event)));
  const lines = new Map<string, Line>();
  let seq = 0;
  let agentStamps = false;
  let closing: Promise<void> | undefined;
  let leaving = false;
  let last: Closed = {};
  /** The reason for which the agent of a session is gone, by session; under "" for an agent that has all sessions. */
  const ends = new Map<string, string>();

  if (dialect.lifetime === "connection" && dialect.start === undefined) void openLine("").open({ argv: [], env: {} });
  return { send, events, close };

  /** An op after `closed` gets no answer. */
  async function send(sent: Op): Promise<void> {
    if (events.ended) return;
    const op = sent.id === undefined ? { ...sent, id: sideEnv.stamp().id } : sent;
    if (op.type === "shutdown") return shutdown(op);
    const line = lineFor(op);
    if (line !== undefined) return line.send(op);
    void tell(nowhere(op));
  }

  /** Not queued behind other ops: it must reach an agent that does not read. */
  function shutdown(op: OpOf<"shutdown">): void {
    leaving = true;
    if (lines.size === 0) return finish();
    for (const line of lines.values()) line.leave(op);
  }

  /** Drains the events, as a caller that closes an agent may never read them. */
  function close(): Promise<void> {
    leaving = true;
    events.unbound();
    closing ??= (async () => {
      await Promise.all([...lines.values()].map((line) => line.end()));
      finish();
    })();
    return closing;
  }

  function finish(): void {
    if (events.ended) return;
    void tell({ type: "closed", ...last });
    events.end();
  }

  /** The first open starts an agent that serves the whole connection. */
  function started({ config }: OpOf<"session.open">): Line {
    const line = openLine("");
    void line.open({ argv: [...(dialect.start ?? [])], env: {}, ...(config?.cwd !== undefined && { cwd: config.cwd }) });
    return line;
  }

  /** With a connection for each session, only an open makes one, and an op without a session is for the only session. */
  function lineFor(op: Op): Line | undefined {
    if (dialect.lifetime === "connection") return lines.get("") ?? (op.type === "session.open" && !leaving ? started(op) : undefined);
    if (op.session === undefined) return lines.size === 1 ? lines.values().next().value : undefined;
    return lines.get(op.session) ?? (op.type === "session.open" && !leaving ? openLine(op.session) : undefined);
  }

  function nowhere(op: Op): Event {
    if (op.type === "ping") return { type: "reply", to: op.type, status: "ok", ...(op.id !== undefined && { parent: op.id }) };
    if (leaving) return refusal(op, { code: "session", message: "The agent is shutting down", retryable: false });
    const which = op.session === undefined ? "The op names no session, and there is not just one" : `There is no session '${op.session}'`;
    return refusal(op, { code: "session", message: endOf(op.session) ?? which, retryable: false });
  }

  /** The end of an agent that we told to leave has no reason. */
  function remember(key: string, closed: Closed): void {
    if (Object.keys(closed).length === 0) return;
    ends.set(key, exitMessage(closed));
    const [oldest] = ends.keys();
    if (ends.size > REMEMBERED && oldest !== undefined) ends.delete(oldest);
  }

  function endOf(session: string | undefined): string | undefined {
    if (dialect.lifetime === "connection") return ends.get("");
    if (session !== undefined) return ends.get(session);
    return ends.size === 1 && lines.size === 0 ? ends.values().next().value : undefined;
  }

  function openLine(key: string): Line {
    ends.delete(key);
    const line = new Line(dialect, dial, options, tell, (closed) => {
      last = closed;
      lines.delete(key);
      remember(key, closed);
      const isLast = dialect.lifetime === "connection" && options.redials !== true;
      if (isLast || (leaving && lines.size === 0)) finish();
    });
    lines.set(key, line);
    return line;
  }

  /**
   * Stamps an event: its maker does, and here that is us. If the agent has numbers of its own, ours repeat its last one, so that a cursor
   * never skips an event of the agent. There are no events after `closed`.
   */
  function tell(event: Event): Promise<void> | undefined {
    if (event.seq !== undefined) agentStamps = true;
    const number = event.seq ?? (agentStamps && event.type !== "closed" ? Math.max(0, seq - 1) : seq);
    if (event.replay !== true || event.seq === undefined) seq = number + 1;
    const stamped = event.at === undefined || event.seq === undefined ? { ...event, at: event.at ?? Date.now(), seq: number } : event;
    return event.type === "reply" ? events.pushControl(stamped) : events.push(stamped);
  }
}
