/** Changes by the host to a live session (mode, configuration, servers), and the lines that answer them. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { EventOf, ListedMcpServer } from "../../../core/event.js";
import type { Fault } from "../../../core/errors.js";
import type { Op } from "../../../core/op.js";
import type { Out, SideEnv, Step } from "../../dialect.js";
import { capabilitiesOf } from "../wire/capabilities.js";
import { errorLine, info, line } from "./lines.js";
import { modeName, modeNamed } from "../wire/revision.js";
import type { AgentState, Change } from "./state.js";
import type { CommandOf } from "../wire/records.js";

interface Head {
  id: string;
  session: string;
}

// --- asked for ---

export function setMode({ mode }: CommandOf<"set_mode">, state: AgentState, head: Head): Step<Op> {
  state.changes.set(head.id, { mode });
  return { in: [configure(head, { mode: modeNamed(state.revision, mode) })], out: [] };
}

/** A change takes effect with the next turn in any case: only its line waits for the end of a stream. */
export function setConfig(command: CommandOf<"set_config">, state: AgentState, head: Head): Step<Op> {
  const patch = patchOf(command);
  if (Object.keys(patch).length === 0) return { in: [], out: [info("set_config: no changes"), ...changed(state)] };
  const waits = state.messages.size > 0;
  state.changes.set(head.id, { config: command, waits });
  return { in: [configure(head, patch)], out: waits ? [info("set_config: queued, will apply after current response")] : [] };
}

/**
 * The agent's list of servers may lack their secrets, so every change names all added servers. A server whose outcome is
 * known is removed first: naming it again would be no change, and the host would get no answer.
 */
export function addServer(command: CommandOf<"add_mcp_server">, state: AgentState, head: Head, env: SideEnv): Step<Op> {
  const { name } = command;
  if (state.prompted) {
    const reason = "servers can only be added before the first message";
    const error = errorLine(null, { code: "protocol", message: `AddMcpServer '${name}' was rejected: ${reason}`, retryable: false });
    return { in: [], out: [error, ...lateServer(name, reason, state)] };
  }
  delete state.servers[name];
  const without = state.serversTold.delete(name) ? [withServers({ ...head, id: env.stamp().id }, name, state)] : [];
  state.servers[name] = serverOf(command);
  return { in: [...without, withServers(head, name, state)], out: [] };
}

function withServers(head: Head, server: string, state: AgentState): Op {
  state.changes.set(head.id, { server });
  return configure(head, { mcpServers: { ...state.servers } });
}

/** Adds the revision's own record of a failed server, if it has one. */
function lateServer(name: string, reason: string, { revision }: AgentState): Out[] {
  return revision.says.serverFailed(name, reason).filter((out) => !isError(out));
}

function isError(out: Out): boolean {
  return "rec" in out && typeof out.rec === "object" && out.rec !== null && "type" in out.rec && out.rec.type === "error";
}

function configure(head: Head, patch: SessionConfig): Op {
  return { type: "session.configure", ...head, patch };
}

function patchOf({ model, thinking, thinking_budget, effort, compaction, image_input }: CommandOf<"set_config">): SessionConfig {
  return {
    ...(model && { model }),
    ...(thinking && { thinking }),
    ...(typeof thinking_budget === "number" && { thinkingBudget: thinking_budget }),
    ...(typeof effort === "string" && { effort }),
    ...(compaction && { outputCompaction: compaction }),
    ...(image_input && { images: image_input === "unknown" ? undefined : image_input === "supported" }),
  };
}

function serverOf({ transport, command, args, env, url, headers }: CommandOf<"add_mcp_server">): McpServer {
  if (transport === "stdio") return { type: "stdio", command: command ?? "", ...(args && { args }), ...(env && { env }) };
  return { type: transport === "sse" ? "sse" : "streamable-http", url: url ?? "", ...(headers && { headers }) };
}

// --- told ---

/** The agent's configuration changed, by a request of the host or by itself. */
export function writeUpdated(event: EventOf<"session.updated">, state: AgentState): Out[] {
  const before = state.config;
  state.config = { ...before, ...event.config };
  state.capabilities = event.capabilities ?? state.capabilities;
  const change = takeChange(event.parent, state);
  if (change === undefined) return state.revision.isLater ? afterStream(changed(state), state) : [];
  if ("server" in change) return [];
  if ("mode" in change)
    return state.revision.isLater
      ? [info(`mode updated: ${modeName(state.revision, state.config.mode) ?? change.mode}`), ...afterStream(changed(state), state)]
      : [];
  const words = changeWords(change.config, before).join(", ");
  return afterStream([info(`config ${change.waits ? "applied" : "updated"}: ${words}`), ...changed(state)], state);
}

/** A postponed refusal also comes after the stream: some hosts take an error for its end. */
export function writeUnchanged(parent: string | undefined, fault: Fault, state: AgentState): Out[] {
  const change = takeChange(parent, state);
  if (change !== undefined && "server" in change) {
    delete state.servers[change.server];
    return state.revision.says.serverFailed(change.server, fault.message);
  }
  const told = [errorLine(null, fault)];
  return change !== undefined && "config" in change && change.waits ? afterStream(told, state) : told;
}

/** Each server once for each of its outcomes. */
export function writeServers(servers: readonly ListedMcpServer[], state: AgentState): Out[] {
  return servers.flatMap((server) => {
    const isAdded = Object.hasOwn(state.servers, server.name);
    if (server.status === "connecting" || (!isAdded && !state.revision.says.allServers)) return [];
    if (state.serversTold.get(server.name) === server.status) return [];
    state.serversTold.set(server.name, server.status);
    if (server.status === "failed") return state.revision.says.serverFailed(server.name, server.error ?? "no reason given");
    return [line({ type: "mcp_ready", name: server.name, tools: server.tools.map(({ name }) => name) })];
  });
}

function changed(state: AgentState): Out[] {
  return [line({ type: "config_changed", capabilities: capabilitiesOf(state) })];
}

/** Lines that must not come in the middle of a stream. */
export function afterStream(lines: Out[], state: AgentState): Out[] {
  if (!state.streaming) return lines;
  state.afterStream.push(...lines);
  return [];
}

function takeChange(id: string | undefined, state: AgentState): Change | undefined {
  const change = state.changes.get(id ?? "");
  state.changes.delete(id ?? "");
  return change;
}

function changeWords(command: CommandOf<"set_config">, before: SessionConfig): string[] {
  const { model, thinking, thinking_budget, effort, compaction, image_input } = command;
  const words: string[] = [];
  if (model) words.push(`model: ${arrow(before.model, model)}`);
  if (thinking) words.push(`thinking: ${thinking}${typeof thinking_budget === "number" ? ` (budget: ${thinking_budget})` : ""}`);
  else if (typeof thinking_budget === "number") words.push(`thinking budget: ${thinking_budget}`);
  if (typeof effort === "string") words.push(effort === "" ? "effort: cleared" : `effort: ${arrow(before.effort ?? "none", effort)}`);
  if (compaction) words.push(`compaction: ${arrow(before.outputCompaction ?? "off", compaction)}`);
  if (image_input) words.push(`image input: ${image_input}`);
  return words;
}

function arrow(before: string | undefined, after: string): string {
  return before === undefined ? after : `${before} → ${after}`;
}
