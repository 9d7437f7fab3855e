/** The flags of a session that are no settings. */
import { readFile } from "node:fs/promises";
import * as v from "valibot";
import { SessionConfig } from "../../core/config.js";
import { messageOf } from "../../core/errors.js";
import { programOf, programs } from "../../dialects/index.js";
import { SESSION_ROWS } from "../serve/structured-flags.js";
import { text, usage, type Parsed } from "./flags.js";

export async function askedConfig(parsed: Parsed, dialect: string): Promise<SessionConfig> {
  const config = {
    ...Object.fromEntries(SESSION_ROWS.map(({ name, as, session }) => [session, as(parsed, name)])),
    mcpServers: await serversIn(text(parsed, "mcp-config"), dialect),
  };
  return v.parse(SessionConfig, Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)));
}

/** The dialect's own program decides the form of the JSON; without one, the first program of the registry that has a form. */
async function serversIn(given: string | undefined, dialect: string): Promise<SessionConfig["mcpServers"]> {
  const read = programOf(dialect)?.mcpConfig ?? programs.find(({ program }) => program.mcpConfig !== undefined)?.program.mcpConfig;
  if (given === undefined || read === undefined) return undefined;
  const json = given.trimStart().startsWith("{") ? given : await fileText(given, "--mcp-config");
  return read(json).catch((error: unknown) => {
    throw usage(`--mcp-config is not a list of MCP servers: ${messageOf(error)}`);
  });
}

export async function fileText(path: string, flag: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw usage(`${flag}: ${messageOf(error)}`);
  }
}
