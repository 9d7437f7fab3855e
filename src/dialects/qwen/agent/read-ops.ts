/** Host → agent: a line becomes a known request, or an error about its problem. */
import * as v from "valibot";
import { textPart, type Part } from "../../../core/content.js";
import { canonicalTool } from "../../../core/names.js";
import type { OpOf } from "../../../core/op.js";
import { echo, shapeOf, stringField } from "../../kit/issues.js";
import { isRecord } from "../../../core/values/json-object.js";
import { invalid } from "./faults.js";
import { partsOf, textOf, toolResponse } from "./read-parts.js";
import type { WireError } from "../wire/event-records.js";
import {
  asked,
  ChatRequest,
  FunctionTool,
  MessagesRequest,
  requests,
  ToolRequest,
  type CommandRef,
  type ControlResponse,
  type RequestMetadata,
  type WireOptions,
} from "../wire/op-records.js";
import type { CommandHintCancel, CommandHintRequest, ControlCancel, HeartbeatRequest } from "../wire/op-records.js";

type Prompt = OpOf<"turn.prompt">;

/** The request of a host for a turn of a session. */
export interface Chat {
  kind: "chat";
  sessionId: string | undefined;
  promptId: string | undefined;
  origin: "user" | "tool_response" | "system";
  text: string;
  /** The parts that are not text. */
  parts: Part[];
  command: CommandRef | undefined;
  calls: NonNullable<Prompt["calls"]>;
  /** The place of the first call in the line. */
  firstCall: "tool_request" | "tool_request[0]";
  continues: boolean;
  /** The result of a tool that the host ran. */
  toolCallId: string | undefined;
  response: { ok: boolean; data: unknown };
  overrides: NonNullable<Prompt["overrides"]>;
  metadata: RequestMetadata;
  /** In an OpenAI-style line: the session's system prompt, and the messages before the prompt. */
  system: string | undefined;
  history: { role: "user" | "assistant"; text: string }[];
}

export type Request =
  | Chat
  | { kind: "hint"; line: v.InferOutput<typeof CommandHintRequest> }
  | { kind: "hint.cancel"; line: v.InferOutput<typeof CommandHintCancel> }
  | { kind: "heartbeat"; line: v.InferOutput<typeof HeartbeatRequest> }
  | { kind: "cancel"; line: v.InferOutput<typeof ControlCancel> }
  | { kind: "control"; line: ControlResponse };

/** `fatal`: the process cannot go on with this host. `unanswerable`: a control request, which only agents send. */
export type Refused = Wrong | { unanswerable: string };
interface Wrong {
  error: WireError;
  fatal?: true;
}

/** Fields that a line of any kind may have. */
export const Head = v.looseObject({ ...asked });
export type Head = v.InferOutput<typeof Head>;

export function readRequest(rec: unknown): Request | Refused {
  if (!isRecord(rec)) return { error: invalid(`A line is a JSON object, not ${shapeOf(rec)}`) };
  if (rec["type"] !== undefined) return readTyped(rec);
  if (rec["input"] !== undefined) return parsed(ChatRequest, rec, chat);
  if (rec["messages"] !== undefined) return parsed(MessagesRequest, rec, messages);
  return { error: invalid("The line is no request: it has neither type nor input nor messages") };
}

function readTyped(rec: Record<string, unknown>): Request | Refused {
  const type = stringField(rec, "type");
  switch (type) {
    case "qwen_chat_request":
      return parsed(ChatRequest, rec, chat);
    case "command_hint_request":
      return parsed(requests[type], rec, (line) => ({ kind: "hint", line }));
    case "command_hint_cancel":
      return parsed(requests[type], rec, (line) => ({ kind: "hint.cancel", line }));
    case "heartbeat_request":
      return parsed(requests[type], rec, (line) => ({ kind: "heartbeat", line }));
    case "control/cancel":
      return parsed(requests[type], rec, (line) => ({ kind: "cancel", line }));
    case "control_response":
      return parsed(requests[type], rec, (line) => ({ kind: "control", line }));
    case "control_request":
      return { unanswerable: stringField(rec, "request_id") ?? "" };
    default:
      return { error: invalid(`Unknown type of line: ${echo(String(rec["type"]))}`, "type") };
  }
}

function parsed<S extends v.GenericSchema>(
  schema: S,
  rec: unknown,
  make: (line: v.InferOutput<S>) => Request | Refused,
): Request | Refused {
  const result = v.safeParse(schema, rec);
  return result.success ? make(result.output) : { error: issueError(result.issues[0]) };
}

/** The first problem and its place: `input.parts[1]`. */
function issueError(issue: v.BaseIssue<unknown>, code?: string, root = ""): WireError {
  const { path, message } = deepest(issue);
  const param = path.reduce<string>((at, key) => (typeof key === "number" ? `${at}[${key}]` : join(at, String(key))), root);
  const told = echo(message.replace(/^Invalid [a-z ]+: /, ""));
  return invalid(param === "" ? told : `${param}: ${told}`, param === "" ? undefined : param, code);
}

/** Of several alternatives, the error of the nearest one is reported. */
function deepest({ path, message, issues }: v.BaseIssue<unknown>): { path: unknown[]; message: string } {
  const here = path?.map(({ key }) => key) ?? [];
  const [inner] = issues?.map(deepest).toSorted((a, b) => b.path.length - a.path.length) ?? [];
  if (inner === undefined || inner.path.length === 0) return { path: here, message };
  return { path: [...here, ...inner.path], message: inner.message };
}

function join(at: string, key: string): string {
  return at === "" ? key : `${at}.${key}`;
}

// --- chat requests ---

function chat(line: ChatRequest): Request | Refused {
  const { input, options, continuation, tool_call_id } = line;
  const tools = hostTools(options?.tools, "options.tools");
  if ("error" in tools) return tools;
  const calls = askedCalls(line.tool_request);
  if ("error" in calls) return calls;
  const hosted = [...tools.list, ...declaredTools(line.metadata)];
  const parts = typeof input.parts === "string" ? [textPart(input.parts)] : input.parts;
  return {
    ...common(line),
    origin: input.origin,
    text: textOf(parts),
    parts: partsOf(parts),
    command: input.command ?? undefined,
    calls: calls.list.map((call) => ({ ...call, name: ours(call.name, hosted) })),
    firstCall: Array.isArray(line.tool_request) ? "tool_request[0]" : "tool_request",
    continues: continuation === true,
    toolCallId: tool_call_id ?? undefined,
    response: toolResponse(parts),
    overrides: overridesOf(options ?? {}, line.model, hosted),
    system: undefined,
    history: [],
  };
}

/** The last message is the prompt; system messages are the session's system prompt, the others its history. */
function messages(line: MessagesRequest): Request | Refused {
  const said = line.messages.filter(({ role }) => role !== "system");
  const last = said.at(-1);
  if (last?.role !== "user") return { error: invalid("messages: the last one must be the user's", "messages") };
  const tools = hostTools(line.tools ?? line.options?.tools, line.tools == null ? "options.tools" : "tools");
  if ("error" in tools) return tools;
  const system = line.messages.flatMap(({ role, content }) => (role === "system" ? [contentText(content)] : []));
  const options = { ...(line.temperature != null && { temperature: line.temperature }), ...line.options };
  return {
    ...common(line),
    origin: "user",
    text: contentText(last.content),
    parts: typeof last.content === "string" ? [] : partsOf(last.content),
    command: undefined,
    calls: [],
    firstCall: "tool_request",
    continues: false,
    toolCallId: undefined,
    response: { ok: true, data: "" },
    overrides: overridesOf(options, line.model, [...tools.list, ...declaredTools(line.metadata)]),
    system: system.length === 0 ? undefined : system.join("\n\n"),
    history: said
      .slice(0, -1)
      .map(({ role, content }) => ({ role: role === "assistant" ? "assistant" : "user", text: contentText(content) })),
  };
}

type Content = MessagesRequest["messages"][number]["content"];

function contentText(content: Content): string {
  return typeof content === "string" ? content : textOf(content);
}

function common(line: Head): Pick<Chat, "kind" | "sessionId" | "promptId" | "metadata"> {
  const sessionId = line.session_id === "_new" ? undefined : (line.session_id ?? undefined);
  return { kind: "chat", sessionId, promptId: line.prompt_id || undefined, metadata: line.metadata ?? {} };
}

type HostTools = NonNullable<Chat["overrides"]["hostTools"]>;

function declaredTools(metadata: Head["metadata"]): HostTools {
  return (metadata?.host_tools ?? []).map(({ name, description, parameters }) => tool(name, description, parameters));
}

/** Unusable tools end the process: the host would wait for calls that never come. */
function hostTools(given: unknown, root: string): { list: HostTools } | Wrong {
  if (given === undefined || given === null) return { list: [] };
  const result = v.safeParse(v.array(FunctionTool), given);
  if (!result.success) return { error: issueError(result.issues[0], "QWEN_INVALID_TOOL_ARGS", root), fatal: true };
  return { list: result.output.map(({ function: { name, description, parameters } }) => tool(name, description, parameters)) };
}

function tool(
  name: string,
  description: string | null | undefined,
  parameters: Record<string, unknown> | null | undefined,
): HostTools[number] {
  return { name, ...(description != null && { description }), ...(parameters != null && { parameters }) };
}

/** Reads one call or a list of calls. */
function askedCalls(given: unknown): { list: Chat["calls"] } | Wrong {
  if (given === undefined || given === null) return { list: [] };
  const isList = Array.isArray(given);
  const result = v.safeParse(v.array(ToolRequest), isList ? given : [given]);
  if (!result.success) {
    const [issue] = result.issues;
    const path = isList ? issue.path : issue.path?.slice(1);
    return { error: issueError({ ...issue, path: path as typeof issue.path }, "QWEN_INVALID_TOOL_ARGS", "tool_request") };
  }
  const list = result.output.map(({ call_id, callId, name, args }) => {
    const id = call_id ?? callId;
    return { name, args, ...(id != null && { id }) };
  });
  return { list };
}

/** A tool by any of its names, unless the host has one of that name itself. */
function ours(name: string, hosted: HostTools): string {
  return hosted.some((tool) => tool.name === name) ? name : canonicalTool(name);
}

function overridesOf(options: Partial<WireOptions>, model: string | null | undefined, tools: HostTools): Chat["overrides"] {
  const named = options.model ?? model;
  const { temperature, top_p, top_k, max_tokens, stop, tool_overrides } = options;
  return {
    ...(named != null && { model: named }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(top_k != null && { topK: top_k }),
    ...(max_tokens != null && { maxTokens: max_tokens }),
    ...(stop != null && { stop: typeof stop === "string" ? [stop] : stop }),
    ...(tool_overrides != null && { tools: tool_overrides }),
    ...(tools.length > 0 && { hostTools: tools }),
  };
}
