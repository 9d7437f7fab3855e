/** xAI's flavour of the Responses API: items with a status, instructions as a message, errors as plain texts. */
import * as v from "valibot";
import { playResponses } from "../../src/check/model/openai-responses.js";
import type { Frame, WireSpec } from "./model-server-script.js";
import { ToolSchema } from "./tool-schema.js";

const InputText = v.strictObject({ type: v.literal("input_text"), text: v.string() });
const InputImage = v.strictObject({
  type: v.literal("input_image"),
  image_url: v.pipe(v.string(), v.regex(/^data:image\/(png|jpeg|gif|webp);base64,/)),
});
const InputParts = v.pipe(v.array(v.variant("type", [InputText, InputImage])), v.minLength(1));

const Item = v.union([
  v.strictObject({ role: v.picklist(["system", "assistant"]), content: v.string() }),
  v.strictObject({ role: v.literal("user"), content: InputParts }),
  v.strictObject({
    type: v.literal("reasoning"),
    id: v.pipe(v.string(), v.startsWith("rs_")),
    status: v.literal("completed"),
    encrypted_content: v.string(),
    summary: v.array(v.strictObject({ type: v.literal("summary_text"), text: v.string() })),
  }),
  v.strictObject({
    type: v.literal("function_call"),
    id: v.string(),
    call_id: v.string(),
    name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
    arguments: v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())),
    status: v.literal("completed"),
  }),
  v.strictObject({ type: v.literal("function_call_output"), call_id: v.string(), output: v.union([v.string(), InputParts]) }),
]);

const Request = v.strictObject({
  model: v.string(),
  input: v.array(Item),
  store: v.literal(false),
  stream: v.literal(true),
  include: v.tuple([v.literal("reasoning.encrypted_content")]),
  max_output_tokens: v.optional(v.number()),
  temperature: v.optional(v.number()),
  top_p: v.optional(v.number()),
  reasoning: v.optional(v.strictObject({ effort: v.picklist(["none", "low", "medium", "high", "xhigh"]) })),
  tools: v.optional(
    v.array(
      v.variant("type", [
        v.strictObject({
          type: v.literal("function"),
          name: v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/)),
          description: v.optional(v.string()),
          parameters: ToolSchema,
        }),
        v.strictObject({ type: v.literal("web_search") }),
      ]),
    ),
  ),
});

function problem(body: unknown, issued: ReadonlySet<string>): string | undefined {
  const parsed = v.safeParse(Request, body);
  if (!parsed.success) return `${v.getDotPath(parsed.issues[0]) ?? "body"}: ${parsed.issues[0].message}`;
  const { model, input, reasoning } = parsed.output;
  if (reasoning !== undefined && !/^grok-4\.[3567]/.test(model)) return `Model ${model} does not support parameter reasoningEffort.`;
  let open: string[] = [];
  for (const item of input) {
    if (!("type" in item)) continue;
    if (item.type === "reasoning" && !issued.has(item.encrypted_content)) return "Could not decrypt the provided encrypted_content.";
    if (item.type === "function_call") open.push(item.call_id);
    if (item.type !== "function_call_output") continue;
    if (!open.includes(item.call_id)) return `No tool call found for function call output with call_id ${item.call_id}.`;
    open = open.filter((id) => id !== item.call_id);
  }
  return open.length === 0 ? undefined : `No tool output found for function call ${open.join(", ")}.`;
}

const ReasoningFrame = v.looseObject({ data: v.looseObject({ item: v.looseObject({ type: v.literal("reasoning") }) }) });

function withStatus(frame: Frame): Frame {
  if (!v.is(ReasoningFrame, frame)) return frame;
  return { ...frame, data: { ...frame.data, item: { ...frame.data.item, status: "completed" } } };
}

export const xaiWire: WireSpec = {
  path: "/v1/responses",
  keyIn: ({ authorization }) => authorization?.replace(/^Bearer /, ""),
  problem,
  play(reply, count, body) {
    const { opening, output, ending } = playResponses(reply, count, body);
    // A kind of event that a client of today does not know.
    const news = { event: "response.heartbeat", data: { type: "response.heartbeat", sequence_number: 0 } };
    return { opening: [...opening, news], output: output.map(withStatus), ending };
  },
  errorFrame: ({ type, message }) => ({ event: "error", data: { type: "error", code: type, message, param: null } }),
  errorBody: ({ type, message }) => ({ code: type, error: message }),
};
