/** /context: what fills the model's window. Counts of tokens are estimates, but for what the model itself told. */
import { plainText } from "../../../core/content.js";
import { windowOf } from "../../compaction.js";
import type { Message } from "../../models/model.js";
import { systemPrompt } from "../../prompt.js";
import { toolbox } from "../../toolbox.js";
import type { Tool } from "../../tools/tool.js";
import type { CommandContext } from "./builtins.js";
import { columns } from "./columns.js";
import { always, message, type Command } from "./command.js";

const CHARS_A_TOKEN = 4;

type Context = Pick<CommandContext, "control" | "surroundings" | "forTurn">;

export function contextCommand(context: Context): Command {
  return {
    name: "context",
    description: "Shows what fills the model's window",
    source: "builtin",
    immediate: always,
    run: async () => message(columns(await rows(context))),
  };
}

async function rows({ control, surroundings, forTurn }: Context): Promise<string[][]> {
  const { state, messages } = control;
  const [config, model, turn] = [control.config(), control.model(), await forTurn()];
  const host = { requests: state.hostRequests, emit: control.emit, seconds: state.answerSeconds };
  const tools = [...toolbox(config, host, turn.tools).values()];
  const [servers, own] = [tools.filter(isMcp), tools.filter((tool) => !isMcp(tool))];
  const memory = surroundings.memoryFiles();
  return [
    ["Model", `${model.id} (${model.provider})`],
    ["Window", windowText(control.used(), windowOf(config, model))],
    ["System prompt", tokens(systemPrompt(config, state.workspace.root, turn.instructions).length)],
    ["Memory files", counted(memory.length, sum(memory.map(({ text }) => text.length)))],
    ...memory.map(({ path, text }) => [`  ${path}`, tokens(text.length)]),
    ["Tools", counted(own.length, await charsOf(own))],
    ["MCP tools", counted(servers.length, await charsOf(servers))],
    ["Messages", counted(messages.length, sum(messages.map(messageChars)))],
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

async function charsOf(tools: readonly Tool[]): Promise<number> {
  const schemas = await Promise.all(tools.map(async (tool) => JSON.stringify(await tool.parameters())));
  return sum(tools.map((tool, at) => tool.name.length + tool.description.length + (schemas[at]?.length ?? 0)));
}

function messageChars(said: Message): number {
  if (said.role === "user") return plainText(said.parts).length;
  if (said.role === "tool") return sum(said.results.map(({ parts }) => plainText(parts).length));
  return sum(said.blocks.map((block) => (block.type === "call" ? JSON.stringify(block.call.args).length : block.text.length)));
}

function counted(count: number, chars: number): string {
  return count === 0 ? "none" : `${number(count)}, ${tokens(chars)}`;
}

function tokens(chars: number): string {
  return `about ${number(Math.ceil(chars / CHARS_A_TOKEN))} tokens`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
