/** `parley mcp add`, `list` and `remove`: the servers in the user's config file. */
import { resolve } from "node:path";
import { nearest } from "../../core/text/nearest-word.js";
import { homeOf } from "../../os/files/home.js";
import type { McpServer } from "../../settings/config-schema.js";
import { editConfig } from "../../settings/edit-config.js";
import type { Env, Loaded } from "../../settings/settings.js";
import { given, texts, usage, type Parsed } from "../command-line/flags.js";
import { workingFolder } from "../compose/working-folder.js";
import { harmless } from "../inspect/harmless.js";

export async function addServer(parsed: Parsed, env: Env): Promise<number> {
  const [name, ...words] = parsed.positionals;
  if (name === undefined) throw usage("Which server? parley mcp add NAME -- COMMAND…, or parley mcp add NAME URL");
  if (!/^[\w.-]{1,64}$/.test(name)) throw usage(`'${name}' is no name of a server: 1 to 64 letters, digits, '-', '_' or '.'`);
  const server = serverOf(parsed, words);
  const file = await editConfig(homeOf(env, workingFolder()), "mcpServers", name, server, (names) => {
    if (names.includes(name)) throw usage(`There is a server '${name}' already; 'parley mcp remove ${name}' removes it`);
  });
  process.stdout.write(`The MCP server '${name}' is in ${file}. Sessions that begin from now on have its tools.\n`);
  return 0;
}

function serverOf(parsed: Parsed, words: readonly string[]): Omit<McpServer, "type"> {
  const env = pairs(parsed, "env", /^([A-Za-z_]\w*)=(.*)$/s, "NAME=VALUE");
  const headers = pairs(parsed, "header", /^([\w-]+):\s*(.*)$/s, "NAME: VALUE");
  const [first, ...args] = words;
  if (parsed.dashes === undefined) {
    if (first === undefined || args.length > 0 || !/^https?:\/\//i.test(first) || !URL.canParse(first))
      throw usage(
        `${first === undefined ? "What is the server?" : `'${words.join(" ")}' is no address.`} Put -- before a command, or give an http or https address`,
      );
    if (env !== undefined) throw usage("--env goes with a command; an address takes --header");
    return { url: first, ...(headers !== undefined && { headers }) };
  }
  if (parsed.dashes !== 1 || first === undefined)
    throw usage("The command stands behind --, and NAME before it: parley mcp add NAME -- COMMAND…");
  if (headers !== undefined) throw usage("--header goes with an address; a command takes --env");
  // The file lies elsewhere, and a path in it would be meant from there.
  const command = /^\.{1,2}[\\/]|^[^\\/]+[\\/]/.test(first) ? resolve(workingFolder(), first) : first;
  return { command, ...(args.length > 0 && { args }), ...(env !== undefined && { env }) };
}

function pairs(parsed: Parsed, flag: string, form: RegExp, shape: string): Record<string, string> | undefined {
  const entries = texts(parsed, flag).map((text): [string, string] => {
    const [, name, value] = form.exec(text) ?? [];
    if (name === undefined || value === undefined) throw usage(`--${flag} takes ${shape}`);
    return [name, value];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

export function listServers(parsed: Parsed, { settings, origins, warnings }: Loaded): number {
  for (const warning of warnings) process.stderr.write(`parley: ${warning}\n`);
  const servers = Object.entries(settings.mcpServers).map(([name, server]) => ({
    name,
    server,
    from: origins.get(`mcpServers.${name}`) ?? "",
  }));
  if (given(parsed, "json"))
    for (const { name, server, from } of servers) process.stdout.write(`${JSON.stringify({ name, ...shown(server), from })}\n`);
  else if (servers.length === 0) process.stdout.write("No MCP server is configured; 'parley mcp add' adds one.\n");
  else for (const { name, server, from } of servers) process.stdout.write(`${harmless(`${name}  ${placeOf(server)}  ${from}`)}\n`);
  return 0;
}

/** Values of variables and headers may be secrets, and so may the query of an address. */
function shown({ env, headers, url, ...server }: McpServer): object {
  return {
    ...server,
    ...(url !== undefined && { url: withoutQuery(url) }),
    ...(env !== undefined && { env: Object.keys(env) }),
    ...(headers !== undefined && { headers: Object.keys(headers) }),
  };
}

function placeOf({ command, args = [], url = "" }: McpServer): string {
  return command === undefined ? withoutQuery(url) : [command, ...args].join(" ");
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, "").replace(/^(\w+:\/\/)[^/@]*@/, "$1");
}

export async function removeServer({ positionals: [name] }: Parsed, env: Env): Promise<number> {
  if (name === undefined) throw usage("Which server? parley mcp remove NAME ('parley mcp list' lists them)");
  const file = await editConfig(homeOf(env, workingFolder()), "mcpServers", name, undefined, (names) => {
    if (names.includes(name)) return;
    const near = nearest(name, names);
    const hint = near === undefined ? "" : `; did you mean '${near}'?`;
    throw usage(`Your config.yaml names no MCP server '${name}'${hint} ('parley mcp list' lists them)`);
  });
  process.stdout.write(`The MCP server '${name}' is removed from ${file}.\n`);
  return 0;
}
