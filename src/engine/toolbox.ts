/** Which tools a session has: ours and the host's, less what its lists leave out. */
import type { HostTool, SessionConfig } from "../core/config.js";
import { NESTING } from "../core/limits.js";
import type { HostReply, HostRequests } from "./host-requests.js";
import type { Emit } from "./run.js";
import { toolExists } from "./tool-lists.js";
import { exitPlan } from "./tools/exit-plan.js";
import { builtinTools } from "./tools/index.js";
import { textResult, type Tool, type ToolResult } from "./tools/tool.js";

export interface HostLine {
  requests: HostRequests;
  emit: Emit;
  seconds: number;
}

/** `own` are those of the session's extensions; one with the name of ours takes its place. */
export function toolbox(config: SessionConfig, host: HostLine, own: readonly Tool[]): Map<string, Tool> {
  const tools = [...builtinTools, exitPlan, ...own, ...(config.hostTools ?? []).map((tool) => hostTool(tool, host))];
  const exists = ({ name }: Tool): boolean => toolExists(name, config) && (name !== "Spawn" || (config.nesting ?? NESTING) > 0);
  return new Map(tools.filter(exists).map((tool) => [tool.name, tool]));
}

/** A tool that the host runs: a call of it is a request to the host. */
function hostTool(spec: HostTool, host: HostLine): Tool {
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
      const options = { seconds: host.seconds, signal: context.signal, call: context.call };
      return hostResult(await host.requests.ask(host.emit, "tool", { name: spec.name, args }, options));
    },
  };
}

function hostResult({ ok, data }: HostReply): ToolResult {
  if (typeof data === "string") return textResult(data, !ok);
  if (typeof data === "object" && data !== null) {
    if ("text" in data && typeof data.text === "string") return textResult(data.text, !ok);
    if ("message" in data && typeof data.message === "string") return textResult(data.message, !ok);
  }
  return textResult(JSON.stringify(data) ?? "", !ok);
}
