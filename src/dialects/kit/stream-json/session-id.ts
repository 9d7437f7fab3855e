/** The id of a session that a driven agent opens: the wire takes UUIDs, and a new session is named by its opener, as the SDKs do it. */
import type { OpOf } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { uuidOf } from "./uuid.js";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A stored session keeps its id. */
export function sessionIdOf(op: OpOf<"session.open">, env: SideEnv): string {
  return op.open === "new" ? newSessionId(op.sessionId, env) : (op.sessionId ?? op.session);
}

export function newSessionId(wanted: string | undefined, env: SideEnv): string {
  if (wanted !== undefined && UUID.test(wanted)) return wanted;
  const made = uuidOf(env.stamp().id);
  // Ids of the SDKs are of version 4, and there are agents that take no later one.
  return UUID.test(made) ? `${made.slice(0, 14)}4${made.slice(15)}` : made;
}

/** The agent itself knows which session was the last. */
export function isLatest(open: OpOf<"session.open">["open"], sessionId: string): boolean {
  return open !== "new" && sessionId === "latest";
}
