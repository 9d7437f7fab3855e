/** Opens a session of a driven agent: the arguments in the SDK's order, and the handshake. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Event } from "../../../core/event.js";
import { ANSWER_SECONDS } from "../../../core/limits.js";
import { canonicalTool } from "../../../core/names.js";
import type { OpOf } from "../../../core/op.js";
import type { Covers, Out, SideEnv, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { OPENING } from "../coverage.js";
import type { HostState } from "./state.js";
import { wireMode, wireTool } from "../wire/names.js";
import { isLatest, sessionIdOf } from "../../kit/stream-json/host/session-id.js";
import type { McpServerConfig } from "../wire/op-records.js";
import { refused, warning } from "../../kit/reply.js";

/** The longest time that the agent waits for a permission. */
const LONGEST_MS = 600_000;

export function openOp(op: OpOf<"session.open">, state: HostState, env: SideEnv): Step<Event> {
  const { config = {} } = op;
  state.session = op.session;
  const gap = openingGap("Qwen Code", config, coverOf(config), unlisted(config));
  if (gap.refusal !== undefined) return refused(op, gap.refusal);
  state.opener = op.id;
  state.config = config;
  const sessionId = sessionIdOf(op, env);
  // The id of the latest session is known when the session is ready.
  state.sessionId = isLatest(op.open, sessionId) ? undefined : sessionId;
  if (op.open !== "new") state.spent = undefined;
  if (gap.warning !== undefined) state.lost.push(warning(gap.warning, state.session, "qwen-shipped"));
  const launch: Out = { launch: { argv: argvOf(op, sessionId), env: {}, ...(config.cwd !== undefined && { cwd: config.cwd }) } };
  return { in: [], out: [launch, state.requests.send({ subtype: "initialize", ...handshake(config) }, { for: "initialize" })] };
}

function argvOf({ open, config = {}, fork }: OpOf<"session.open">, sessionId: string): string[] {
  const isNew = open === "new";
  return [
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--channel=SDK",
    ...flag("--model", config.model),
    ...flag("--system-prompt", config.system),
    ...flag("--append-system-prompt", config.appendSystem),
    // Without the flag a model would decide which calls need no approval.
    ...flag("--approval-mode", wireMode(config.mode)),
    ...flag("--core-tools", config.allowedTools?.map(toolOf)),
    ...flag("--exclude-tools", config.disallowedTools?.map(toolOf)),
    ...flag("--allowed-tools", config.approveTools?.map(toolOf)),
    ...flag("--auth-type", AUTH_TYPES.get(config.provider ?? "")),
    ...(config.streaming === false ? [] : ["--include-partial-messages"]),
    ...(isLatest(open, sessionId) ? ["--continue"] : flag(isNew ? "--session-id" : "--resume", sessionId)),
    ...(fork === true ? ["--fork-session"] : []),
    ...flag("--max-tool-calls", config.maxToolCalls),
    ...flag("--max-subagent-depth", config.nesting),
    ...flag("--include-directories", config.directories),
    ...flag("--fallback-model", config.fallbackModels),
  ];
}

function flag(name: string, value: string | number | string[] | undefined): string[] {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return [name, Array.isArray(value) ? value.join(",") : String(value)];
}

function toolOf(name: string): string {
  return wireTool(canonicalTool(name));
}

const AUTH_TYPES: ReadonlyMap<string, string> = new Map([
  ["openai", "openai"],
  ["anthropic", "anthropic"],
  ["gemini", "gemini"],
  ["vertex", "vertex-ai"],
]);

function handshake({ answerSeconds = ANSWER_SECONDS, mcpServers = {}, subagents = [], effort }: SessionConfig): object {
  const all = Object.entries(mcpServers);
  const hosted = all.flatMap(([name, { type }]) => (type === "host" ? [[name, { type: "sdk", name }] as const] : []));
  const others = all.flatMap(([name, server]) => (server.type === "host" ? [] : [[name, writeServer(server)] as const]));
  return {
    hooks: null,
    timeout: { canUseTool: Math.min(LONGEST_MS, Math.round(answerSeconds * 1000)) },
    ...(hosted.length > 0 && { sdkMcpServers: Object.fromEntries(hosted) }),
    ...(others.length > 0 && { mcpServers: Object.fromEntries(others) }),
    ...(subagents.length > 0 && { agents: subagents.map(writeAgent) }),
    ...(effort !== undefined && effort !== "" && { effort }),
  };
}

function writeAgent({ name, description, system, tools }: NonNullable<SessionConfig["subagents"]>[number]): object {
  const prompt = system === undefined ? {} : { systemPrompt: system };
  return { name, description, ...prompt, ...(tools !== undefined && { tools: tools.map(toolOf) }), level: "session" };
}

function writeServer({ type, command, args, env, url, headers, enabledTools, timeoutMs }: McpServer): McpServerConfig {
  return {
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
    ...(url !== undefined && (type === "sse" ? { url } : { httpUrl: url })),
    ...(headers !== undefined && { headers }),
    ...(enabledTools !== undefined && { includeTools: enabledTools }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  };
}

/** The lists of tools that the flags cannot say, in words. An empty list would be omitted, which means all tools. */
function unlisted({ allowedTools, disallowedTools }: SessionConfig): string[] {
  const hasComma = [allowedTools, disallowedTools].some((list) => list?.some((tool) => tool.includes(",")) === true);
  return [...(allowedTools?.length === 0 ? ["to use no tools"] : []), ...(hasComma ? ["a tool whose name has a comma"] : [])];
}

/** The flags have some providers only. An empty `approveTools` has no flag: the agent's own list of harmless tools stays. */
function coverOf({ provider = "", approveTools }: SessionConfig): Covers {
  const unsaid = [...(AUTH_TYPES.has(provider) ? [] : ["provider"]), ...(approveTools?.length === 0 ? ["approveTools"] : [])];
  return { only: OPENING.filter((key) => !unsaid.includes(key)) };
}
