/** A vendor's model behind our contract: its package's stream becomes ours. Loaded, like the package, with the first request. */
import type {
  LanguageModelV3,
  LanguageModelV3FinishReason,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
  SharedV3ProviderMetadata,
} from "@ai-sdk/provider";
import * as v from "valibot";
import type { Usage } from "../../core/event.js";
import { batchesOf } from "./batch-readable.js";
import { httpFetch } from "./http-fetch.js";
import type { Finish, ModelCall, ModelPart, ModelRequest } from "./model.js";
import { cutFault, vendorFault, type Vendor } from "./vendor-fault.js";
import { keepMeta, mergeMeta, type Origin } from "./vendor-meta.js";
import { callOptions } from "./vendor-options.js";

/** What is spoken on the wire; vendors that speak the same take the same requests. */
export type Wire = "anthropic" | "openai-responses" | "openai-chat" | "compatible";

/** How the package is to reach its vendor. */
export type Fetch = typeof globalThis.fetch;

export interface VendorModel extends Vendor {
  id: string;
  wire: Wire;
  load(fetch: Fetch): Promise<LanguageModelV3>;
}

export async function warmVendor(vendor: VendorModel): Promise<void> {
  await vendor.load(httpFetch);
}

export async function* streamVendor(vendor: VendorModel, request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]> {
  let answering = false;
  try {
    const model = await vendor.load(httpFetch);
    const { stream } = await model.doStream(callOptions(request, vendor, signal));
    answering = true;
    yield* translate(stream, vendor);
  } catch (error) {
    throw vendorFault(error, vendor, answering);
  }
}

async function* translate(stream: ReadableStream<LanguageModelV3StreamPart>, vendor: VendorModel): AsyncIterable<ModelPart[]> {
  const blocks = new Blocks({ provider: vendor.provider, model: vendor.id });
  let isFinished = false;
  for await (const batch of batchesOf(stream, (parts) => parts.some(({ type }) => type === "finish"))) {
    const parts: ModelPart[] = [];
    let failure: { error: unknown } | undefined;
    try {
      for (const part of batch) {
        for (const ours of translated(part, blocks, vendor)) parts.push(ours);
        isFinished = part.type === "finish";
        if (isFinished) break;
      }
    } catch (error) {
      failure = { error };
    }
    // What came before a failure is told before it.
    if (parts.length > 0) yield parts;
    if (failure !== undefined) throw failure.error;
  }
  if (!isFinished) throw cutFault(vendor);
}

function* translated(part: LanguageModelV3StreamPart, blocks: Blocks, vendor: VendorModel): Iterable<ModelPart> {
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      return blocks.note(part);
    case "text-delta":
    case "reasoning-delta":
      return yield* blocks.delta(part);
    case "text-end":
    case "reasoning-end":
      return yield* blocks.end(part);
    case "tool-input-start":
      yield* blocks.held();
      return yield { type: "call.delta", id: part.id, name: part.toolName, text: "" };
    case "tool-input-delta":
      return yield { type: "call.delta", id: part.id, text: part.delta };
    case "tool-call":
      yield* blocks.held();
      return yield { type: "call", call: toCall(part.toolCallId, part.toolName, part.input), ...blocks.metaOf(part.providerMetadata) };
    case "raw":
      return yield* startUsage(part.rawValue);
    case "finish":
      if (isCut(part.finishReason)) throw cutFault(vendor);
      yield* blocks.held();
      yield* totalUsage(part.usage);
      return yield { type: "finish", reason: toFinish(part.finishReason) };
    case "error":
      if (vendor.wire === "anthropic" && isUnknownEvent(part.error)) return;
      throw part.error;
    default:
    // Sources and vendor-run tools are not asked for.
  }
}

const ANTHROPIC_EVENTS = [
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error",
];

const UnknownEvent = v.looseObject({
  name: v.literal("AI_TypeValidationError"),
  value: v.looseObject({ type: v.pipe(v.string(), v.notValues(ANTHROPIC_EVENTS)) }),
});

/** Anthropic may add kinds of events at any time, and wants them to be passed over; the package complains and goes on. */
function isUnknownEvent(error: unknown): boolean {
  return v.is(UnknownEvent, error);
}

// --- text and thinking ---

type Piece = Extract<LanguageModelV3StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

/** Signatures come on different parts with each vendor: what any part of a block carries is kept with the block. */
class Blocks {
  readonly #origin: Origin;
  readonly #metas = new Map<string, SharedV3ProviderMetadata>();
  readonly #shown = new Set<string>();
  /** Thinking that nothing was shown of. It waits for something to be shown, for until then the answer can be asked for again. */
  #hidden: ModelPart[] = [];

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  note({ id, providerMetadata }: Piece): void {
    const meta = mergeMeta(this.#metas.get(id), providerMetadata);
    if (meta !== undefined) this.#metas.set(id, meta);
  }

  *delta(part: Extract<Piece, { delta: string }>): Iterable<ModelPart> {
    this.note(part);
    if (part.delta === "") return;
    this.#shown.add(part.id);
    yield* this.held();
    yield { type: part.type === "text-delta" ? "text" : "thinking", text: part.delta };
  }

  *end(part: Piece): Iterable<ModelPart> {
    this.note(part);
    const meta = this.#metas.get(part.id);
    this.#metas.delete(part.id);
    const isShown = this.#shown.delete(part.id);
    if (part.type === "text-end") {
      if (isShown) yield { type: "text.end", ...this.metaOf(meta) };
      return;
    }
    const end: ModelPart = { type: "thinking.end", meta: keepMeta(this.#origin, meta) };
    if (isShown) yield end;
    else if (meta !== undefined) this.#hidden.push(end);
  }

  *held(): Iterable<ModelPart> {
    if (this.#hidden.length === 0) return;
    yield* this.#hidden;
    this.#hidden = [];
  }

  metaOf(meta: SharedV3ProviderMetadata | undefined): { meta?: unknown } {
    return meta === undefined ? {} : { meta: keepMeta(this.#origin, meta) };
  }
}

// --- calls ---

function toCall(id: string, name: string, input: string): ModelCall {
  try {
    const args: unknown = input.trim() === "" ? {} : JSON.parse(input);
    if (typeof args === "object" && args !== null && !Array.isArray(args)) return { id, name, args: { ...args } };
  } catch {
    // Told by `raw`.
  }
  return { id, name, args: {}, raw: input };
}

// --- usage ---

const MessageStart = v.looseObject({
  type: v.literal("message_start"),
  message: v.looseObject({
    usage: v.looseObject({
      input_tokens: v.number(),
      output_tokens: v.nullish(v.number(), 0),
      cache_read_input_tokens: v.nullish(v.number(), 0),
      cache_creation_input_tokens: v.nullish(v.number(), 0),
    }),
  }),
});

function* startUsage(event: unknown): Iterable<ModelPart> {
  const start = v.safeParse(MessageStart, event, { abortEarly: true });
  if (!start.success) return;
  const { usage } = start.output.message;
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage;
  yield { type: "usage", usage: { input, output, cacheRead, cacheWrite, reasoning: 0 } };
}

/** Nothing where the server counts nothing. */
function* totalUsage({ inputTokens, outputTokens }: LanguageModelV3Usage): Iterable<ModelPart> {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return;
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const reasoning = outputTokens.reasoning ?? 0;
  const usage: Usage = {
    input: Math.max(0, inputTokens.noCache ?? (inputTokens.total ?? 0) - cacheRead - cacheWrite),
    output: Math.max(0, outputTokens.text ?? (outputTokens.total ?? 0) - reasoning),
    cacheRead,
    cacheWrite,
    reasoning,
  };
  yield { type: "usage", usage };
}

// --- the end ---

/** The packages make up a finish of their own for a stream that just ends. */
function isCut({ unified, raw }: LanguageModelV3FinishReason): boolean {
  return unified === "other" && raw === undefined;
}

function toFinish({ unified, raw }: LanguageModelV3FinishReason): Finish {
  switch (unified) {
    case "stop":
    case "length":
      return unified;
    case "tool-calls":
      return "tool_calls";
    case "content-filter":
      return raw === "content_filter" ? "content_filter" : "refusal";
    default:
      return "other";
  }
}
