/** Opens a session of a driven agent. The wire has no line for it: a session begins with its first prompt. */
import type { SessionConfig } from "../../../core/config.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { refused, warning } from "../../kit/reply.js";
import { NOTHING } from "../../kit/step.js";
import { coverage } from "../coverage.js";
import { hostedSession, type HostedSession, type HostState } from "./state.js";
import { heartbeat } from "./write-ops.js";

/** Opens a session. Before the agent has greeted, a heartbeat asks whether it is there. */
export function openOp(op: OpOf<"session.open">, state: HostState): Step<Event> {
  const { config = {} } = op;
  const problem = problemOf(op, state);
  if (problem !== undefined) return refused(op, problem);
  if (state.sessions.has(op.session)) return refused(op, `There is a session '${op.session}' already`, "session");
  const isFirst = state.sessions.size === 0;
  const session = hostedSession(op);
  if (isFirst) state.cwd = config.cwd;
  state.sessions.set(op.session, session);
  if (session.isNew && state.firstId !== undefined) {
    session.id = state.firstId;
    state.firstId = undefined;
  }
  if (state.isGreeted) return { in: ready(session, state), out: [] };
  // An agent that never greets still answers the heartbeat.
  if (!isFirst) return NOTHING;
  state.pings.push(undefined);
  return { in: [], out: [heartbeat(undefined)] };
}

/**
 * The reason for refusing a session: without a restriction that the wire lacks, the agent would do more than asked, or work
 * elsewhere.
 */
function problemOf({ open, sessionId, config = {}, fork }: OpOf<"session.open">, state: HostState): string | undefined {
  if (open !== "new" && sessionId === "latest") return "Qwen has no word for the session last used; ask for it by its name";
  const { refusal } = openingGap("Qwen", config, coverage["session.open"], fork === true ? ["to fork a session"] : []);
  if (refusal !== undefined) return refusal;
  if (state.sessions.size === 0 || config.cwd === undefined || config.cwd === state.cwd) return undefined;
  return `One Qwen process works in one folder, this one in '${state.cwd ?? "that in which it was started"}'; connect another for '${config.cwd}'`;
}

export function ready(session: HostedSession, state: HostState): Event[] {
  const { handle, opener, id, config } = session;
  const event: EventOf<"session.ready"> = {
    type: "session.ready",
    session: handle,
    ...(opener !== undefined && { parent: opener }),
    ...(id !== undefined && { sessionId: id }),
    ...(state.version !== undefined && { version: state.version }),
    config: { ...(config.model !== undefined && { model: config.model }), ...(config.mode !== undefined && { mode: config.mode }) },
    capabilities: { approvals: true, steering: true, thinking: true, hostTools: true },
  };
  return [event, ...warnings(config, handle)];
}

function warnings(config: SessionConfig, session: string): Event[] {
  const { warning: unsaid } = openingGap("Qwen", config, coverage["session.open"]);
  const isOthers = Object.values(config.mcpServers ?? {}).some(({ type }) => type !== "host");
  const servers = "MCP servers that are not its host's";
  const text = unsaid === undefined ? `Qwen cannot be told ${servers}` : isOthers ? `${unsaid}, ${servers}` : unsaid;
  return unsaid === undefined && !isOthers ? [] : [warning(text, session, "qwen")];
}
