/** The contract of a model: one function that streams. Every provider and the rehearsal model keep it. */
import type { Part } from "../../core/content.js";
import type { Usage } from "../../core/event.js";
import type { Thinking } from "../../core/config.js";
import type { Prices } from "./prices.js";
import type { RetryLimits } from "./time-limits.js";

/** A call by the model. `args` is its parsed text; `raw` is the text if it is no JSON object. */
export interface ModelCall {
  id: string;
  name: string;
  args: Record<string, unknown>;
  raw?: string;
}

/** `meta` is the vendor's own data (signatures and such), sent back unread. */
export type AssistantBlock =
  | { type: "text"; text: string; meta?: unknown }
  | { type: "thinking"; text: string; meta?: unknown }
  | { type: "call"; call: ModelCall; meta?: unknown };

export interface CallResult {
  call: string;
  name: string;
  parts: Part[];
  failed: boolean;
}

/**
 * A conversation: user and tool messages go to the model, assistant messages came from it. A user message without a `kind` is the user's own;
 * a summary replaces messages that were removed, and a note is the engine's own.
 */
export type Message =
  | { role: "user"; parts: Part[]; kind?: "summary" | "note" | undefined }
  | { role: "assistant"; blocks: AssistantBlock[] }
  | { role: "tool"; results: CallResult[] };

export type UserMessage = Extract<Message, { role: "user" }>;

/** A tool in a request. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** One request to a model. */
export interface ModelRequest {
  system: string;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  maxTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop?: string[];
  thinking?: Thinking;
  thinkingBudget?: number;
  effort?: string;
  /** The same for every request of a conversation: requests with one key use the same cache. */
  cacheKey?: string;
  /** Whether images may be sent; undefined: as known of the model. */
  images?: boolean;
  /** The trace context of the request, if traces are collected. */
  traceparent?: string | undefined;
}

/** `pause`: the vendor wants a further request to go on. */
export type Finish = "stop" | "tool_calls" | "length" | "pause" | "refusal" | "content_filter" | "other";

/** `thinking` and `text` come as deltas; `*.end` closes the open block and may have its `meta`. A `call` is whole. */
export type ModelPart =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "text.end" | "thinking.end"; meta?: unknown }
  | { type: "call.delta"; id: string; name?: string; text: string }
  | { type: "call"; call: ModelCall; meta?: unknown }
  | { type: "usage"; usage: Usage }
  /** A requested setting that the model cannot fulfil, for the host. */
  | { type: "note"; text: string }
  | { type: "finish"; reason: Finish };

/** An answer to a search of the web. */
export interface WebAnswer {
  text: string;
  sources: readonly { url: string; title?: string }[];
  usage?: Usage;
}

/** A model as the engine sees it: one function that streams. */
export interface Model {
  readonly provider: string;
  readonly id: string;
  /** Whether it may show its thinking. */
  readonly thinking: boolean;
  /** The window in tokens, if known. */
  readonly contextLimit?: number;
  /** The most tokens of one answer, when known. */
  readonly outputLimit?: number;
  /** Whether it takes images. */
  readonly images: boolean;
  /** Whether it prefers `apply_patch` to Edit. */
  readonly patches?: boolean;
  /** The prices that the config gives; prices.ts knows those of some others. */
  readonly prices?: Prices;
  /** The words for its efforts, if known. */
  readonly efforts?: readonly string[];
  /** The retries of one answer; core/limits.ts has the default. */
  readonly limits?: RetryLimits;
  /** Loads the code for the first request, without a request. */
  warm?(): Promise<unknown>;
  /**
   * Streams one response in batches as they come, and ends with `finish`. Throws a ParleyError with a `provider` fault (status, retryable) if it fails;
   * stops at once when the signal is aborted, by throwing or ending: the engine checks the signal first.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart[]>;
  /** Searches the web in a request of its own, if the vendor has a search. Throws as `stream` does. */
  searchWeb?(query: string, signal: AbortSignal): Promise<WebAnswer>;
}
