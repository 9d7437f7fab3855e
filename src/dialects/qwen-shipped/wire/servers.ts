/** MCP servers as hosts of this wire describe them. */
import type { McpServer } from "../../../core/config.js";
import { readJson } from "../../kit/json-text.js";
import { McpConfig, type McpServerConfig } from "./op-records.js";

export function ofHost(servers: Record<string, unknown> = {}): Record<string, McpServer> {
  return Object.fromEntries(Object.keys(servers).map((name) => [name, { type: "host" }]));
}

export function serversOf(servers: Record<string, McpServerConfig> = {}): Record<string, McpServer> {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, serverOf(server)]));
}

/** Reads a server: `url` is an SSE address and `httpUrl` a streamable one. */
function serverOf(server: McpServerConfig): McpServer {
  if (server["type"] === "sdk") return { type: "host" };
  const { command: program, args, env, url, httpUrl, headers, timeout, includeTools } = server;
  const address = httpUrl ?? url;
  return {
    ...(program !== undefined && { command: program }),
    ...(args !== undefined && { args }),
    ...(env !== undefined && { env }),
    ...(program === undefined && address !== undefined && { url: address }),
    ...(program === undefined && httpUrl === undefined && url !== undefined && server["type"] === undefined && { type: "sse" }),
    ...(headers !== undefined && { headers }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(includeTools !== undefined && { enabledTools: includeTools }),
  };
}

/** The value of `--mcp-config`, or the content of the file that it names. Throws the problem. */
export function readMcpConfig(json: string): Record<string, McpServer> {
  return serversOf(readJson(McpConfig, json).mcpServers);
}
