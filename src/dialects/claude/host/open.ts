/** The opening of a session: the arguments that Claude Code's SDK gives, and the handshake. */
import type { McpServer, SessionConfig } from "../../../core/config.js";
import type { Event } from "../../../core/event.js";
import { canonicalTool } from "../../../core/names.js";
import type { OpOf } from "../../../core/op.js";
import type { Covers, Out, SideEnv, Step } from "../../dialect.js";
import { openingGap } from "../../kit/covers.js";
import { refused, warning } from "../../kit/reply.js";
import { isLatest, newSessionId, sessionIdOf } from "../../kit/stream-json/host/session-id.js";
import { OPENING } from "../coverage.js";
import { HOOKS } from "../wire/hooks.js";
import { effortFor } from "../../kit/stream-json/efforts.js";
import { wireMode, wireTool } from "../wire/names.js";
import { writeServer } from "../wire/servers.js";
import type { HostState } from "./state.js";

export function openOp(op: OpOf<"session.open">, state: HostState, env: SideEnv): Step<Event> {
  const { config = {} } = op;
  state.session = op.session;
  const gap = openingGap("Claude Code", config, coverOf(config), unlisted(config));
  if (gap.refusal !== undefined) return refused(op, gap.refusal);
  state.opener = op.id;
  state.config = config;
  const stored = sessionIdOf(op, env);
  const own = op.fork === true ? newSessionId(undefined, env) : stored;
  state.sessionId = isLatest(op.open, own) ? undefined : own;
  if (gap.warning !== undefined) state.lost.push(warning(gap.warning, state.session, "claude"));
  const argv = argvOf(op, stored, own);
  const launch: Out = { launch: { argv, env: KEEPS_COPIES, ...(config.cwd !== undefined && { cwd: config.cwd }) } };
  return { in: [], out: [launch, state.requests.send({ subtype: "initialize", ...handshake(config) }, { for: "initialize" })] };
}

/** Copies of files that tools change are kept, so that they can be taken back. */
const KEEPS_COPIES = { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" };

function argvOf({ open, config = {}, fork }: OpOf<"session.open">, stored: string, own: string): string[] {
  return [
    "--output-format",
    "stream-json",
    // Claude Code refuses the format without `--verbose`.
    "--verbose",
    "--input-format",
    "stream-json",
    // Without this flag every call that needs an approval is denied.
    "--permission-prompt-tool",
    "stdio",
    ...flag("--model", config.model),
    // For yolo our side allows each call, as Claude Code refuses its own such mode to root and without a special flag.
    ...flag("--permission-mode", config.mode === "yolo" ? "default" : wireMode(config.mode)),
    ...flag("--tools", config.allowedTools?.map(toolOf)),
    ...flag("--disallowedTools", some(config.disallowedTools?.map(toolOf))),
    ...flag("--allowedTools", some(config.approveTools?.map(toolOf))),
    ...flag("--max-turns", config.maxTurns),
    ...flag("--max-budget-usd", config.maxCost),
    ...flag("--effort", effortOf(config)),
    ...flag("--thinking", switchOf(config)),
    ...flag("--max-thinking-tokens", config.thinkingBudget),
    ...(config.streaming === false ? [] : ["--include-partial-messages"]),
    ...naming(open, stored, own, fork === true),
    ...(config.directories ?? []).flatMap((directory) => ["--add-dir", directory]),
    ...flag("--fallback-model", some(config.fallbackModels)),
    ...servers(config.mcpServers),
  ];
}

function naming(open: OpOf<"session.open">["open"], stored: string, own: string, isFork: boolean): string[] {
  const forked = isFork ? ["--fork-session", "--session-id", own] : [];
  if (isLatest(open, stored)) return ["--continue", ...forked];
  return open === "new" ? ["--session-id", own] : ["--resume", stored, ...forked];
}

function flag(name: string, value: string | number | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [name, Array.isArray(value) ? value.join(",") : String(value)];
}

/** Omits an empty list, which would be a flag without a value. */
function some(list: string[] | undefined): string[] | undefined {
  return list?.length === 0 ? undefined : list;
}

function toolOf(name: string): string {
  return wireTool(canonicalTool(name));
}

function effortOf({ effort, thinking }: SessionConfig): string | undefined {
  if (effort !== undefined && effort !== "") return effort;
  return thinking === undefined ? undefined : effortFor(thinking);
}

function switchOf({ thinking }: SessionConfig): string | undefined {
  if (thinking === undefined) return undefined;
  return thinking === "disabled" ? "disabled" : "adaptive";
}

function servers(all: Record<string, McpServer> = {}): string[] {
  const others = Object.entries(all).filter(([, { type }]) => type !== "host");
  if (others.length === 0) return [];
  return ["--mcp-config", JSON.stringify({ mcpServers: Object.fromEntries(others.map(([name, server]) => [name, writeServer(server)])) })];
}

function handshake({ system, appendSystem, subagents = [], mcpServers = {}, hostHooks = {} }: SessionConfig): object {
  const hosted = Object.entries(mcpServers).flatMap(([name, { type }]) => (type === "host" ? [name] : []));
  const hooks = Object.entries(HOOKS).flatMap(([own, names]) => {
    const callback = hostHooks[own];
    return callback === undefined ? [] : names.map((name) => [name, [{ hookCallbackIds: [callback], onFailure: "block" }]] as const);
  });
  return {
    ...(hooks.length > 0 && { hooks: Object.fromEntries(hooks) }),
    ...(hosted.length > 0 && { sdkMcpServers: hosted }),
    ...(system !== undefined && { systemPrompt: [system] }),
    ...(appendSystem !== undefined && { appendSystemPrompt: appendSystem }),
    ...(subagents.length > 0 && { agents: Object.fromEntries(subagents.map(writeAgent)) }),
  };
}

function writeAgent({ name, description, system = "", tools, model }: NonNullable<SessionConfig["subagents"]>[number]): [string, object] {
  const rest = { ...(tools !== undefined && { tools: tools.map(toolOf) }), ...(model !== undefined && { model }) };
  return [name, { description, prompt: system, ...rest }];
}

/** The lists of tools that the flags cannot say, in words. */
function unlisted({ allowedTools, disallowedTools }: SessionConfig): string[] {
  const hasComma = [allowedTools, disallowedTools].some((list) => list?.some((tool) => tool.includes(",")) === true);
  return hasComma ? ["a tool whose name has a comma"] : [];
}

/** Claude Code has one provider, so naming it is covered. */
function coverOf({ provider }: SessionConfig): Covers {
  return { only: provider === "anthropic" ? [...OPENING, "provider"] : OPENING };
}
