/** OpenAI's chat completions, and llama-server's flavour of them: no key, `reasoning_content`, strict templates. */
import * as v from "valibot";
import { contentThinking, playChat } from "../../src/check/model/openai-chat.js";
import type { Frame, WireSpec } from "./model-server-script.js";
import { ToolSchema } from "./tool-schema.js";

// --- requests ---

export const ImageUrl = v.strictObject({ url: v.pipe(v.string(), v.regex(/^data:image\/(png|jpeg|gif|webp);base64,/)) });
const UserPart = v.variant("type", [
  v.strictObject({ type: v.literal("text"), text: v.string() }),
  v.strictObject({ type: v.literal("image_url"), image_url: ImageUrl }),
]);
const jsonObject = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));
export const ToolCall = v.strictObject({
  id: v.string(),
  type: v.literal("function"),
  function: v.strictObject({ name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)), arguments: jsonObject }),
});

const assistant = {
  role: v.literal("assistant"),
  content: v.nullable(v.string()),
  tool_calls: v.optional(v.pipe(v.array(ToolCall), v.minLength(1))),
} as const;
const others = [
  v.strictObject({ role: v.picklist(["system", "developer"]), content: v.string() }),
  v.strictObject({ role: v.literal("user"), content: v.union([v.string(), v.pipe(v.array(UserPart), v.minLength(1))]) }),
  v.strictObject({ role: v.literal("tool"), tool_call_id: v.pipe(v.string(), v.maxLength(64)), content: v.string() }),
] as const;
const PlainMessage = v.variant("role", [...others, v.strictObject(assistant)]);
const ThinkingMessage = v.variant("role", [...others, v.strictObject({ ...assistant, reasoning_content: v.optional(v.string()) })]);
interface Paired {
  role: string;
  tool_call_id?: string | undefined;
  tool_calls?: { id: string }[] | undefined;
}

export const common = {
  model: v.string(),
  stream: v.literal(true),
  stream_options: v.strictObject({ include_usage: v.literal(true) }),
  max_tokens: v.optional(v.number()),
  temperature: v.optional(v.number()),
  top_p: v.optional(v.number()),
  stop: v.optional(v.array(v.string())),
  reasoning_effort: v.optional(v.string()),
  tools: v.optional(
    v.array(
      v.strictObject({
        type: v.literal("function"),
        function: v.strictObject({
          name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
          description: v.optional(v.string()),
          parameters: ToolSchema,
        }),
      }),
    ),
  ),
  tool_choice: v.optional(v.literal("auto")),
} as const;

const OpenaiRequest = v.strictObject({ ...common, messages: v.array(ThinkingMessage), max_completion_tokens: v.optional(v.number()) });
const LocalRequest = v.strictObject({
  ...common,
  messages: v.array(ThinkingMessage),
  chat_template_kwargs: v.optional(v.strictObject({ enable_thinking: v.boolean() })),
});

/** The least that is called compatible: what came later than tools is refused. */
const { stream_options: _options, reasoning_effort: _effort, ...oldest } = common;
const PlainRequest = v.strictObject({ ...oldest, messages: v.array(PlainMessage) });

function plainProblem(body: unknown): string | undefined {
  const parsed = v.safeParse(PlainRequest, body);
  return parsed.success ? pairing(parsed.output.messages) : firstOf(parsed.issues);
}

function openaiProblem(body: unknown): string | undefined {
  const parsed = v.safeParse(OpenaiRequest, body);
  if (!parsed.success) return firstOf(parsed.issues);
  const { model, max_tokens, temperature, reasoning_effort, messages } = parsed.output;
  const reasons = /^(o\d|gpt-5)/.test(model);
  if (reasons && max_tokens !== undefined) return "Unsupported parameter: 'max_tokens' is not supported with this model.";
  if (reasons && temperature !== undefined) return "Unsupported parameter: 'temperature' is not supported with this model.";
  if (!reasons && reasoning_effort !== undefined) return "Unrecognized request argument supplied: reasoning_effort";
  return pairing(messages);
}

function localProblem(body: unknown): string | undefined {
  const parsed = v.safeParse(LocalRequest, body);
  if (!parsed.success) return firstOf(parsed.issues);
  const { messages } = parsed.output;
  const talk = messages.filter(({ role }) => role === "user" || role === "assistant");
  const isRepeated = talk.some(
    (message, at) => at > 0 && message.role === "user" && messages[messages.indexOf(message) - 1]?.role === "user",
  );
  if (isRepeated || talk[0]?.role !== "user") return "Conversation roles must alternate user/assistant/user/assistant/...";
  return pairing(messages);
}

export function firstOf(issues: [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]]): string {
  return `${v.getDotPath(issues[0]) ?? "body"}: ${issues[0].message}`;
}

/** Behind each message with calls stand the answers to exactly these. */
export function pairing(messages: readonly Paired[]): string | undefined {
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id ?? ""))
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
      open = open.filter((id) => id !== message.tool_call_id);
    } else if (open.length > 0) {
      return `tool_call_ids did not have response messages: ${open.join(", ")}`;
    }
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  return open.length === 0 ? undefined : `tool_call_ids did not have response messages: ${open.join(", ")}`;
}

// --- answers ---

function errorBody({ type, message }: { type: string; message: string }): unknown {
  return { error: { message, type, param: null, code: null } };
}

const errors = { errorBody, errorFrame: (error: { type: string; message: string }): Frame => ({ data: errorBody(error) }) };

export const openaiChatWire: WireSpec = {
  path: "/v1/chat/completions",
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  problem: openaiProblem,
  play: (reply, count, body) => playChat(reply, count, body, contentThinking),
  ...errors,
};

export const localWire: WireSpec = {
  path: "/v1/chat/completions",
  keyIn: () => null,
  problem: localProblem,
  play: (reply, count, body) => playChat(reply, count, body, contentThinking),
  ...errors,
};

export const plainWire: WireSpec = { ...openaiChatWire, problem: plainProblem };
