/** OpenAI's Responses API without storage: reasoning travels encrypted with the conversation. */
import * as v from "valibot";
import { argumentPieces, callId, type Frame, type Played, type Reply, type WireSpec } from "./model-server-script.js";
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

// --- answers ---

export function play(reply: Reply, count: number, body: unknown): Played {
  const response = {
    id: `resp_${count}`,
    object: "response",
    created_at: 1_700_000_000,
    model: v.is(v.looseObject({ model: v.string() }), body) ? body.model : "",
    output: [],
    error: null,
  };
  const items = [...reasoningItem(reply, count), ...searchItem(reply), ...messageItem(reply, count), ...callItems(reply, count)];
  const output = items.flatMap((frames, output_index) => frames.map((frame) => ({ output_index, ...frame })));
  const isWhole = reply.stop === undefined;
  const end = {
    type: reply.failed === true ? "response.failed" : isWhole ? "response.completed" : "response.incomplete",
    response: {
      ...response,
      status: reply.failed === true ? "failed" : isWhole ? "completed" : "incomplete",
      incomplete_details: isWhole ? null : { reason: reply.stop },
      usage: usageOf(reply),
    },
  };
  const pending = { ...response, status: "in_progress", incomplete_details: null, usage: null };
  const opening = [
    { type: "response.created", response: pending },
    { type: "response.in_progress", response: pending },
  ];
  const numbered = [...opening, ...output, end].map((data, sequence_number): Frame => ({
    event: data.type,
    data: { ...data, sequence_number },
  }));
  return { opening: numbered.slice(0, 2), output: numbered.slice(2, -1), ending: numbered.slice(-1) };
}

type Streamed = { type: string } & Record<string, unknown>;

/** Each piece of thinking is a summary part of its own. */
function reasoningItem({ thinking, signature }: Reply, count: number): Streamed[][] {
  if (thinking === undefined && signature === undefined) return [];
  const item_id = `rs_${count}`;
  const parts = (thinking ?? []).flatMap((text, summary_index): Streamed[] => [
    { type: "response.reasoning_summary_part.added", item_id, summary_index, part: { type: "summary_text", text: "" } },
    { type: "response.reasoning_summary_text.delta", item_id, summary_index, delta: text },
    { type: "response.reasoning_summary_text.done", item_id, summary_index, text },
    { type: "response.reasoning_summary_part.done", item_id, summary_index, part: { type: "summary_text", text } },
  ]);
  const item = { id: item_id, type: "reasoning" };
  const summary = (thinking ?? []).map((text) => ({ type: "summary_text", text }));
  return [
    [
      // What stands here is not yet what counts.
      { type: "response.output_item.added", item: { ...item, encrypted_content: "gAAAA-unfinished", summary: [] } },
      ...parts,
      { type: "response.output_item.done", item: { ...item, encrypted_content: signature ?? null, summary } },
    ],
  ];
}

function searchItem({ searched }: Reply): Streamed[][] {
  if (searched === undefined) return [];
  const item = { type: "web_search_call", id: "ws_1", status: "completed" };
  const action = { type: "search", query: searched.query, sources: [{ type: "url", url: searched.url }] };
  return [
    [
      { type: "response.output_item.added", item: { ...item, status: "in_progress" } },
      { type: "response.web_search_call.completed", item_id: item.id },
      { type: "response.output_item.done", item: { ...item, action } },
    ],
  ];
}

function messageItem({ text, refusal, searched }: Reply, count: number): Streamed[][] {
  if (text === undefined && refusal === undefined) return [];
  const item_id = `msg_${count}`;
  const at = { item_id, content_index: 0 };
  const item = { id: item_id, type: "message", role: "assistant" };
  const pieces: Streamed[] = [
    ...(text ?? []).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [], obfuscation: "x" })),
    ...(refusal ?? []).map((delta) => ({ type: "response.refusal.delta", ...at, delta })),
  ];
  const whole =
    text === undefined
      ? { type: "refusal", refusal: (refusal ?? []).join("") }
      : { type: "output_text", text: text.join(""), annotations: searched === undefined ? [] : [citationOf(searched)] };
  return [
    [
      { type: "response.output_item.added", item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
      ...pieces,
      ...(searched === undefined
        ? []
        : [{ type: "response.output_text.annotation.added", ...at, annotation_index: 0, annotation: citationOf(searched) }]),
      ...(text === undefined ? [] : [{ type: "response.output_text.done", ...at, text: text.join(""), logprobs: [] }]),
      ...(refusal === undefined ? [] : [{ type: "response.refusal.done", ...at, refusal: refusal.join("") }]),
      { type: "response.content_part.done", ...at, part: whole },
      { type: "response.output_item.done", item: { ...item, status: "completed", content: [whole] } },
    ],
  ];
}

function citationOf({ url, title }: NonNullable<Reply["searched"]>): Record<string, unknown> {
  return { type: "url_citation", start_index: 0, end_index: 1, url, title };
}

function callItems({ calls = [] }: Reply, count: number): Streamed[][] {
  return calls.map((call, index): Streamed[] => {
    const item_id = `fc_${count}_${index}`;
    const pieces = argumentPieces(call);
    const item = { id: item_id, type: "function_call", call_id: callId(call, count, index), name: call.name };
    return [
      { type: "response.output_item.added", item: { ...item, status: "in_progress", arguments: "" } },
      ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", item_id, delta, obfuscation: "x" })),
      { type: "response.function_call_arguments.done", item_id, arguments: pieces.join("") },
      { type: "response.output_item.done", item: { ...item, status: "completed", arguments: pieces.join("") } },
    ];
  });
}

function usageOf({ usage = {} }: Reply): Record<string, unknown> {
  const { input = 10, cacheRead = 0, output = 5, reasoning = 0 } = usage;
  return {
    input_tokens: input + cacheRead,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + cacheRead + output + reasoning,
  };
}

export const openaiResponsesWire: WireSpec = {
  path: "/v1/responses",
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  problem,
  play,
  errorFrame: ({ type, message }) => ({ event: "error", data: { type: "error", code: type, message, param: null, sequence_number: 999 } }),
  errorBody: ({ type, message }) => ({ error: { message, type, param: null, code: null } }),
};
