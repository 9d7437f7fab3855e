/** Reads a driven agent's answers to changes: a new configuration, the outcome of a server, or a refusal. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Fault } from "../../../core/errors.js";
import type { Event, ListedMcpServer } from "../../../core/event.js";
import type { OpOf } from "../../../core/op.js";
import type { Out, Step } from "../../dialect.js";
import { refused } from "../../kit/reply.js";
import { readCapabilities } from "../wire/capabilities.js";
import { modeName, type Revision } from "../wire/revision.js";
import type { HostState } from "./state.js";
import type { LaterEventOf } from "../wire/records.js";

// --- asking ---

/** Our side acknowledges the changes that the wire does not answer. */
export function configure(op: OpOf<"session.configure">, state: HostState): Step<Event> {
  const { patch } = op;
  const problem =
    patch.mode === undefined || modeName(state.revision, patch.mode) !== undefined ? undefined : noMode(patch.mode, state.revision);
  const wrong = problem ?? configProblem(patch, state);
  if (wrong !== undefined) return refused(op, wrong);
  const out = configLines(patch, state);
  const left = partsOf(patch, state);
  if (left.size === 0) return { in: [updated(op, state)], out };
  state.pending.push({ op, left });
  return { in: [], out };
}

/** The reason for which the wire cannot carry the change. */
export function configProblem({ thinking, mcpServers }: SessionConfig, state: HostState): string | undefined {
  const { name, isLater } = state.revision;
  if (isLater && thinking !== undefined && thinking !== "enabled" && thinking !== "disabled")
    return `${name} has no thinking level '${thinking}'; it is enabled or disabled, and has a budget`;
  const added = isLater ? newServers(mcpServers, state) : [];
  if (added.length > 0 && state.prompted) return `${name} takes servers only before the first prompt`;
  const hosted = added.find(([, server]) => server.command === undefined && server.url === undefined);
  return hosted === undefined ? undefined : `${name} has no way to a server of the host ('${hosted[0]}')`;
}

export function configLines(patch: SessionConfig, state: HostState): Out[] {
  const { mode, model, thinking, thinkingBudget, effort, outputCompaction, mcpServers } = patch;
  const named = modeName(state.revision, mode);
  const changes = {
    ...(model !== undefined && { model }),
    ...(thinking !== undefined && { thinking }),
    ...(thinkingBudget !== undefined && { thinking_budget: thinkingBudget }),
    ...(effort !== undefined && { effort }),
    ...(outputCompaction !== undefined && { compaction: outputCompaction }),
  };
  const servers = newServers(mcpServers, state).map(([name, server]): Out => {
    state.servers.set(name, { name, status: "connecting", tools: [] });
    return { rec: { type: "add_mcp_server", name, ...serverFields(server) } };
  });
  return [
    ...servers,
    ...(named === undefined ? [] : [{ rec: { type: "set_mode", mode: named } }]),
    ...(Object.keys(changes).length === 0 ? [] : [{ rec: { type: "set_config", ...changes } }]),
  ];
}

function newServers(servers: SessionConfig["mcpServers"], state: HostState): [string, McpServer][] {
  return Object.entries(servers ?? {}).filter(([name]) => !state.servers.has(name));
}

function serverFields({ type, command, args, env, url, headers }: McpServer): Record<string, unknown> {
  if (command !== undefined) return { transport: "stdio", command, ...(args && { args }), ...(env && { env }) };
  return { transport: type === "sse" ? "sse" : "streamable-http", url, ...(headers && { headers }) };
}

/** The number of answers until the whole change is done. */
function partsOf({ mode, mcpServers, ...rest }: SessionConfig, { tellsChanges, servers }: HostState): Set<string> {
  const waits = tellsChanges ? [...(mode === undefined ? [] : ["mode"]), ...(Object.keys(rest).length === 0 ? [] : ["config"])] : [];
  const connecting = Object.keys(mcpServers ?? {}).filter((name) => servers.get(name)?.status === "connecting");
  return new Set([...waits, ...connecting.map(serverPart)]);
}

// --- hearing ---

export function onChanged(event: LaterEventOf<"config_changed">, state: HostState): Event[] {
  const { capabilities, config } = readCapabilities(event.capabilities, state.revision);
  const answers = settle(state, (left) => left.delete("mode") || left.delete("config"));
  if (answers.length > 0) return answers.map((answer) => ({ ...answer, capabilities, config: { ...config, ...answer.config } }));
  return [{ type: "session.updated", session: state.session, capabilities, ...(config !== undefined && { config }) }];
}

/** Texts by which real agents report a change that they did not make or did not need: no other answer follows. */
export function onChangeTold(message: string, state: HostState): Event[] {
  if (message.startsWith("set_config: no changes")) return settle(state, (left) => left.delete("config"));
  if (!/^set_mode: .*refused/.test(message)) return [];
  const at = state.pending.findIndex(({ left }) => left.has("mode"));
  const [pending] = at === -1 ? [] : state.pending.splice(at, 1);
  return pending === undefined ? [] : refused(pending.op, message).in;
}

/**
 * Changes are answered in order: a problem with the configuration belongs to the oldest open change. Undefined if there is none.
 */
export function onChangeRefused(fault: Fault, state: HostState): Event[] | undefined {
  const at = fault.code === "config" ? state.pending.findIndex(({ left }) => left.has("config")) : -1;
  const [pending] = at === -1 ? [] : state.pending.splice(at, 1);
  return pending === undefined ? undefined : refused(pending.op, fault.message, fault.code).in;
}

export function onServer(server: ListedMcpServer, state: HostState): Event[] {
  state.servers.set(server.name, server);
  const mcpServers = [...state.servers.values()];
  const whole = mcpServers.every(({ status }) => status !== "connecting");
  const told: Event = { type: "catalog.updated", session: state.session, whole, mcpServers };
  return [told, ...settle(state, (left) => left.delete(serverPart(server.name)))];
}

/** Undefined if no ping is open. */
export function onPong(state: HostState): Event[] | undefined {
  if (state.pings.length === 0) return undefined;
  return [{ type: "reply", to: "ping", status: "ok", session: state.session, parent: state.pings.shift() }];
}

/** The answer to the oldest op that waits for this, if it waits for nothing else. */
function settle(state: HostState, take: (left: Set<string>) => boolean): ReturnType<typeof updated>[] {
  const pending = state.pending.find(({ left }) => take(left));
  if (pending === undefined || pending.left.size > 0) return [];
  state.pending.splice(state.pending.indexOf(pending), 1);
  return [updated(pending.op, state)];
}

function updated({ id, patch }: OpOf<"session.configure">, { session }: HostState) {
  const { mcpServers: _servers, ...config } = patch;
  return { type: "session.updated" as const, session, parent: id, config };
}

function serverPart(name: string): string {
  return `server ${name}`;
}

export function noMode(mode: string | undefined, { name, modes }: Revision): string {
  return `${name} has no mode '${mode ?? ""}'; it has ${Object.keys(modes).join(", ")}`;
}
