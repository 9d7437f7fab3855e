/** OpenAI's chat completions, and llama-server's flavour of them: no key, `reasoning_content`, strict templates. */
import * as v from "valibot";
import { argumentPieces, callId, interleaved, type Frame, type Played, type Reply, type WireSpec } from "./model-server-script.js";
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

/** How a server says what it thinks: the deltas for an answer's thinking. */
type ThinkingDeltas = (reply: Reply) => Record<string, unknown>[];

export function playChat(reply: Reply, count: number, body: unknown, thinking: ThinkingDeltas, usage = usageOf(reply)): Played {
  const head = {
    id: `chatcmpl-${count}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: v.is(v.looseObject({ model: v.string() }), body) ? body.model : "",
    system_fingerprint: "fp_1",
  };
  const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null): Frame => ({
    data: { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null },
  });
  const stop = reply.stop ?? ((reply.calls ?? []).length > 0 ? "tool_calls" : "stop");
  return {
    opening: [chunk({ role: "assistant", content: reply.thinking === undefined ? "" : null })],
    output: [
      ...thinking(reply).map((delta) => chunk(delta)),
      ...(reply.text ?? []).map((piece) => chunk({ content: piece })),
      ...(reply.refusal ?? []).map((piece) => chunk({ refusal: piece })),
      ...callDeltas(reply, count).map((delta) => chunk({ tool_calls: [delta] })),
    ],
    ending: [chunk({}, stop), ...(reply.uncounted === true ? [] : [{ data: { ...head, choices: [], usage } }]), { data: "[DONE]" }],
  };
}

/** Some servers name it `reasoning`. */
function contentThinking({ thinking = [], thinkingName = "reasoning_content" }: Reply): Record<string, unknown>[] {
  return thinking.map((piece) => ({ [thinkingName]: piece }));
}

/** Parallel calls are streamed side by side. */
function callDeltas({ calls = [] }: Reply, count: number): Record<string, unknown>[] {
  return interleaved(
    calls.map((call, index) => [
      { index, id: callId(call, count, index), type: "function", function: { name: call.name, arguments: "" } },
      ...argumentPieces(call).map((piece) => ({ index, function: { arguments: piece } })),
    ]),
  );
}

/** The vendor's counts include each other: cached input in input, reasoning in output. */
export function usageOf({ usage = {} }: Reply): Record<string, unknown> {
  const { input = 10, cacheRead = 0, output = 5, reasoning = 0 } = usage;
  return {
    prompt_tokens: input + cacheRead,
    completion_tokens: output + reasoning,
    total_tokens: input + cacheRead + output + reasoning,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

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
