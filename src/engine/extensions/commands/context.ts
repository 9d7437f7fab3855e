/** /context: the parts that fill the model's window. Token counts are estimates, except for the model's own. */
import { windowOf } from "../../turn/compaction/compaction.js";
import { estimate, tokensOf } from "../../turn/compaction/cut.js";
import { systemPrompt } from "../../turn/system-prompt.js";
import { isToldTo } from "../../turn/told-tools.js";
import { toolbox } from "../../turn/toolbox.js";
import type { Tool } from "../../tools/tool.js";
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { always, message, type Command } from "./command.js";

type Context = Pick<CommandContext, "control" | "surroundings" | "forTurn">;

export function contextCommand(context: Context): Command {
  return {
    name: "context",
    description: "Shows what fills the model's window",
    source: "builtin",
    immediate: always,
    async run() {
      const counts = await count(context);
      // Programs get the same as numbers.
      return { ...message(columns(rows(context, counts))), data: counts };
    },
  };
}

interface Counts {
  /** Tokens of the last request and its answer, when the model told. */
  used: number | undefined;
  window: number | undefined;
  system: number;
  memory: number;
  tools: number;
  toolCount: number;
  mcpTools: number;
  mcpToolCount: number;
  messages: number;
}

async function count({ control, surroundings, forTurn }: Context): Promise<Counts> {
  const { session, messages } = control;
  const [config, model, turn] = [control.config(), control.model(), await forTurn()];
  const host = { requests: session.hostRequests, emit: control.emit, seconds: session.answerSeconds };
  const known = toolbox(config, host, turn.tools);
  const tools = [...known.values()].filter((tool) => isToldTo(model, tool, known));
  const [servers, own] = [tools.filter(isMcp), tools.filter((tool) => !isMcp(tool))];
  return {
    used: control.used(),
    window: windowOf(config, model),
    system: tokensOf(await systemPrompt(session, config, { model, tools: known, instructions: turn.instructions })),
    memory: sum(surroundings.memoryFiles().map(({ text }) => tokensOf(text))),
    tools: await tokensOfTools(own),
    toolCount: own.length,
    mcpTools: await tokensOfTools(servers),
    mcpToolCount: servers.length,
    messages: estimate(messages),
  };
}

function rows({ control, surroundings }: Context, counts: Counts): string[][] {
  const model = control.model();
  const memory = surroundings.memoryFiles();
  return [
    ["Model", `${model.id} (${model.provider})`],
    ["Window", windowText(counts.used, counts.window)],
    ["System prompt", about(counts.system)],
    ["Memory files", counted(memory.length, counts.memory)],
    ...memory.map(({ path, text }) => [`  ${path}`, about(tokensOf(text))]),
    ["Tools", counted(counts.toolCount, counts.tools)],
    ["MCP tools", counted(counts.mcpToolCount, counts.mcpTools)],
    ["Messages", counted(control.messages.length, counts.messages)],
  ];
}

function isMcp({ name }: Tool): boolean {
  return name.startsWith("mcp__");
}

function windowText(used: number | undefined, limit: number | undefined): string {
  const most = limit === undefined ? "" : ` of ${number(limit)}`;
  if (used === undefined) return `nothing was sent yet${limit === undefined ? "" : `; ${number(limit)} tokens fit`}`;
  const share = limit === undefined ? "" : ` (${Math.round((100 * used) / limit)} %)`;
  return `${number(used)}${most} tokens${share} with the last answer`;
}

async function tokensOfTools(tools: readonly Tool[]): Promise<number> {
  const schemas = await Promise.all(tools.map(async (tool) => JSON.stringify(await tool.parameters())));
  return sum(tools.map((tool, at) => tokensOf(tool.name + tool.description + (schemas[at] ?? ""))));
}

function counted(count: number, tokens: number): string {
  return count === 0 ? "none" : `${number(count)}, ${about(tokens)}`;
}

function about(tokens: number): string {
  return `about ${number(tokens)} tokens`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
