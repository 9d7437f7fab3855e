/** Converts the lists of skills, sub-agents and servers. */
import type { EventOf, ListedMcpServer } from "../../../core/event.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { EventFields, WireMcpServer } from "./records.js";

export function writeCatalogue(event: Partial<EventOf<"catalog.updated">>, sessionId: string): EventFields<"ExtensionRefreshed"> {
  const { skills = [], subagents = [], mcpServers = [] } = event;
  return {
    session_id: sessionId,
    skills: skills.map(({ name, description = null, scope, argumentHint = null }) => ({
      name,
      description,
      scope: scopeOf(scope),
      argument_hint: argumentHint,
    })),
    subagents: subagents.map(({ name, description = "", scope }) => ({ name, description, scope: scopeOf(scope) })),
    mcp_servers: mcpServers.map(writeServer),
  };
}

/** The first list comes before the servers, and has none of them. */
export function readCatalogue(fields: EventFields<"ExtensionRefreshed">, session: string, isWhole: boolean): EventOf<"catalog.updated"> {
  return {
    type: "catalog.updated",
    session,
    whole: isWhole,
    skills: fields.skills.map(({ name, description, scope, argument_hint }) => ({
      name,
      ...listed(description, scope),
      ...(argument_hint != null && { argumentHint: argument_hint }),
    })),
    subagents: fields.subagents.map(({ name, description, scope }) => ({ name, ...listed(description, scope) })),
    mcpServers: fields.mcp_servers.map(readServer),
  };
}

function listed(description: string | null | undefined, scope: string | undefined): { description?: string; scope?: string } {
  return { ...(description != null && { description }), ...(scope !== undefined && { scope }) };
}

function scopeOf(scope: string | undefined): "project" | "user" | "system" {
  return scope === "project" || scope === "user" ? scope : "system";
}

// --- servers ---

function writeServer({ name, command, args = [], url, tools }: ListedMcpServer): WireMcpServer {
  return {
    name,
    command: command ?? url ?? "",
    args,
    tools: tools.map((tool) => ({
      name: tool.name,
      qualified_name: tool.qualifiedName,
      description: tool.description ?? "",
      parameters: writeParameters(tool.parameters ?? {}),
    })),
  };
}

/** A server without tools has failed. */
function readServer({ name, command, args, tools }: WireMcpServer): ListedMcpServer {
  return {
    name,
    status: tools.length > 0 ? "ready" : "failed",
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    tools: tools.map((tool) => ({
      name: tool.name,
      qualifiedName: tool.qualified_name,
      ...(tool.description != null && { description: tool.description }),
      parameters: readParameters(tool.parameters),
    })),
  };
}

type Parameters = WireMcpServer["tools"][number]["parameters"];

/** A JSON Schema as the wire's flat list. */
function writeParameters({ properties, required }: Record<string, unknown>): Parameters {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, property]) => {
    const { type, description } = isRecord(property) ? property : {};
    return {
      name,
      param_type: typeof type === "string" ? type : Array.isArray(type) ? type.join("|") : "any",
      required: needed.includes(name),
      description: typeof description === "string" ? description : "",
    };
  });
}

function readParameters(parameters: Parameters): Record<string, unknown> {
  const property = ({ name, param_type, description }: Parameters[number]): [string, object] => [
    name,
    {
      ...(param_type !== "any" && { type: param_type.includes("|") ? param_type.split("|") : param_type }),
      ...(description && { description }),
    },
  ];
  return {
    type: "object",
    properties: Object.fromEntries(parameters.map(property)),
    required: parameters.flatMap(({ name, required }) => (required ? [name] : [])),
  };
}
