/** Sessions on the wire: capabilities, opening, modes, options and the list. */
import * as v from "valibot";
import type { McpServer as Server } from "../../../core/config.js";
import { ContentBlock } from "./content.js";

const text = v.string();
/** The presence of an object offers a capability; its fields do not matter. */
const offered = v.nullish(v.looseObject({}));

// --- initialize ---

const Implementation = v.looseObject({ name: text, title: v.nullish(text), version: text });

export const ClientCapabilities = v.looseObject({
  fs: v.nullish(v.looseObject({ readTextFile: v.optional(v.boolean()), writeTextFile: v.optional(v.boolean()) })),
  terminal: v.optional(v.boolean()),
  session: v.nullish(
    v.looseObject({ compaction: offered, notices: offered, configOptions: v.nullish(v.looseObject({ boolean: offered })) }),
  ),
  elicitation: v.nullish(v.looseObject({ form: offered, url: offered })),
  _meta: v.nullish(v.looseObject({ terminal_output: v.optional(v.boolean()) })),
});
export type ClientCapabilities = v.InferOutput<typeof ClientCapabilities>;

/** An extension of several clients: they show a terminal of the agent from its output in pieces. */
export function showsTerminals({ _meta: meta }: ClientCapabilities): boolean {
  return meta?.terminal_output === true;
}

/** A value that is none is as if it were not there: a greeting does not fail for what it can do without. */
function lenient<S extends v.GenericSchema>(schema: S) {
  return v.fallback(v.nullish(schema), undefined);
}

export const InitializeParams = v.looseObject({
  protocolVersion: v.number(),
  clientCapabilities: lenient(ClientCapabilities),
  clientInfo: lenient(Implementation),
});

const AuthMethod = v.looseObject({
  id: text,
  name: text,
  description: v.nullish(text),
  type: v.optional(text),
  _meta: v.nullish(v.looseObject({})),
});
export type AuthMethod = v.InferOutput<typeof AuthMethod>;

export const AgentCapabilities = v.looseObject({
  loadSession: v.optional(v.boolean()),
  promptCapabilities: v.nullish(
    v.looseObject({ image: v.optional(v.boolean()), audio: v.optional(v.boolean()), embeddedContext: v.optional(v.boolean()) }),
  ),
  mcpCapabilities: v.nullish(v.looseObject({ http: v.optional(v.boolean()), sse: v.optional(v.boolean()) })),
  sessionCapabilities: v.nullish(
    v.looseObject({
      list: offered,
      resume: offered,
      close: offered,
      delete: offered,
      fork: offered,
      status: offered,
      title: offered,
      archive: offered,
      additionalDirectories: offered,
      systemPrompt: v.nullish(v.looseObject({ mode: v.nullish(v.looseObject({ override: offered })) })),
    }),
  ),
});
export type AgentCapabilities = v.InferOutput<typeof AgentCapabilities>;

export const InitializeResult = v.looseObject({
  protocolVersion: v.number(),
  agentCapabilities: lenient(AgentCapabilities),
  authMethods: lenient(v.array(AuthMethod)),
  agentInfo: lenient(Implementation),
  _meta: lenient(v.looseObject({ steering: v.nullish(v.looseObject({ supported: v.optional(v.boolean()) })) })),
});
export type InitializeResult = v.InferOutput<typeof InitializeResult>;

/** An extension of several agents: text for the running turn. */
export function isSteerable({ _meta: meta }: Partial<InitializeResult> = {}): boolean {
  return meta?.steering?.supported === true;
}

// --- MCP servers ---

const pairs = v.array(v.looseObject({ name: text, value: text }));
const Remote = v.looseObject({ type: v.picklist(["http", "sse"]), name: text, url: text, headers: v.optional(pairs) });
const Stdio = v.looseObject({ name: text, command: text, args: v.optional(v.array(text)), env: v.optional(pairs) });
export const WireMcpServer = v.union([Remote, Stdio], "A server has a name and a command, or a name, a type (http or sse) and a url");
export type WireMcpServer = v.InferOutput<typeof WireMcpServer>;

export function serversOf(servers: readonly WireMcpServer[]): Record<string, Server> {
  return Object.fromEntries(servers.map((server) => [server.name, serverOf(server)]));
}

function serverOf(server: WireMcpServer): Server {
  if (v.is(Stdio, server)) return { command: server.command, args: server.args ?? [], env: recordOf(server.env) };
  if (!v.is(Remote, server)) return {};
  return { type: server.type, url: server.url, headers: recordOf(server.headers) };
}

function recordOf(given: readonly { name: string; value: string }[] = []): Record<string, string> {
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

/** The wire's form of a server; undefined for one without a command and an address. */
export function wireServer(name: string, { type, command, args = [], env = {}, url, headers = {} }: Server): WireMcpServer | undefined {
  if (command !== undefined) return { name, command, args, env: pairsOf(env) };
  if (url !== undefined) return { type: type === "sse" ? "sse" : "http", name, url, headers: pairsOf(headers) };
  return undefined;
}

function pairsOf(given: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(given).map(([name, value]) => ({ name, value }));
}

// --- opening ---

/** Clients of the Claude adapter put theirs into `_meta`. */
const SystemPrompt = v.looseObject({ mode: v.union([v.picklist(["append", "override"]), text]), content: v.array(ContentBlock) });

const opening = {
  cwd: text,
  mcpServers: v.nullish(v.array(WireMcpServer)),
  additionalDirectories: v.nullish(v.array(text)),
  systemPrompt: v.nullish(SystemPrompt),
  _meta: lenient(v.looseObject({ systemPrompt: v.optional(v.union([text, v.looseObject({ append: text })])) })),
};
export const NewSessionParams = v.looseObject(opening);
export type NewSessionParams = v.InferOutput<typeof NewSessionParams>;
export const OldSessionParams = v.looseObject({ sessionId: text, ...opening });

export const SessionParams = v.looseObject({ sessionId: text });
/** `archived`: which sessions to list, those that are out of the way among them or not. */
export const ListParams = v.looseObject({ cwd: v.nullish(text), cursor: v.nullish(text), archived: v.nullish(text) });
export const SetTitleParams = v.looseObject({ sessionId: text, title: text });
export const SetModeParams = v.looseObject({ sessionId: text, modeId: text });
export const SetModelParams = v.looseObject({ sessionId: text, modelId: text });
export const SetOptionParams = v.looseObject({ sessionId: text, configId: text, value: v.union([text, v.boolean()]) });

// --- modes and options ---

export const ModeState = v.looseObject({
  currentModeId: text,
  availableModes: v.array(v.looseObject({ id: text, name: text, description: v.nullish(text) })),
});
export type ModeState = v.InferOutput<typeof ModeState>;

const Choice = v.looseObject({ value: text, name: text, description: v.nullish(text) });
const Group = v.looseObject({ group: text, name: text, options: v.array(Choice) });
const optionHead = { id: text, name: text, description: v.nullish(text), category: v.nullish(text) };
export const ConfigOption = v.variant("type", [
  v.looseObject({ ...optionHead, type: v.literal("select"), currentValue: text, options: v.union([v.array(Choice), v.array(Group)]) }),
  v.looseObject({ ...optionHead, type: v.literal("boolean"), currentValue: v.boolean() }),
]);
export type ConfigOption = v.InferOutput<typeof ConfigOption>;

/** The models of older agents, which take `session/set_model`. */
const ModelState = v.looseObject({
  currentModelId: text,
  availableModels: v.array(v.looseObject({ modelId: text, name: v.nullish(text), description: v.nullish(text) })),
});

export const SessionResult = v.looseObject({
  sessionId: v.nullish(text),
  modes: v.nullish(ModeState),
  models: v.nullish(ModelState),
  configOptions: v.nullish(v.array(v.union([ConfigOption, v.looseObject({ id: text })]))),
});
export type SessionResult = v.InferOutput<typeof SessionResult>;

export const OptionsResult = v.looseObject({ configOptions: v.nullish(v.array(v.union([ConfigOption, v.looseObject({ id: text })]))) });

/** The choices of an option without their grouping. */
export function choicesOf(option: ConfigOption): v.InferOutput<typeof Choice>[] {
  if (option.type === "boolean") return [];
  return option.options.flatMap((entry) => (v.is(Group, entry) ? entry.options : v.is(Choice, entry) ? [entry] : []));
}

// --- the list ---

const SessionInfo = v.looseObject({
  sessionId: text,
  cwd: text,
  title: v.nullish(text),
  updatedAt: v.nullish(text),
  archived: v.nullish(v.boolean()),
});
export type SessionInfo = v.InferOutput<typeof SessionInfo>;
export const ListResult = v.looseObject({ sessions: v.array(SessionInfo), nextCursor: v.nullish(text) });
