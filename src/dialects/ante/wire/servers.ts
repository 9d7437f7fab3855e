/** The MCP servers in `settings.json` of Ante's own home, which a user who comes from Ante keeps. */
import * as v from "valibot";
import { messageOf } from "../../../core/errors.js";
import type { Servers } from "../../kit/program.js";

const Server = v.looseObject({
  command: v.pipe(v.string(), v.nonEmpty()),
  args: v.nullish(v.array(v.string())),
  env: v.nullish(v.record(v.string(), v.string())),
  enabled_tools: v.nullish(v.array(v.string())),
});
const File = v.looseObject({ mcp_servers: v.nullish(v.record(v.string(), Server)) });

export function readServers(path: string, text: string): { servers: Servers; warnings: string[] } {
  try {
    const given = v.parse(File, JSON.parse(text)).mcp_servers ?? {};
    return { servers: Object.fromEntries(Object.entries(given).map(([name, server]) => [name, serverOf(server)])), warnings: [] };
  } catch (error) {
    return { servers: {}, warnings: [`${path} is not used: ${problem(error)}`] };
  }
}

function serverOf({ command, args, env, enabled_tools }: v.InferOutput<typeof Server>): Servers[string] {
  return {
    command,
    ...(args != null && { args }),
    ...(env != null && { env }),
    ...(enabled_tools != null && { enabledTools: enabled_tools }),
  };
}

function problem(error: unknown): string {
  if (!v.isValiError(error)) return messageOf(error);
  const [issue] = error.issues;
  return `${v.getDotPath(issue) ?? "it"}: ${issue.message}`;
}
