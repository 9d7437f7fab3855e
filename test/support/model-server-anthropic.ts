/** Anthropic's Messages API, as far as a coding agent uses it: what a request may hold, and how an answer is streamed. */
import * as v from "valibot";
import { argumentPieces, callId, type Frame, type Played, type Reply, type WireSpec } from "./model-server-script.js";
import { ToolSchema } from "./tool-schema.js";

// --- requests ---

const cache_control = v.optional(v.strictObject({ type: v.literal("ephemeral"), ttl: v.optional(v.picklist(["5m", "1h"])) }));
const filled = v.pipe(v.string(), v.regex(/\S/, "text content blocks must contain non-whitespace text"));
const Id = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]+$/));

const Text = v.strictObject({ type: v.literal("text"), text: filled, cache_control });
const Image = v.strictObject({
  type: v.literal("image"),
  source: v.strictObject({
    type: v.literal("base64"),
    media_type: v.picklist(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    data: v.pipe(v.string(), v.base64()),
  }),
  cache_control,
});
const ToolResult = v.strictObject({
  type: v.literal("tool_result"),
  tool_use_id: Id,
  content: v.optional(v.union([v.string(), v.array(v.variant("type", [Text, Image]))])),
  is_error: v.optional(v.boolean()),
  cache_control,
});
const ToolUse = v.strictObject({
  type: v.literal("tool_use"),
  id: Id,
  name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,128}$/)),
  input: v.record(v.string(), v.unknown()),
  cache_control,
});
const Thinking = v.strictObject({ type: v.literal("thinking"), thinking: v.string(), signature: v.string() });
const Redacted = v.strictObject({ type: v.literal("redacted_thinking"), data: v.string() });

const UserMessage = v.strictObject({
  role: v.literal("user"),
  content: v.pipe(v.array(v.variant("type", [Text, Image, ToolResult])), v.minLength(1)),
});
const AssistantMessage = v.strictObject({
  role: v.literal("assistant"),
  content: v.pipe(v.array(v.variant("type", [Text, ToolUse, Thinking, Redacted])), v.minLength(1)),
});

const Request = v.strictObject({
  model: v.string(),
  max_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
  messages: v.array(v.variant("role", [UserMessage, AssistantMessage])),
  system: v.optional(v.array(Text)),
  stream: v.literal(true),
  temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  top_p: v.optional(v.number()),
  stop_sequences: v.optional(v.array(filled)),
  thinking: v.optional(
    v.variant("type", [
      v.strictObject({ type: v.literal("enabled"), budget_tokens: v.pipe(v.number(), v.minValue(1024)) }),
      v.strictObject({ type: v.literal("adaptive"), display: v.optional(v.picklist(["summarized", "omitted"])) }),
      v.strictObject({ type: v.literal("disabled") }),
    ]),
  ),
  output_config: v.optional(v.strictObject({ effort: v.picklist(["low", "medium", "high", "xhigh", "max"]) })),
  tools: v.optional(
    v.array(
      v.union([
        v.strictObject({
          name: v.string(),
          description: v.optional(v.string()),
          input_schema: ToolSchema,
          eager_input_streaming: v.optional(v.boolean()),
          cache_control,
        }),
        v.strictObject({ type: v.literal("web_search_20250305"), name: v.literal("web_search"), max_uses: v.number() }),
      ]),
    ),
  ),
  tool_choice: v.optional(v.strictObject({ type: v.literal("auto") })),
});
type Request = v.InferOutput<typeof Request>;

function problem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    return `${v.getDotPath(issue) ?? "body"}: ${issue.message}`;
  }
  const { messages, thinking, max_tokens, temperature } = parsed.output;
  if (messages.some(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant"))) return "messages: roles must alternate";
  if (messages.at(-1)?.role !== "user") return "the conversation must end with a user message";
  if (JSON.stringify(body).split('"cache_control"').length > 5) return "A maximum of 4 blocks with cache_control may be provided";
  if (thinking?.type === "enabled" && thinking.budget_tokens >= max_tokens) return "max_tokens must be greater than thinking.budget_tokens";
  if (thinking !== undefined && thinking.type !== "disabled" && temperature !== undefined && temperature !== 1) {
    return "temperature may only be set to 1 when thinking is enabled";
  }
  const first = thinking?.type === "enabled" ? messages[lastPrompt(messages) + 1]?.content[0]?.type : undefined;
  if (first !== undefined && first !== "thinking" && first !== "redacted_thinking")
    return `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\``;
  return messages.map((_, at) => pairing(messages, at) ?? thoughts(messages, at, issued)).find((found) => found !== undefined);
}

/** The last message of the user that is no tool result: the model's turn begins behind it. */
function lastPrompt(messages: Request["messages"]): number {
  return messages.findLastIndex(({ role, content }) => role === "user" && content.some(({ type }) => type !== "tool_result"));
}

function pairing(messages: Request["messages"], at: number): string | undefined {
  const asked = idsOf(messages[at]);
  const answered = resultsOf(messages[at + 1]);
  const missing = asked.find((id) => !answered.includes(id));
  if (missing !== undefined) return `tool_use ids were found without tool_result blocks immediately after: ${missing}`;
  const orphan = answered.find((id) => !asked.includes(id));
  return orphan === undefined ? undefined : `unexpected tool_use_id found in tool_result blocks: ${orphan}`;
}

function thoughts(messages: Request["messages"], at: number, issued: ReadonlySet<string>): string | undefined {
  const message = messages[at];
  if (message?.role !== "assistant") return undefined;
  const last = message.content.at(-1)?.type;
  if (last === "thinking" || last === "redacted_thinking") return "The final block in an assistant message cannot be thinking";
  for (const block of message.content) {
    if (block.type === "thinking" && !issued.has(block.signature)) return "Invalid signature in thinking block";
    if (block.type === "redacted_thinking" && !issued.has(block.data)) return "Invalid data in redacted_thinking block";
  }
  return undefined;
}

function idsOf(message: Request["messages"][number] | undefined): string[] {
  return message?.role === "assistant" ? message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])) : [];
}

function resultsOf(message: Request["messages"][number] | undefined): string[] {
  return message?.role === "user" ? message.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])) : [];
}

// --- answers ---

function play(reply: Reply, count: number, body: unknown): Played {
  const blocks = [...thinkingBlocks(reply), ...searchBlocks(reply), ...textBlocks(reply), ...callBlocks(reply, count)];
  const { input = 10, cacheRead = 0, cacheWrite = 0, output = 5, reasoning } = reply.usage ?? {};
  const paid = { input_tokens: input, cache_creation_input_tokens: cacheWrite, cache_read_input_tokens: cacheRead };
  const message = {
    id: `msg_${count}`,
    type: "message",
    role: "assistant",
    model: v.is(Request, body) ? body.model : "",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...paid, output_tokens: 1, service_tier: "standard" },
  };
  const stop = reply.stop ?? ((reply.calls ?? []).length > 0 ? "tool_use" : "end_turn");
  const usage = {
    ...paid,
    output_tokens: output + (reasoning ?? 0),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
  return {
    opening: [frame("message_start", { message }), frame("ping", {})],
    output: streamed(blocks),
    ending: [frame("message_delta", { delta: { stop_reason: stop, stop_sequence: null }, usage }), frame("message_stop", {})],
  };
}

interface Block {
  start: Record<string, unknown>;
  deltas: Record<string, unknown>[];
}

function thinkingBlocks({ thinking, signature, redacted }: Reply): Block[] {
  const open: Block[] =
    thinking === undefined
      ? []
      : [
          {
            start: { type: "thinking", thinking: "", signature: "" },
            deltas: [
              ...thinking.map((piece) => ({ type: "thinking_delta", thinking: piece })),
              ...(signature === undefined ? [] : [{ type: "signature_delta", signature }]),
            ],
          },
        ];
  return redacted === undefined ? open : [...open, { start: { type: "redacted_thinking", data: redacted }, deltas: [] }];
}

function searchBlocks({ searched }: Reply): Block[] {
  if (searched === undefined) return [];
  const { query, url, title } = searched;
  const found = { type: "web_search_result", url, title, encrypted_content: "c2VhbGVk", page_age: null };
  return [
    {
      start: { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
      deltas: ["", JSON.stringify({ query })].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
    },
    { start: { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [found] }, deltas: [] },
  ];
}

function textBlocks({ text }: Reply): Block[] {
  if (text === undefined) return [];
  return [{ start: { type: "text", text: "" }, deltas: text.map((piece) => ({ type: "text_delta", text: piece })) }];
}

function callBlocks({ calls = [] }: Reply, count: number): Block[] {
  return calls.map((call, at) => ({
    start: { type: "tool_use", id: callId(call, count, at), name: call.name, input: {} },
    deltas: ["", ...argumentPieces(call)].map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  }));
}

/** One block after another: this vendor streams even parallel calls so. */
function streamed(blocks: readonly Block[]): Frame[] {
  return blocks.flatMap(({ start, deltas }, index) => [
    frame("content_block_start", { index, content_block: start }),
    ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
    frame("content_block_stop", { index }),
  ]);
}

function frame(type: string, data: Record<string, unknown>): Frame {
  return { event: type, data: { type, ...data } };
}

export const anthropicWire: WireSpec = {
  path: "/v1/messages",
  keyIn: (headers) => (headers["anthropic-version"] === "2023-06-01" ? [headers["x-api-key"]].flat()[0] : undefined),
  problem,
  play,
  errorFrame: (error) => frame("error", { error }),
  errorBody: (error) => ({ type: "error", error, request_id: "req_1" }),
};

/** Claude on Vertex AI: the model stands in the address, the version in the body. */
export const vertexClaudeWire: WireSpec = {
  ...anthropicWire,
  path: (path) => /^\/v1\/projects\/project-1\/locations\/us-east5\/publishers\/anthropic\/models\/[\w@.-]+:streamRawPredict$/.test(path),
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  asksForToken: true,
  problem(body, issued) {
    const vertex = v.safeParse(v.looseObject({ anthropic_version: v.literal("vertex-2023-10-16"), model: v.optional(v.never()) }), body);
    if (!vertex.success) return `${v.getDotPath(vertex.issues[0])}: ${vertex.issues[0].message}`;
    const { anthropic_version: _version, ...rest } = vertex.output;
    return problem({ ...rest, model: "" }, issued);
  },
};
