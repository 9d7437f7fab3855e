/** Client → server, read: the parameters of requests become configs, patches and prompts. */
import * as v from "valibot";
import type { HostTool, McpServer, SessionConfig } from "../../../core/config.js";
import { isRecord } from "../../../core/values/json-object.js";
import type { Op } from "../../../core/op.js";
import type { SideEnv } from "../../dialect.js";
import { McpServer as McpServerSchema } from "../../../core/config.js";
import { readInput } from "../wire/input.js";
import { readPolicy, sandboxNamed, shownPolicy, type Asking, type Policy } from "../wire/policy.js";
import type { DynamicTool, ParamsOf } from "../wire/requests.js";
import { schemaOf, structuredTools } from "./schema.js";
import type { AgentState, ClientThread, OpenThread } from "./state.js";

type Opening = ParamsOf<"thread/start">;

/** The opening of a session: the client's parameters win over the command line. */
export function openingOf(handle: string, params: Opening, state: AgentState): OpenThread {
  const asking = readPolicy(params.approvalPolicy, params.sandbox);
  const config = { ...state.defaults, ...configOf(params), ...(asking !== undefined && { mode: asking.mode }) };
  return { handle, config, asking, shown: shownOf(asking, params) };
}

/** The policy as the client sees it: its own words where it gave some. */
function shownOf(asking: Asking | undefined, { approvalPolicy, sandbox }: Pick<Opening, "approvalPolicy" | "sandbox">): Policy | undefined {
  if (asking === undefined) return undefined;
  const policy = shownPolicy(asking.mode, asking.never);
  const said = approvalPolicy === "untrusted" || approvalPolicy === "on-request" || approvalPolicy === "never" ? { approvalPolicy } : {};
  return { ...policy, ...said, ...(sandbox != null && { sandbox }) };
}

function configOf(params: Opening): SessionConfig {
  const { model, modelProvider, cwd, baseInstructions, developerInstructions, dynamicTools, config } = params;
  const own = isRecord(config) ? config : {};
  const effort = own["model_reasoning_effort"];
  const servers = serversOf(own["mcp_servers"]);
  const roots = isRecord(own["sandbox_workspace_write"]) ? own["sandbox_workspace_write"]["writable_roots"] : undefined;
  return {
    ...(model != null && { model }),
    ...(modelProvider != null && { provider: modelProvider }),
    ...(cwd != null && { cwd }),
    ...(baseInstructions != null && { system: baseInstructions }),
    ...(developerInstructions != null && { appendSystem: developerInstructions }),
    ...(dynamicTools != null && dynamicTools.length > 0 && { hostTools: dynamicTools.flatMap(hostTools) }),
    ...(typeof effort === "string" && { effort }),
    ...(v.is(v.array(v.string()), roots) && { directories: roots }),
    ...(servers !== undefined && { mcpServers: servers }),
  };
}

function hostTools({ name, description, inputSchema, tools }: DynamicTool): HostTool[] {
  if (tools != null) return tools.flatMap((tool) => hostTools({ ...tool, name: `${name}__${tool.name}` }));
  return [{ name, ...(description != null && { description }), ...(isRecord(inputSchema) && { parameters: inputSchema }) }];
}

/** Reads MCP servers from Codex's configuration, which has other names for two keys. */
function serversOf(servers: unknown): Record<string, McpServer> | undefined {
  if (!isRecord(servers)) return undefined;
  const read = Object.entries(servers).flatMap(([name, server]): [string, McpServer][] => {
    if (!isRecord(server)) return [];
    const { http_headers: headers, enabled_tools: enabledTools, ...rest } = server;
    const named = { ...rest, ...(headers !== undefined && { headers }), ...(enabledTools !== undefined && { enabledTools }) };
    return v.is(McpServerSchema, named) ? [[name, named]] : [];
  });
  return Object.fromEntries(read);
}

type Overrides = Pick<ParamsOf<"turn/start">, "model" | "effort" | "cwd" | "approvalPolicy" | "sandboxPolicy" | "collaborationMode">;

/** The lasting changes in the parameters of a turn or of a change of settings; undefined if there are none. */
export function changesOf(
  params: Overrides,
  thread: ClientThread,
): { patch: SessionConfig; asking: Asking | undefined; shown: Policy | undefined } | undefined {
  const { model, effort, cwd, approvalPolicy, sandboxPolicy, collaborationMode } = params;
  const sandbox = sandboxNamed(sandboxPolicy);
  // Approval policy and sandbox make one mode: an absent one keeps its present value.
  const isPolicy = approvalPolicy != null || sandbox !== undefined;
  const both = { approvalPolicy: approvalPolicy ?? thread.shown.approvalPolicy, sandbox: sandbox ?? thread.shown.sandbox };
  const asking = isPolicy ? readPolicy(both.approvalPolicy, both.sandbox) : undefined;
  const leavesPlan = collaborationMode?.mode === "default" && thread.config.mode === "plan";
  const mode = collaborationMode?.mode === "plan" ? "plan" : (asking?.mode ?? (leavesPlan ? "default" : undefined));
  const wanted: SessionConfig = {
    ...(model != null && { model }),
    ...(effort != null && { effort }),
    ...(cwd != null && { cwd }),
    ...(mode !== undefined && { mode }),
  };
  const changed = Object.entries(wanted).filter(
    ([key, value]) => thread.changing.size > 0 || Object.entries(thread.config).find(([name]) => name === key)?.[1] !== value,
  );
  if (changed.length === 0 && asking === undefined) return undefined;
  return { patch: Object.fromEntries(changed), asking, shown: shownOf(asking, both) };
}

/** The op of a prompt; a sentence if the parameters cannot be one. */
export function promptOf(params: ParamsOf<"turn/start">, thread: ClientThread, turn: string, env: SideEnv): Op | string {
  const parts = readInput(params.input);
  if (typeof parts === "string") return parts;
  if (parts.length === 0) return "input must not be empty";
  const schema = params.outputSchema == null ? undefined : schemaOf(params.outputSchema);
  if (params.outputSchema != null && schema === undefined) return "outputSchema must be a JSON Schema of an object";
  const tools = schema === undefined ? {} : { overrides: { hostTools: [...(thread.config.hostTools ?? []), ...structuredTools(schema)] } };
  const { id } = env.stamp();
  thread.inputs.set(turn, { op: id, input: params.input, schema });
  if (thread.preview === "") thread.preview = params.input.map(({ text }) => text ?? "").join("\n");
  return { type: "turn.prompt", id, session: thread.handle, turn, parts, ...tools };
}

/** A message of the model's wire that a client puts into a thread. */
const Message = v.looseObject({
  type: v.literal("message"),
  role: v.picklist(["user", "assistant"]),
  content: v.array(v.looseObject({ text: v.optional(v.string()) })),
});

export function seedOf(items: readonly unknown[]): { role: "user" | "assistant"; text: string }[] | undefined {
  const messages = items.flatMap((item) =>
    v.is(Message, item) ? [{ role: item.role, text: item.content.map(({ text = "" }) => text).join("\n") }] : [],
  );
  return messages.length === items.length && messages.length > 0 ? messages : undefined;
}
