/** Opens a session: from the store or as a new one. A session that the store cannot keep is refused. */
import { realpath } from "node:fs/promises";
import type { SessionConfig } from "../../core/config.js";
import { messageOf, ParleyError } from "../../core/errors.js";
import type { Event } from "../../core/event.js";
import { mintId } from "../../core/ids.js";
import type { OpOf } from "../../core/op.js";
import { boundedBy, boundsGoingOn } from "./configured-bounds.js";
import { matchNames, type Names, type OwnProviders } from "../../core/providers/choose-provider.js";
import type { SessionLog, SessionStore, StoredSession } from "../store/store.js";

export type Located = SessionConfig & { cwd: string };

interface Kept {
  /** Undefined if sessions are not stored. */
  log: SessionLog | undefined;
  /** The name by which the session can be resumed. */
  id: string | undefined;
}

export type Stored = Kept & { session: StoredSession };

/** A resumed session keeps its old config, except for keys that its opener sets. */
export async function restore(
  op: OpOf<"session.open">,
  defaults: Located,
  store: SessionStore | undefined,
  providers: OwnProviders,
): Promise<{ stored: Stored | undefined; config: Located }> {
  if (op.before !== undefined && !(op.open === "resume" && op.fork === true))
    throw fault("A session begins before a turn only as a copy (fork); session.rewind takes a turn back in the session itself");
  const given = { ...op.config, cwd: op.config?.cwd ?? defaults.cwd };
  const own = boundedBy(defaults, op.config ?? {});
  if (op.open === "new") return { stored: undefined, config: { ...defaults, ...given, ...own } };
  if (op.open === "attach") throw fault(`There is no running session '${op.sessionId ?? op.session}' to attach to`);
  if (store === undefined) throw fault("Sessions are switched off, so none can be resumed");
  const wanted = op.sessionId ?? op.session;
  const id = wanted === "latest" ? await store.latest(await realpath(given.cwd).catch(() => given.cwd)) : wanted;
  if (id === undefined) throw fault(`No session was kept in ${given.cwd}; 'parley sessions' lists those of other folders`);
  const { session, ...kept } = await savable(async () => (op.fork === true ? fork(id, op, store) : { id, ...(await store.open(id)) }));
  const before = withoutHost(session.config, op.config);
  const { provider: _p, model: _m, rules: _r, disallowedTools: _d, ...rest } = { ...defaults, ...before, ...op.config };
  const config = {
    ...rest,
    ...namesOf(op.config, session.config, providers),
    ...boundsGoingOn(defaults, session.config),
    ...own,
    cwd: op.config?.cwd ?? session.cwd,
  };
  return { stored: { session, ...kept }, config };
}

/** Host tools, hooks, files and terminals belong to one host: a host that resumes the session brings its own, or none. */
function withoutHost(
  { hostTools: hosted, hostHooks: _hooks, workspace: _workspace, ...before }: SessionConfig,
  given: SessionConfig = {},
): SessionConfig {
  const has = (tools: SessionConfig["hostTools"] = [], name: string): boolean => tools.some((tool) => tool.name === name);
  const isGone = (name: string): boolean => has(hosted, name) && !has(given.hostTools, name);
  return { ...before, ...(before.allowedTools !== undefined && { allowedTools: before.allowedTools.filter((name) => !isGone(name)) }) };
}

/** Copies a session under the opener's handle if that is free, else under a new id. */
async function fork(id: string, { session: handle, name, before }: OpOf<"session.open">, store: SessionStore): Promise<Stored> {
  const copied = async (as: string): Promise<Stored> => ({ ...(await store.fork(id, { id: as, name }, before)), id: as });
  try {
    return await copied(handle);
  } catch (error) {
    if (!isTaken(error)) throw error;
    return copied(mintId());
  }
}

/** The same config with another model, and with the provider of that model. */
export function withModel(config: SessionConfig, model: string, providers: OwnProviders): SessionConfig {
  const { provider: _provider, model: _model, ...rest } = config;
  return { ...rest, ...namesOf({ model }, config, providers) };
}

/** A named model brings its own provider, or stays with the present one; a provider never gets another's model. */
export function namesOf(
  given: SessionConfig | undefined,
  before: SessionConfig,
  providers: OwnProviders,
): Pick<SessionConfig, "provider" | "model"> {
  const { provider, model } = matchNames([names(given), names(before)], providers, () => false);
  return { ...(provider !== undefined && { provider: provider.value }), ...(model !== undefined && { model: model.value }) };
}

function names({ provider, model }: SessionConfig = {}): Names {
  const found = (value: string | undefined) => (value === undefined ? undefined : { value, from: "" });
  return { provider: found(provider), model: found(model) };
}

/** Creates the session's log. A session that cannot be stored is refused, so that nobody relies on it. */
export async function keep(op: OpOf<"session.open">, config: Located, store: SessionStore | undefined): Promise<Kept> {
  if (store === undefined) return { log: undefined, id: undefined };
  const session = { cwd: config.cwd, name: op.name, config };
  const { sessionId: id } = op;
  return savable(async () =>
    id === undefined ? createUnnamed(op.session, session, store) : { log: await store.create({ id, ...session }), id },
  );
}

async function savable<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw error instanceof ParleyError ? error : unsaved(error);
  }
}

/** A fault with its remedy: PARLEY_HOME cannot be written. */
export function unsaved(why: unknown): ParleyError {
  return fault(
    `This session cannot be saved, so it is not opened: ${messageOf(why)}; ` +
      "set PARLEY_HOME to a folder that has room and can be written, or keep no sessions (--no-session)",
  );
}

/** Whether the store refused the name rather than the session. */
function isTaken(error: unknown): boolean {
  return error instanceof ParleyError && error.fault.code === "session";
}

/**
 * Creates a session under its handle, or under a new id: a handle belongs to its connection, and an earlier connection may have used it.
 */
async function createUnnamed(
  handle: string,
  session: { cwd: string; name: string | undefined; config: SessionConfig },
  store: SessionStore,
): Promise<Kept> {
  try {
    return { log: await store.create({ id: handle, ...session }), id: handle };
  } catch (error) {
    if (!isTaken(error)) throw error;
    const id = mintId();
    return { log: await store.create({ id, ...session }), id };
  }
}

/** Events that a host has missed: their number, and the events themselves as they are read. */
export interface Replay {
  count: number;
  events: AsyncIterable<Event>;
}

/**
 * Reads the log twice, once to count the missed events and once to emit them, and never holds it whole. It reads more of the log than the
 * opening did, so it may find further damaged lines, which the session then notes.
 */
export async function missedEvents(after: number, session: StoredSession, store: SessionStore | undefined): Promise<Replay> {
  const missed = async function* (onDamaged?: (lines: readonly number[]) => void): AsyncGenerator<Event, void> {
    for await (const event of store?.events(session.id, onDamaged) ?? []) if ((event.seq ?? 0) > after) yield event;
  };
  let count = 0;
  const found = missed((lines) => {
    session.unreadable = lines;
  });
  for await (const _ of found) count++;
  return { count, events: missed() };
}

function fault(message: string): ParleyError {
  return new ParleyError({ code: "session", message, retryable: false });
}
