/** Host → server, written: the opening of a thread. The answer to it is read here, too. */
import type { McpServer, SessionConfig, Thinking } from "../../../core/config.js";
import type { Event, EventOf } from "../../../core/event.js";
import type { Fault } from "../../../core/errors.js";
import * as v from "valibot";
import type { Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { refusal, warning } from "../../kit/reply.js";
import { NOTHING, together } from "../../kit/step.js";
import { coverage } from "../coverage.js";
import { policyOf } from "../wire/policy.js";
import { Opened, Thread, type Opened as OpenedThread } from "../wire/threads.js";
import { replayOf } from "./replay.js";
import { ask, modeOf, type Answer, type HostedThread, type HostState } from "./state.js";

type Write = (op: HostedThread["held"][number]) => Step<Event>;

/** Opens a thread. For the session last used, the folder's threads are listed first: the wire opens threads by id only. */
export function openThread(thread: HostedThread, state: HostState, write: Write): Step<Event> {
  const { open, sessionId, session } = thread.open;
  if (open === "new") return { in: [], out: [ask("thread/start", startParams(thread), state, answered)] };
  if (sessionId !== "latest") return resumed(sessionId ?? session);
  const { cwd } = thread.config;
  const filter = { limit: 1, sortKey: "updated_at", ...(cwd !== undefined && { cwd }) };
  return { in: [], out: [ask("thread/list", filter, state, listed)] };

  function listed(answer: Answer): Step<Event> {
    if ("error" in answer) return answered(answer);
    const [last] = v.is(Listed, answer.result) ? answer.result.data : [];
    if (last !== undefined) return resumed(last.id);
    return answered({ error: { code: "session", message: "There is no thread yet that could be resumed", retryable: false } });
  }

  function resumed(threadId: string): Step<Event> {
    const isFork = thread.open.fork === true;
    const params = { threadId, excludeTurns: thread.open.after === undefined, ...settingsOf(thread) };
    return { in: [], out: [ask(isFork ? "thread/fork" : "thread/resume", params, state, answered)] };
  }

  function answered(answer: Answer): Step<Event> {
    if ("error" in answer) return notOpened(answer.error);
    if (!v.is(Opened, answer.result))
      return notOpened({ code: "protocol", message: "The server opened a thread and did not say which", retryable: false });
    return opened(answer.result);
  }

  function notOpened(fault: Fault): Step<Event> {
    state.threads.delete(thread.handle);
    return { in: [thread.open, ...thread.held.splice(0)].map((op) => refusal(op, fault)), out: [] };
  }

  function opened(result: OpenedThread): Step<Event> {
    thread.threadId = result.thread.id;
    const { model, modelProvider, cwd, thread: told } = result;
    thread.config = {
      ...thread.config,
      ...(model != null && { model }),
      ...(modelProvider != null && { provider: modelProvider }),
      ...(cwd != null && { cwd }),
    };
    const named = thread.open.name;
    const name = named === undefined ? [] : [ask("thread/name/set", { threadId: told.id, name: named }, state, () => NOTHING)];
    const replay = thread.open.after === undefined ? [] : replayOf(told.turns ?? [], thread.handle);
    const begun: Step<Event> = { in: [readyEvent(thread, state, replay.length), ...replay, ...warnings(thread)], out: name };
    return thread.held
      .splice(0)
      .map((op) => write(op))
      .reduce(together<Event>, begun);
  }
}

const Listed = v.looseObject({ data: v.array(Thread) });

function readyEvent(thread: HostedThread, state: HostState, replay: number): EventOf<"session.ready"> {
  const { handle, threadId = "", config, open } = thread;
  const { model, provider, cwd } = config;
  return {
    type: "session.ready",
    session: handle,
    ...(open.id !== undefined && { parent: open.id }),
    sessionId: threadId,
    ...(state.version !== undefined && { version: state.version }),
    config: {
      mode: modeOf(thread),
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
      ...(cwd !== undefined && { cwd }),
    },
    capabilities: { approvals: true, steering: true, thinking: true, hostTools: true },
    ...(replay > 0 && { replay }),
  };
}

/** Warnings about config keys that the wire cannot say, and about MCP servers behind the host. */
function warnings({ handle, config }: HostedThread): Event[] {
  const { warning: unsaid } = openingGap("Codex", config, coverage["session.open"]);
  const isHosts = Object.values(config.mcpServers ?? {}).some(({ type }) => type === "host");
  const servers = "MCP servers of its host's own";
  const text = unsaid === undefined ? `Codex cannot be told ${servers}` : isHosts ? `${unsaid}, ${servers}` : unsaid;
  return unsaid === undefined && !isHosts ? [] : [warning(text, handle, "codex")];
}

// --- parameters ---

function startParams(thread: HostedThread): object {
  const { hostTools = [] } = thread.config;
  const dynamicTools = hostTools.map(({ name, description = "", parameters = { type: "object" } }) => ({
    type: "function",
    name,
    description,
    inputSchema: parameters,
  }));
  return { ...settingsOf(thread), ...(dynamicTools.length > 0 && { dynamicTools }) };
}

function settingsOf(thread: HostedThread): object {
  const { model, provider, cwd, system, appendSystem } = thread.config;
  const config = configOf(thread.config);
  return {
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { modelProvider: provider }),
    ...policyOf(modeOf(thread)),
    ...(system !== undefined && { baseInstructions: system }),
    ...(appendSystem !== undefined && { developerInstructions: appendSystem }),
    ...(Object.keys(config).length > 0 && { config }),
  };
}

/** The config keys that the wire has only as keys of Codex's configuration. */
function configOf({ directories, mcpServers = {}, ...rest }: SessionConfig): Record<string, unknown> {
  const effort = effortOf(rest);
  const servers = Object.entries(mcpServers).flatMap(([name, server]) =>
    server.type === "host" ? [] : [[name, serverOf(server)] as const],
  );
  return {
    ...(effort !== undefined && { model_reasoning_effort: effort }),
    ...(directories !== undefined && { sandbox_workspace_write: { writable_roots: directories } }),
    ...(servers.length > 0 && { mcp_servers: Object.fromEntries(servers) }),
  };
}

function serverOf({ command, args, env, url, headers, enabledTools, timeoutMs }: McpServer): Record<string, unknown> {
  return {
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
    ...(url !== undefined && { url }),
    ...(headers !== undefined && { http_headers: headers }),
    ...(enabledTools !== undefined && { enabled_tools: enabledTools }),
    ...(timeoutMs !== undefined && { tool_timeout_sec: timeoutMs / 1000 }),
  };
}

const EFFORTS: Readonly<Record<Thinking, string | undefined>> = {
  disabled: "none",
  enabled: undefined,
  low: "low",
  medium: "medium",
  high: "high",
  deep: "xhigh",
  max: "xhigh",
};

export function effortOf({ effort, thinking }: SessionConfig): string | undefined {
  if (effort !== undefined && effort !== "") return effort;
  return thinking === undefined ? undefined : EFFORTS[thinking];
}
