/** /mcp, /skills and /agents: lists of a session's extensions. */
import type { ListedMcpServer } from "../../../core/event.js";
import { untilAborted } from "../../turn/interrupt.js";
import type { CommandContext } from "./builtins.js";
import { columns, firstLine } from "./columns.js";
import { always, hintAt, listing, message, suggestion, usageFault, wordsOf, type Command, type CommandOutcome } from "./command.js";
import type { Listed } from "./sources.js";

type Context = Pick<CommandContext, "surroundings">;

export function skillsCommand({ surroundings }: Context): Command {
  return {
    name: "skills",
    description: "Lists the skills; each is a command of its name",
    source: "builtin",
    immediate: always,
    run: async () =>
      message(listed(surroundings.skills.list(), "/") ?? "There are no skills. A folder with a SKILL.md in .parley/skills is one."),
  };
}

export function agentsCommand({ surroundings }: Context): Command {
  return {
    name: "agents",
    description: "Lists the sub-agents that Spawn can use, or shows one",
    argumentHint: "[NAME]",
    source: "builtin",
    immediate: always,
    complete: async () => surroundings.subagents().map(({ name, description }) => suggestion(name, firstLine(description))),
    async run(args) {
      const agents = surroundings.subagents();
      const name = args.trim();
      if (name !== "") return message(agentText(name, agents));
      const text = listed(agents, "") ?? "There are no sub-agents of their own. A Markdown file in .parley/agents is one.";
      const choices = agents.map((agent) => ({ value: agent.name, description: firstLine(agent.description) }));
      return listing(text, choices);
    },
  };
}

export function mcpCommand({ surroundings, control }: Context & Pick<CommandContext, "control">): Command {
  const serverNames = (): string[] => surroundings.mcpServers().map(({ name }) => name);
  return {
    name: "mcp",
    description: "Lists the MCP servers, shows the tools of one, or logs in to it",
    argumentHint: "[login NAME | NAME]",
    source: "builtin",
    // The command returns while a login waits for its user.
    immediate: (args) => wordsOf(args)[0] !== "login",
    complete: async () => serverNames().flatMap((name) => [suggestion(name), suggestion(`login ${name}`)]),
    async run(args, signal) {
      const [first, second] = wordsOf(args);
      if (first === undefined) return serverList(surroundings.mcpServers());
      if (first !== "login") return message(serverText(serverOf(first)));
      if (second === undefined) throw usageFault("Which server? /mcp login NAME");
      return login(serverOf(second).name, signal);
    },
  };

  async function login(name: string, signal: AbortSignal): Promise<CommandOutcome> {
    const { url, done } = await untilAborted(signal, surroundings.mcpLogin(name));
    await control.emit({ type: "notice", level: "info", kind: "mcp", text: `Log in to '${name}' in your browser: ${url}` });
    await untilAborted(signal, done);
    return message(`You are logged in to '${name}'`);
  }

  function serverOf(name: string): ListedMcpServer {
    const server = surroundings.mcpServers().find((each) => each.name === name);
    if (server === undefined) throw usageFault(`There is no MCP server '${name}'${hintAt(name, serverNames())}`);
    return server;
  }
}

function listed(items: readonly Listed[], mark: string): string | undefined {
  if (items.length === 0) return undefined;
  return columns(
    items.map(({ name, description, argumentHint }) => [[mark + name, argumentHint].filter(Boolean).join(" "), firstLine(description)]),
  );
}

function agentText(name: string, agents: readonly Listed[]): string {
  const agent = agents.find((each) => each.name === name);
  const names = agents.map((each) => each.name);
  if (agent === undefined) throw usageFault(`There is no sub-agent '${name}'${hintAt(name, names)}`);
  const { description = "", tools: kept, model } = agent;
  const rows = [...(kept === undefined ? [] : [["Tools", kept.join(", ")]]), ...(model === undefined ? [] : [["Model", model]])];
  return [name, description.trim(), ...(rows.length === 0 ? [] : [columns(rows)])].join("\n");
}

function serverList(servers: readonly ListedMcpServer[]): CommandOutcome {
  if (servers.length === 0) return message("There are no MCP servers. They are named under mcpServers in config.yaml.");
  const rows = servers.map(({ name, status, error, tools: offered }) => [name, status, error ?? tools(offered.length)] as const);
  const choices = rows.map(([value, ...more]) => ({ value, description: more.join(", ") }));
  return listing(columns(rows), choices);
}

function serverText(server: ListedMcpServer): string {
  const where = server.url ?? [server.command, ...(server.args ?? [])].filter(Boolean).join(" ");
  const head = [`${server.name}: ${server.status}`, where, server.error].filter(Boolean).join("\n");
  const rows = server.tools.map(({ qualifiedName, description }) => [qualifiedName, firstLine(description)]);
  return `${head}\n${tools(server.tools.length)}${rows.length === 0 ? "" : `\n${columns(rows)}`}`;
}

function tools(count: number): string {
  return count === 1 ? "1 tool" : `${count} tools`;
}
