/** Bedrock's ConverseStream: what a request may hold, with what Nova and the others refuse, and how an answer is streamed. */
import * as v from "valibot";
import { awsEvent, awsException, FRAMES_TYPE } from "./aws-frames.js";
import { awsDenial } from "./aws-signature.js";
import { argumentPieces, callId, type Frame, type Played, type Reply, type WireSpec } from "./model-server-script.js";
import { ToolSchema } from "./tool-schema.js";

// --- requests ---

const filled = v.pipe(v.string(), v.regex(/\S/, "The text field in the ContentBlock object is blank"));
const base64 = v.pipe(v.string(), v.base64());
const Name = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/));
const Id = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/));

const Text = v.strictObject({ text: filled });
const Image = v.strictObject({
  image: v.strictObject({ format: v.picklist(["png", "jpeg", "gif", "webp"]), source: v.strictObject({ bytes: base64 }) }),
});
const CachePoint = v.strictObject({ cachePoint: v.strictObject({ type: v.literal("default") }) });
const ToolResult = v.strictObject({
  toolResult: v.strictObject({
    toolUseId: Id,
    content: v.array(v.union([Text, Image])),
    status: v.optional(v.picklist(["success", "error"])),
  }),
});
const ToolUse = v.strictObject({
  toolUse: v.strictObject({ toolUseId: Id, name: Name, input: v.record(v.string(), v.unknown()) }),
});
const Reasoning = v.strictObject({
  reasoningContent: v.union([
    v.strictObject({ reasoningText: v.strictObject({ text: v.string(), signature: v.string() }) }),
    v.strictObject({ redactedContent: base64 }),
  ]),
});

const UserMessage = v.strictObject({
  role: v.literal("user"),
  content: v.pipe(v.array(v.union([Text, Image, ToolResult, CachePoint])), v.minLength(1)),
});
const AssistantMessage = v.strictObject({
  role: v.literal("assistant"),
  content: v.pipe(v.array(v.union([Text, ToolUse, Reasoning])), v.minLength(1)),
});
const Tool = v.strictObject({
  toolSpec: v.strictObject({
    name: Name,
    description: v.optional(v.pipe(v.string(), v.minLength(1))),
    inputSchema: v.strictObject({ json: ToolSchema }),
  }),
});

const Request = v.strictObject({
  messages: v.array(v.variant("role", [UserMessage, AssistantMessage])),
  system: v.optional(v.array(v.union([Text, CachePoint]))),
  inferenceConfig: v.optional(
    v.strictObject({
      maxTokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      temperature: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      topP: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
      stopSequences: v.optional(v.pipe(v.array(filled), v.maxLength(4))),
    }),
  ),
  toolConfig: v.optional(
    v.strictObject({
      tools: v.pipe(v.array(Tool), v.minLength(1)),
      toolChoice: v.optional(v.strictObject({ auto: v.strictObject({}) })),
    }),
  ),
  additionalModelRequestFields: v.optional(
    v.strictObject({
      reasoning_effort: v.optional(v.picklist(["low", "medium", "high"])),
      reasoning: v.optional(v.strictObject({ effort: v.string() })),
      reasoningConfig: v.optional(
        v.variant("type", [
          v.strictObject({ type: v.literal("disabled") }),
          v.strictObject({ type: v.literal("enabled"), maxReasoningEffort: v.picklist(["low", "medium", "high"]) }),
        ]),
      ),
    }),
  ),
});
type Request = v.InferOutput<typeof Request>;
type Message = Request["messages"][number];

function problem(body: unknown, issued: ReadonlySet<string>, path: string): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) return `Malformed input request: #/${v.getDotPath(parsed.issues[0]) ?? ""}: ${parsed.issues[0].message}`;
  const { messages } = parsed.output;
  if (messages.some(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant")))
    return "A conversation must alternate between user and assistant roles.";
  if (messages.at(-1)?.role !== "user")
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
  if (parsed.output.toolConfig === undefined && JSON.stringify(messages).includes('"toolUse"'))
    return "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
  const refused = path.includes("amazon.nova") ? novaRefuses(parsed.output) : othersRefuse(parsed.output);
  return refused ?? messages.map((_, at) => pairing(messages, at) ?? proofs(messages[at], issued)).find((found) => found !== undefined);
}

function novaRefuses({ messages, toolConfig, inferenceConfig, additionalModelRequestFields }: Request): string | undefined {
  const misplaced = messages.some(({ content }) =>
    content.some((block, at) => "cachePoint" in block && "toolResult" in (content[at - 1] ?? {})),
  );
  if (misplaced) return "Malformed input request: extraneous key [cachePoint] is not permitted";
  const keys = (toolConfig?.tools ?? []).flatMap(({ toolSpec }) => Object.keys(toolSpec.inputSchema.json));
  const odd = keys.find((key) => !["type", "properties", "required"].includes(key));
  if (odd !== undefined) return `Malformed input request: extraneous key [${odd}] is not permitted in a tool's schema`;
  if (JSON.stringify(toolConfig ?? {}).includes('"$ref":')) return "Malformed input request: a tool's schema refers to what is not there";
  const reasoning = additionalModelRequestFields?.reasoningConfig;
  const isHigh = reasoning?.type === "enabled" && reasoning.maxReasoningEffort === "high";
  const { maxTokens, temperature, topP } = inferenceConfig ?? {};
  return isHigh && (maxTokens ?? temperature ?? topP) !== undefined
    ? "With high reasoning effort, maxTokens, temperature and topP must be unset"
    : undefined;
}

function othersRefuse(body: Request): string | undefined {
  if (JSON.stringify(body).includes('"cachePoint"'))
    return "You invoked an unsupported model or your request did not allow prompt caching.";
  const results = body.messages.flatMap(blocksOf).filter((block) => "toolResult" in block);
  return JSON.stringify(results).includes('"image"') ? "This model doesn't support the image content block in tool results." : undefined;
}

function pairing(messages: readonly Message[], at: number): string | undefined {
  const asked = blocksOf(messages[at]).flatMap((block) => ("toolUse" in block ? [block.toolUse.toolUseId] : []));
  const answered = blocksOf(messages[at + 1]).flatMap((block) => ("toolResult" in block ? [block.toolResult.toolUseId] : []));
  const missing = asked.find((id) => !answered.includes(id));
  if (missing !== undefined) return `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${missing}`;
  const isSame = asked.length === answered.length && new Set(asked).size === asked.length;
  return isSame
    ? undefined
    : `The number of toolResult blocks at messages.${at + 1}.content exceeds the number of toolUse blocks of previous turn.`;
}

function blocksOf(message: Message | undefined): Message["content"][number][] {
  return message === undefined ? [] : [...message.content];
}

function proofs(message: Message | undefined, issued: ReadonlySet<string>): string | undefined {
  for (const block of blocksOf(message)) {
    if (!("reasoningContent" in block)) continue;
    const { reasoningContent } = block;
    const proof = "redactedContent" in reasoningContent ? reasoningContent.redactedContent : reasoningContent.reasoningText.signature;
    if (!issued.has(proof)) return "The reasoning content was not made by this model.";
  }
  return undefined;
}

// --- answers ---

function play(reply: Reply, count: number): Played {
  const blocks = [...reasoningBlocks(reply), ...textBlocks(reply), ...callBlocks(reply, count)];
  const { input = 10, cacheRead = 0, cacheWrite = 0, output = 5, reasoning = 0 } = reply.usage ?? {};
  const paid = { inputTokens: input, outputTokens: output + reasoning, cacheReadInputTokens: cacheRead, cacheWriteInputTokens: cacheWrite };
  const usage = { ...paid, totalTokens: input + output + reasoning + cacheRead + cacheWrite, serverToolUsage: {} };
  const stopReason = reply.stop ?? ((reply.calls ?? []).length > 0 ? "tool_use" : "end_turn");
  return {
    opening: [frame("messageStart", { role: "assistant" })],
    output: blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [frame("contentBlockStart", { contentBlockIndex, start })]),
      ...deltas.map((delta) => frame("contentBlockDelta", { contentBlockIndex, delta })),
      frame("contentBlockStop", { contentBlockIndex }),
    ]),
    ending: [frame("messageStop", { stopReason }), frame("metadata", { metrics: { latencyMs: 400 }, usage })],
  };
}

interface Block {
  /** Only calls have one. */
  start?: Record<string, unknown>;
  deltas: Record<string, unknown>[];
}

function reasoningBlocks({ thinking, signature, redacted }: Reply): Block[] {
  const said = (thinking ?? []).map((text) => ({ text }));
  const open = thinking === undefined ? [] : [...said, ...(signature === undefined ? [] : [{ signature }])];
  const sealed = redacted === undefined ? [] : [{ redactedContent: redacted }];
  return [open, sealed]
    .filter((deltas) => deltas.length > 0)
    .map((deltas) => ({ deltas: deltas.map((reasoningContent) => ({ reasoningContent })) }));
}

function textBlocks({ text }: Reply): Block[] {
  return text === undefined ? [] : [{ deltas: text.map((piece) => ({ text: piece })) }];
}

function callBlocks({ calls = [] }: Reply, count: number): Block[] {
  return calls.map((call, at) => ({
    start: { toolUse: { toolUseId: callId(call, count, at), name: call.name } },
    deltas: argumentPieces(call).map((input) => ({ toolUse: { input } })),
  }));
}

function frame(type: string, data: Record<string, unknown>): Frame {
  return { bytes: awsEvent(type, { ...data, p: "abcdefghij" }) };
}

export const bedrockConverseWire: WireSpec = {
  path: (path) => /^\/model\/[^/:]+\/converse-stream$/.test(path),
  contentType: FRAMES_TYPE,
  keyIn: () => null,
  denial: awsDenial,
  problem,
  play,
  errorFrame: ({ type, message }) => ({ bytes: awsException(type, message) }),
  errorBody: ({ message }) => ({ message }),
  errorHeaders: ({ type }) => ({ "x-amzn-errortype": type }),
};
