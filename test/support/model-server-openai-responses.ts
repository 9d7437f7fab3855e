/** OpenAI's Responses API without storage: reasoning travels encrypted with the conversation. */
import * as v from "valibot";
import { playResponses } from "../../src/check/model/openai-responses.js";
import type { WireSpec } from "./model-server-script.js";
import { ToolSchema } from "./tool-schema.js";

// --- requests ---

const InputText = v.strictObject({ type: v.literal("input_text"), text: v.string() });
const InputImage = v.strictObject({
  type: v.literal("input_image"),
  image_url: v.pipe(v.string(), v.regex(/^data:image\/(png|jpeg|gif|webp);base64,/)),
});
const InputParts = v.pipe(v.array(v.variant("type", [InputText, InputImage])), v.minLength(1));
const CallId = v.pipe(v.string(), v.maxLength(64));

const Instructions = v.strictObject({ role: v.picklist(["system", "developer"]), content: v.string() });
const UserItem = v.strictObject({ role: v.literal("user"), content: InputParts });
const AssistantItem = v.strictObject({
  role: v.literal("assistant"),
  id: v.optional(v.pipe(v.string(), v.startsWith("msg_"))),
  content: v.array(v.strictObject({ type: v.literal("output_text"), text: v.string() })),
});
const ReasoningItem = v.strictObject({
  type: v.literal("reasoning"),
  id: v.optional(v.pipe(v.string(), v.startsWith("rs_"))),
  encrypted_content: v.string(),
  summary: v.array(v.strictObject({ type: v.literal("summary_text"), text: v.string() })),
});
const FunctionCall = v.strictObject({
  type: v.literal("function_call"),
  call_id: CallId,
  name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
  arguments: v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())),
});
const FunctionOutput = v.strictObject({
  type: v.literal("function_call_output"),
  call_id: CallId,
  output: v.union([v.string(), InputParts]),
});
const Item = v.union([Instructions, UserItem, AssistantItem, ReasoningItem, FunctionCall, FunctionOutput]);
type Item = v.InferOutput<typeof Item>;

const Request = v.strictObject({
  model: v.string(),
  input: v.array(Item),
  store: v.literal(false),
  stream: v.literal(true),
  include: v.optional(v.array(v.picklist(["reasoning.encrypted_content", "web_search_call.action.sources"]))),
  max_output_tokens: v.optional(v.number()),
  temperature: v.optional(v.number()),
  top_p: v.optional(v.number()),
  reasoning: v.optional(v.strictObject({ effort: v.optional(v.string()), summary: v.optional(v.literal("auto")) })),
  tools: v.optional(
    v.array(
      v.variant("type", [
        v.strictObject({
          type: v.literal("function"),
          name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
          description: v.optional(v.string()),
          parameters: ToolSchema,
          strict: v.optional(v.boolean()),
        }),
        v.strictObject({ type: v.literal("web_search") }),
      ]),
    ),
  ),
  tool_choice: v.optional(v.literal("auto")),
});

function problem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) return `${v.getDotPath(parsed.issues[0]) ?? "body"}: ${parsed.issues[0].message}`;
  const { model, input, temperature, include } = parsed.output;
  const reasons = /^(o\d|gpt-5)/.test(model);
  if (reasons && temperature !== undefined) return "Unsupported parameter: 'temperature' is not supported with this model.";
  if (!reasons && include !== undefined) return "Encrypted content is not supported with this model.";
  return pairing(input) ?? reasoning(input, issued);
}

function pairing(input: readonly Item[]): string | undefined {
  const called = input.flatMap((item) => ("type" in item && item.type === "function_call" ? [item.call_id] : []));
  const answered = input.flatMap((item) => ("type" in item && item.type === "function_call_output" ? [item.call_id] : []));
  const dangling = called.find((id) => !answered.includes(id));
  if (dangling !== undefined) return `No tool output found for function call ${dangling}.`;
  const orphan = answered.find((id) => !called.includes(id));
  return orphan === undefined ? undefined : `No tool call found for function call output with call_id ${orphan}.`;
}

function reasoning(input: readonly Item[], issued: ReadonlySet<string>): string | undefined {
  for (const [at, item] of input.entries()) {
    if (!("type" in item) || item.type !== "reasoning") continue;
    if (!issued.has(item.encrypted_content)) return "The encrypted content could not be verified.";
    const next = input[at + 1];
    const isFollowed = next !== undefined && ("type" in next ? next.type !== "function_call_output" : next.role === "assistant");
    if (!isFollowed) return `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
  }
  return undefined;
}

export const openaiResponsesWire: WireSpec = {
  path: "/v1/responses",
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  problem,
  play: playResponses,
  errorFrame: ({ type, message }) => ({ event: "error", data: { type: "error", code: type, message, param: null, sequence_number: 999 } }),
  errorBody: ({ type, message }) => ({ error: { message, type, param: null, code: null } }),
};
