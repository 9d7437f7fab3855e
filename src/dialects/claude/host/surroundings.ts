/** Emits changes of a session's model, mode and catalogue. */
import type { Event, EventOf } from "../../../core/event.js";
import type { Catalogue, HostState } from "./state.js";

/** In yolo our side answers Claude Code, which runs in its mode `default`. */
export function updated(
  now: { model: string | undefined; mode: HostState["config"]["mode"]; sessionId: string },
  state: HostState,
): Event[] {
  const { model, mode } = state.config;
  const next = mode === "yolo" && now.mode === "default" ? mode : (now.mode ?? mode);
  if (now.model === model && next === (mode ?? "default") && now.sessionId === state.sessionId) return [];
  state.sessionId = now.sessionId;
  const config = { ...(now.model !== undefined && { model: now.model }), ...(next !== undefined && { mode: next }) };
  state.config = { ...state.config, ...config };
  return [{ type: "session.updated", session: state.session, sessionId: now.sessionId, config }];
}

export function gathered(now: Partial<Catalogue>, state: HostState): Event[] {
  const next = { ...state.catalogue, ...now };
  if (JSON.stringify(next) === JSON.stringify(state.catalogue)) return [];
  state.catalogue = next;
  return [catalogue(state)];
}

export function catalogue({ session, catalogue: now }: HostState): EventOf<"catalog.updated"> {
  return {
    type: "catalog.updated",
    session,
    whole: true,
    skills: now.skills.map((name) => ({ name })),
    subagents: now.subagents,
    mcpServers: now.mcpServers.map(({ name, status }) => ({ name, status: STATUS.get(status) ?? "failed", tools: [] })),
    commands: now.commands,
  };
}

const STATUS: ReadonlyMap<string, "connecting" | "ready" | "failed"> = new Map([
  ["connected", "ready"],
  ["pending", "connecting"],
]);
