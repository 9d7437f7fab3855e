/** `parley mcp login`: the command `/mcp login` of a session that is not kept. */
import { openSession } from "../../host/session.js";
import { buildEngine } from "../compose/build-engine.js";
import { endOnSignal } from "../compose/signals.js";
import { nearest } from "../../core/text/nearest-word.js";
import { CommandReply } from "../../core/command.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { usage, type Parsed } from "../command-line/flags.js";
import * as v from "valibot";

export async function loginToServer({ positionals: [name] }: Parsed, loaded: Loaded, env: Env): Promise<number> {
  const { settings } = loaded;
  const servers = Object.keys(settings.mcpServers);
  if (name === undefined) throw usage("Which server? parley mcp login NAME ('parley mcp list' lists them)");
  const server = Object.hasOwn(settings.mcpServers, name) ? settings.mcpServers[name] : undefined;
  const near = nearest(name, servers);
  if (server === undefined)
    throw usage(`There is no MCP server '${name}'${near === undefined ? "" : `; did you mean '${near}'?`} ('parley mcp list' lists them)`);
  const alone = {
    ...loaded,
    settings: { ...settings, mcpServers: { [name]: server }, sessions: { ...settings.sessions, enabled: false } },
  };
  const agent = buildEngine(alone, env, { provider: "rehearsal" });
  const signals = endOnSignal(agent);
  try {
    const session = await openSession(agent);
    // A server is known once it was connected to, or refused us.
    for await (const event of session.gathered()) if (event.type === "error") process.stderr.write(`parley: ${event.fault.message}\n`);
    for await (const event of session.command("mcp", `login ${name}`)) {
      if (event.type === "notice" && event.kind === "mcp") process.stdout.write(`${event.text}\n`);
      if (event.type === "reply" && v.is(CommandReply, event.data) && event.data.result.type === "message")
        process.stdout.write(`${event.data.result.text}\n`);
    }
    await session.close();
    return signals.code() ?? 0;
  } finally {
    await agent.close();
  }
}
