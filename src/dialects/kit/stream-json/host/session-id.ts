/** The id of a session that a driven agent opens: the wire takes UUIDs, and its opener names a new session, as in the SDKs. */
import type { OpOf } from "../../../../core/op.js";
import type { SideEnv } from "../../../dialect.js";
import { isUuid, uuidOf } from "../uuid.js";

/** A stored session keeps its id. */
export function sessionIdOf(op: OpOf<"session.open">, env: SideEnv): string {
  return op.open === "new" ? newSessionId(op.sessionId, env) : (op.sessionId ?? op.session);
}

export function newSessionId(wanted: string | undefined, env: SideEnv): string {
  if (isUuid(wanted)) return wanted;
  const made = uuidOf(env.stamp().id);
  // SDKs use UUIDs of version 4, and some agents take no later version.
  return isUuid(made) ? `${made.slice(0, 14)}4${made.slice(15)}` : made;
}

/** Only the agent knows its latest session. */
export function isLatest(open: OpOf<"session.open">["open"], sessionId: string): boolean {
  return open !== "new" && sessionId === "latest";
}
