/** A connection to an agent that a test plays itself. */
import { Listener, Peer } from "./wires.js";
import type { Closed, Event } from "../../src/core/event.js";
import type { Op } from "../../src/core/op.js";
import type { Coverage, Dialect } from "../../src/dialects/dialect.js";
import { native } from "../../src/dialects/native/index.js";
import { memoryPair } from "../../src/transports/memory.js";
import { connect, type ConnectOptions } from "../../src/link/connect.js";

export const TURN = { session: "s", turn: "t" };

/** A dialect like ours, with gaps. */
export function lacking(coverage: Partial<Coverage>, more: Partial<Dialect> = {}): Dialect {
  return { ...native, ...more, coverage: { ...native.coverage, ...coverage } };
}

/** A connection to an agent that we play ourselves. */
export function driven(dialect: Dialect = native, options?: ConnectOptions) {
  const [near, far] = memoryPair();
  const agent = connect(dialect, () => near, options);
  return { agent, host: new Listener(agent), peer: new Peer<Op>(far) };
}

/** The same, with a session and a turn that runs. */
export async function running(dialect: Dialect = native, options?: ConnectOptions) {
  const all = driven(dialect, options);
  await all.agent.send({ type: "session.open", id: "o", session: "s", open: "new" });
  await all.agent.send({ type: "turn.prompt", id: "p", session: "s", turn: "t", parts: [] });
  await all.peer.of("turn.prompt");
  all.peer.say({ type: "session.ready", session: "s", parent: "o" }, { type: "turn.started", ...TURN, parent: "p" });
  await all.host.of("turn.started");
  return all;
}

/** An end that we tell ourselves. */
export function deferred(): { promise: Promise<Closed>; resolve(closed: Closed): void } {
  let resolve: (closed: Closed) => void = () => {};
  const promise = new Promise<Closed>((settle) => (resolve = settle));
  return { promise, resolve };
}

export function asks(...calls: string[]): Event[] {
  return [
    ...calls.map((id): Event => ({ type: "tool.requested", ...TURN, call: { id, name: "Bash" } })),
    { type: "approval.requested", ...TURN, calls: calls.map((id) => ({ id, name: "Bash" })) },
  ];
}

export const ended: Event = { type: "turn.ended", ...TURN, outcome: "completed", parent: "p" };
