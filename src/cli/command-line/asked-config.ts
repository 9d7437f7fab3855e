/** What the command line says of a session that the settings have no word for. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { SessionConfig } from "../../core/config.js";
import { messageOf } from "../../core/errors.js";
import { serversOf } from "../../dialects/qwen-shipped/wire/servers.js";
import { McpConfig } from "../../dialects/qwen-shipped/wire/op-records.js";
import { count, list, text, usage, type Parsed } from "./flags.js";

export async function askedConfig(parsed: Parsed): Promise<SessionConfig> {
  const config = {
    directories: list(parsed, "include-directories"),
    fallbackModels: list(parsed, "fallback-model"),
    maxToolCalls: count(parsed, "max-tool-calls"),
    maxSeconds: count(parsed, "max-seconds"),
    nesting: count(parsed, "subagent-depth"),
    mcpServers: await serversIn(text(parsed, "mcp-config")),
  };
  return v.parse(SessionConfig, Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)));
}

async function serversIn(given: string | undefined): Promise<SessionConfig["mcpServers"]> {
  if (given === undefined) return undefined;
  const json = given.trimStart().startsWith("{") ? given : await fileText(given, "--mcp-config");
  const config = v.safeParse(v.pipe(v.string(), v.parseJson(), McpConfig), json);
  if (!config.success) throw usage(`--mcp-config is not a list of MCP servers: ${config.issues[0].message}`);
  return serversOf(config.output.mcpServers);
}

export async function fileText(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`${flag}: ${messageOf(error)}`);
  }
}
