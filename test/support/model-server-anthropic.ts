/** Anthropic's Messages API, as far as a coding agent uses it: what a request may hold, and how an answer is streamed. */
import * as v from "valibot";
import { anthropicFrame, playAnthropic } from "../../src/check/model/anthropic.js";
import type { WireSpec } from "./model-server-script.js";
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

export const anthropicWire: WireSpec = {
  path: "/v1/messages",
  keyIn: (headers) => (headers["anthropic-version"] === "2023-06-01" ? [headers["x-api-key"]].flat()[0] : undefined),
  problem,
  play: playAnthropic,
  errorFrame: (error) => anthropicFrame("error", { error }),
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
