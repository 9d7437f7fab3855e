/** The tools of a session: ours, the extensions' and the host's, without the ones that its lists leave out. */
import type { HostTool, SessionConfig } from "../../core/config.js";
import { NESTING } from "../../core/limits.js";
import { ASKING_TOOLS } from "../../core/names.js";
import { argumentCheck, type ArgumentCheck } from "../calls/argument-check.js";
import type { HostReply, HostRequests } from "../session/host-requests.js";
import type { Emit } from "./turn.js";
import { toolExists } from "../permissions/tool-lists.js";
import { askUserTool } from "../tools/ask-user.js";
import { exitPlan } from "../tools/exit-plan.js";
import { builtinTools } from "../tools/index.js";
import { bashWith } from "../tools/shell/bash.js";
import { textResult, type Tool, type ToolResult } from "../tools/tool.js";

export interface HostLine {
  requests: HostRequests;
  emit: Emit;
  seconds: number;
}

/**
 * `own` holds the tools of the session's extensions; a tool with the name of ours replaces ours. `sandbox`: words about the sandbox of its
 * commands.
 */
export function toolbox(config: SessionConfig, host: HostLine, own: readonly Tool[], sandbox?: string): Map<string, Tool> {
  const tools = [
    ...builtinTools,
    ...(sandbox === undefined ? [] : [bashWith(sandbox)]),
    exitPlan,
    ...asking(config, host),
    ...own,
    ...(config.hostTools ?? []).map((tool) => hostTool(tool, host)),
  ];
  const exists = (tool: Tool): boolean => isLeft(tool, config) && (tool.name !== "Spawn" || (config.nesting ?? NESTING) > 0);
  return new Map(tools.filter(exists).map((tool) => [tool.name, tool]));
}

/** None where the host brings a tool of its own for it. */
function asking({ hostTools = [] }: SessionConfig, { requests, emit, seconds }: HostLine): Tool[] {
  if (hostTools.some(({ name }) => ASKING_TOOLS.includes(name))) return [];
  return [askUserTool((data, { signal, call }) => requests.ask(emit, "question", data, { seconds, signal, call }))];
}

/** A tool that stands for others is there where all of them are, and where no list forbids it by its own name. */
function isLeft({ name, wholeName, standsFor }: Tool, config: SessionConfig): boolean {
  if (standsFor === undefined) return toolExists(name, config, wholeName?.({}));
  return standsFor.every((each) => toolExists(each, config)) && toolExists(name, { ...config, allowedTools: undefined });
}

/** Names of all tools that there would be without lists. */
export function toolNames({ hostTools = [] }: SessionConfig, own: readonly Tool[]): string[] {
  return [...[...builtinTools, exitPlan, ...own, ...hostTools].map(({ name }) => name), "AskUser"];
}

/** A tool that the host runs: a call of it is a request to the host, who gets only arguments of the form that it asked for. */
function hostTool(spec: HostTool, host: HostLine): Tool {
  let check: Promise<ArgumentCheck> | undefined;
  return {
    name: spec.name,
    category: "exec",
    access: "none",
    hosted: true,
    description: spec.description ?? "",
    parameters: () => Promise.resolve(spec.parameters ?? { type: "object" }),
    problem: () => undefined,
    title: () => spec.name,
    paths: () => [],
    async run(args, context) {
      check ??= checkOf(spec);
      const problem = (await check)(args);
      if (problem !== undefined) return textResult(`Invalid arguments for ${spec.name}: ${problem}`, true);
      const options = { seconds: host.seconds, signal: context.signal, call: context.call };
      return hostResult(await host.requests.ask(host.emit, "tool", { name: spec.name, args }, options));
    },
  };
}

/** A schema that cannot be read forbids nothing: the host looks at the arguments itself. */
async function checkOf({ parameters }: HostTool): Promise<ArgumentCheck> {
  const nothing: ArgumentCheck = () => undefined;
  return parameters === undefined ? nothing : argumentCheck(parameters).catch(() => nothing);
}

function hostResult({ ok, data }: HostReply): ToolResult {
  if (typeof data === "string") return textResult(data, !ok);
  if (typeof data === "object" && data !== null) {
    if ("text" in data && typeof data.text === "string") return textResult(data.text, !ok);
    if ("message" in data && typeof data.message === "string") return textResult(data.message, !ok);
  }
  return textResult(JSON.stringify(data) ?? "", !ok);
}
