/** How a session begins: from the store or as a new one, and what becomes of it when the store cannot keep it. */
import { realpath } from "node:fs/promises";
import type { SessionConfig } from "../core/config.js";
import { messageOf, ParleyError } from "../core/errors.js";
import type { Event } from "../core/event.js";
import type { OpOf } from "../core/op.js";
import type { SessionLog, SessionStore, StoredSession } from "./store/store.js";

export type Located = SessionConfig & { cwd: string };

interface Kept {
  log: SessionLog | undefined;
  /** The name under which it can be resumed. */
  id: string | undefined;
  warning?: string;
}

export type Stored = Kept & { session: StoredSession };

/** A resumed session is what it was, except for what its opener says. */
export async function restore(
  op: OpOf<"session.open">,
  defaults: Located,
  store: SessionStore | undefined,
): Promise<{ stored: Stored | undefined; config: Located }> {
  const given = { ...op.config, cwd: op.config?.cwd ?? defaults.cwd };
  if (op.open === "new") return { stored: undefined, config: { ...defaults, ...given } };
  if (op.open === "attach") throw fault(`There is no running session '${op.sessionId ?? op.session}' to attach to`);
  if (store === undefined) throw fault("Sessions are switched off, so none can be resumed");
  const wanted = op.sessionId ?? op.session;
  const id = wanted === "latest" ? await store.latest(await realpath(given.cwd).catch(() => given.cwd)) : wanted;
  if (id === undefined) throw fault(`No session was kept in ${given.cwd}`);
  const { session, log } = await store.open(id);
  const cwd = op.config?.cwd ?? session.cwd;
  return { stored: { session, log, id }, config: { ...defaults, ...session.config, ...op.config, cwd } };
}

/** A home that cannot be written costs the memory of the session, not the session. */
export async function keep(op: OpOf<"session.open">, config: Located, store: SessionStore | undefined): Promise<Kept> {
  if (store === undefined) return { log: undefined, id: undefined };
  const id = op.sessionId ?? op.session;
  try {
    return { log: await store.create({ id, cwd: config.cwd, name: op.name, config }), id };
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    return { log: undefined, id: undefined, warning: `This session is not saved: ${messageOf(error)}` };
  }
}

/** After a restart numbers go on well above any that a crash may have swallowed. */
export function nextSeq(used: number | undefined): number {
  return used === undefined ? 0 : (Math.floor(used / SEQ_STEP) + 1) * SEQ_STEP;
}

const SEQ_STEP = 2 ** 20;

export async function replayable(after: number, id: string, store: SessionStore | undefined): Promise<Event[]> {
  const events = (await store?.events(id)) ?? [];
  return events.filter((event) => (event.seq ?? 0) > after);
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false });
}
