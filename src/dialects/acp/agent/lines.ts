/** `session/update`, the one notification about sessions. */
import type { Out } from "../../dialect.js";
import { notification } from "../wire/rpc.js";
import type { ClientSession } from "./state.js";

export function update(session: ClientSession, sessionUpdate: string, fields: Record<string, unknown>): Out {
  return notification("session/update", { sessionId: session.id, update: { sessionUpdate, ...fields } });
}
