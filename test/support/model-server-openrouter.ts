/** OpenRouter's flavour of chat completions: `reasoning` in requests, `reasoning_details` in both directions, comments that keep the line open. */
import * as v from "valibot";
import { chatUsage, playChat } from "../../src/check/model/openai-chat.js";
import { common, firstOf, ImageUrl, pairing, ToolCall } from "./model-server-openai-chat.js";
import type { Played, Reply, WireSpec } from "./model-server-script.js";

// --- requests ---

const mark = { cache_control: v.optional(v.strictObject({ type: v.literal("ephemeral") })) } as const;
const Text = v.strictObject({ type: v.literal("text"), text: v.pipe(v.string(), v.minLength(1)), ...mark });
const Texts = v.union([v.string(), v.pipe(v.array(Text), v.minLength(1))]);
const UserPart = v.variant("type", [Text, v.strictObject({ type: v.literal("image_url"), image_url: ImageUrl, ...mark })]);
const Detail = v.variant("type", [
  v.strictObject({
    type: v.literal("reasoning.text"),
    text: v.string(),
    signature: v.string(),
    format: v.literal("anthropic-claude-v1"),
    index: v.number(),
  }),
  v.strictObject({ type: v.literal("reasoning.encrypted"), data: v.string(), format: v.literal("openai-responses-v1"), index: v.number() }),
]);

const Message = v.variant("role", [
  v.strictObject({ role: v.literal("system"), content: Texts }),
  v.strictObject({ role: v.literal("user"), content: v.union([v.string(), v.pipe(v.array(UserPart), v.minLength(1))]) }),
  v.strictObject({ role: v.literal("tool"), tool_call_id: v.string(), content: Texts }),
  v.strictObject({
    role: v.literal("assistant"),
    content: v.nullable(v.string()),
    tool_calls: v.optional(v.pipe(v.array(ToolCall), v.minLength(1))),
    reasoning_details: v.optional(v.pipe(v.array(Detail), v.minLength(1))),
  }),
]);

const { reasoning_effort: _, ...fields } = common;
const Request = v.strictObject({
  ...fields,
  messages: v.array(Message),
  plugins: v.optional(v.tuple([v.strictObject({ id: v.literal("web") })])),
  reasoning: v.optional(
    v.union([
      v.strictObject({ effort: v.picklist(["none", "minimal", "low", "medium", "high", "xhigh"]) }),
      v.strictObject({ max_tokens: v.number() }),
      v.strictObject({ enabled: v.literal(true) }),
    ]),
  ),
});

const MOST_MARKS = 4;

function problem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) return firstOf(parsed.issues);
  const { model, messages } = parsed.output;
  const marks = JSON.stringify(messages).split('"cache_control"').length - 1;
  if (marks > MOST_MARKS) return `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marks}.`;
  if (marks > 0 && !model.startsWith("anthropic/")) return "cache_control is for models of Anthropic";
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const proofs = (message.reasoning_details ?? []).map((detail) => (detail.type === "reasoning.text" ? detail.signature : detail.data));
    const forged = proofs.find((proof) => !issued.has(proof));
    if (forged !== undefined) return `Invalid signature in reasoning_details: ${forged}`;
  }
  return pairing(messages);
}

// --- answers ---

/** The signature comes alone, behind the text; what is sealed comes when the answer is nearly over. */
function thinkingDeltas({ thinking = [], signature }: Reply): Record<string, unknown>[] {
  const item = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
  const proof = thinking.length === 0 || signature === undefined ? [] : [{ reasoning_details: [{ ...item, signature }] }];
  return [...thinking.map((text) => ({ reasoning: text, reasoning_details: [{ ...item, text }] })), ...proof];
}

function play(reply: Reply, count: number, body: unknown): Played {
  const { cacheWrite = 0 } = reply.usage ?? {};
  const counted: Record<string, unknown> = chatUsage(reply);
  const input = Number(counted["prompt_tokens"]) + cacheWrite;
  const details = { cached_tokens: reply.usage?.cacheRead ?? 0, cache_write_tokens: cacheWrite, audio_tokens: 0 };
  const usage = { ...counted, prompt_tokens: input, prompt_tokens_details: details, cost: 0.0001, is_byok: false };
  const { opening, output, ending } = playChat(reply, count, body, thinkingDeltas, usage);
  const comment = { bytes: Buffer.from(": OPENROUTER PROCESSING\n\n") };
  return { opening: [comment, ...opening], output: [...output, ...sealed(reply)], ending };
}

function sealed({ redacted }: Reply): Played["output"] {
  if (redacted === undefined) return [];
  const detail = { type: "reasoning.encrypted", data: redacted, format: "openai-responses-v1", index: 1 };
  return [{ data: { id: "gen-1", choices: [{ index: 0, delta: { content: "", reasoning_details: [detail] }, finish_reason: null }] } }];
}

export const openrouterWire: WireSpec = {
  path: "/v1/chat/completions",
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  problem,
  play,
  errorFrame: ({ type, message }) => ({
    data: {
      id: "gen-1",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      error: { code: Number(type) || type, message },
      choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
    },
  }),
  errorBody: ({ message, status }) => ({ error: { code: status, message }, user_id: "user_1" }),
};
