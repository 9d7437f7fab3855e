/** MCP servers as Claude Code describes them: in `--mcp-config`, in `.mcp.json` and in `mcp_set_servers`. */
import * as v from "valibot";
import type { McpServer } from "../../../core/config.js";
import { readJson } from "../../kit/json-text.js";

const text = v.string();

export const McpServerConfig = v.looseObject({
  type: v.optional(v.union([v.picklist(["stdio", "http", "sse", "sdk"]), text])),
  command: v.optional(text),
  args: v.optional(v.array(text)),
  env: v.optional(v.record(text, text)),
  url: v.optional(text),
  headers: v.optional(v.record(text, text)),
  timeout: v.optional(v.number()),
});
export type McpServerConfig = v.InferOutput<typeof McpServerConfig>;

/** The content of the file that `--mcp-config` names. */
const McpConfig = v.looseObject({ mcpServers: v.record(text, McpServerConfig) });

export function ofHost(names: readonly string[] = []): Record<string, McpServer> {
  return Object.fromEntries(names.map((name) => [name, { type: "host" }]));
}

export function serversOf(servers: Readonly<Record<string, McpServerConfig>> = {}): Record<string, McpServer> {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, serverOf(server)]));
}

function serverOf({ type, command, args, env, url, headers, timeout }: McpServerConfig): McpServer {
  if (type === "sdk") return { type: "host" };
  return {
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
    ...(command === undefined && url !== undefined && { url }),
    ...(command === undefined && type === "sse" && { type }),
    ...(headers !== undefined && { headers }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
  };
}

export function writeServer({ type, command, args, env, url, headers, timeoutMs }: McpServer): McpServerConfig {
  return {
    type: command !== undefined ? "stdio" : type === "sse" ? "sse" : "http",
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
    ...(command === undefined && url !== undefined && { url }),
    ...(headers !== undefined && { headers }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  };
}

/** Reads the JSON of `--mcp-config`. Throws the problem with it. */
export function readMcpConfig(json: string): Record<string, McpServer> {
  return serversOf(readJson(McpConfig, json).mcpServers);
}
