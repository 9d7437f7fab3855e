/** Tools of servers for the model, and the two that read resources. A server's claims about its tools never count for approvals. */
import type { Tool as ServerTool, Progress } from "@modelcontextprotocol/client";
import * as v from "valibot";
import { ParleyError } from "../../../core/errors.js";
import { capText } from "../../workspace/output.js";
import { progressOf } from "../../tools/shell/progress.js";
import { oneLine } from "../../tools/title.js";
import { defineTool, textResult, type Tool, type ToolContext } from "../../tools/tool.js";
import { resourceParts, toolResult } from "./content.js";
import { wholeName } from "./names.js";
import type { Server } from "./server.js";

export function mcpTool(server: Server, tool: ServerTool, name: string): Tool {
  return {
    name,
    category: "mcp",
    access: "none",
    wholeName: () => wholeName(server.name, tool.name),
    description: tool.description ?? tool.title ?? "",
    parameters: () => Promise.resolve({ ...tool.inputSchema }),
    // The server checks the arguments; its schema may be of any draft.
    problem: () => undefined,
    title: () => oneLine(`${server.name}: ${tool.name}`),
    paths: () => [],
    async run(args, context) {
      const progress = progressOf((text) => context.progress(text));
      try {
        const onprogress = (step: Progress): void => progress.push("stdout", `${progressText(step)}\n`);
        return toolResult(await server.callTool(tool, args, { signal: context.signal, trace: context.trace, onprogress }), context);
      } finally {
        progress.end();
      }
    },
  };
}

function progressText({ progress, total, message }: Progress): string {
  const count = total === undefined ? String(progress) : `${progress}/${total}`;
  return oneLine(message === undefined ? count : `${count} ${message}`);
}

/** `servers` are the servers that have resources now. */
export function resourceTools(servers: readonly Server[]): Tool[] {
  return servers.length === 0 ? [] : [listResources(servers), readResource(servers)];
}

function listResources(servers: readonly Server[]): Tool {
  return defineTool({
    name: "ListMcpResources",
    category: "mcp",
    access: "none",
    description: "Lists the resources of the connected MCP servers: server, URI, name and description.",
    args: v.object({ server: v.optional(v.pipe(v.string(), v.description("Only those of this server."))) }),
    wholeName: ({ server }) => resourcesOf(server),
    title: ({ server }) => oneLine(`List the resources of ${server ?? "MCP servers"}`),
    run({ server }, context) {
      const asked = server === undefined ? servers : [named(servers, server)];
      const lines = asked.flatMap(({ name, resources }) =>
        resources.map(({ uri, title, name: called, description }) =>
          oneLine([name, uri, title ?? called, description].filter(Boolean).join("  "), 500),
        ),
      );
      return Promise.resolve(textResult(bound(lines.length === 0 ? "There are none." : lines.join("\n"), context)));
    },
  });
}

function readResource(servers: readonly Server[]): Tool {
  return defineTool({
    name: "ReadMcpResource",
    category: "mcp",
    access: "none",
    description: "Reads a resource of an MCP server by its URI. ListMcpResources tells which there are.",
    args: v.object({ server: v.string(), uri: v.pipe(v.string(), v.minLength(1)) }),
    wholeName: ({ server }) => resourcesOf(server),
    title: ({ server, uri }) => oneLine(`Read ${uri} of ${server}`),
    async run({ server, uri }, context) {
      const { signal, trace } = context;
      return { parts: resourceParts(await named(servers, server).readResource(uri, { signal, trace }), context) };
    },
  });
}

/** The tool name for a server's resources: `mcp__server__*` covers them, too. */
export function resourcesOf(server: unknown): string | undefined {
  return typeof server === "string" ? wholeName(server, "resources") : undefined;
}

function bound(text: string, { redactor, outputChars }: ToolContext): string {
  return capText(redactor.text(text), outputChars);
}

function named(servers: readonly Server[], name: string): Server {
  const server = servers.find((one) => one.name === name);
  if (server !== undefined) return server;
  const names = servers.map((one) => one.name).join(", ");
  throw new ParleyError({
    code: "tool",
    message: `No connected MCP server '${name}' has resources. Those that do: ${names}`,
    retryable: false,
  });
}
