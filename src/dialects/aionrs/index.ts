/** The aionrs dialect: protocol 0.1.0, and 0.2.0 as an option. */
import type { Dialect } from "../dialect.js";
import { agentSide } from "./agent/side.js";
import { hostSide } from "./host/side.js";
import { FIRST, SECOND, type Revision } from "./wire/revision.js";

export const aionrs: Dialect = dialectOf(FIRST);
export const aionrsLater: Dialect = dialectOf(SECOND);

export function dialectOf(revision: Revision): Dialect {
  const { id, version, wire, coverage, heartbeat, isLater } = revision;
  return {
    id,
    version,
    framing: "json",
    wire,
    lifetime: "session",
    question: /"tool_request"/,
    // The real program drops messages that arrive during a turn.
    oneTurn: true,
    ...(heartbeat !== undefined && { heartbeat }),
    // By the document, all tools need approval except those that the user lists.
    unasked: [],
    // Later revisions report servers that connect; in the first, `ready` alone promises their tools.
    ...(!isLater && { awaitsServers: true }),
    agentSide: (env) => agentSide(revision, env),
    hostSide: (env) => hostSide(revision, env),
    coverage,
  };
}
