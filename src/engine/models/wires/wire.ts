/** A wire: its own settings of a request and its own fields in an answer, as far as its package does not unify them. One file a wire. */
import type {
  JSONObject,
  LanguageModelV3FunctionTool,
  SharedV3ProviderMetadata,
  SharedV3ProviderOptions,
  SharedV3Warning,
} from "@ai-sdk/provider";
import type { Usage } from "../../../core/event.js";
import type { ModelFacts } from "../facts.js";
import type { ModelRequest, ToolSpec } from "../model.js";

export interface WireSettings {
  maxOutputTokens: number | undefined;
  providerOptions?: SharedV3ProviderOptions;
  /** The model would refuse a temperature and a topP. */
  noSampling?: boolean;
  /** Settings that cannot be fulfilled, for the host. */
  notes?: string[];
}

export interface Wire {
  /** The settings of a request that are the wire's own. */
  settings(model: string, request: ModelRequest, facts: ModelFacts): WireSettings;
  /** Other settings after the vendor refused the first in these words; undefined if they are not the cause. */
  withoutRefused?(settings: WireSettings, message: string): WireSettings | undefined;
  /** With these settings the vendor demands that every turn of the model begins with its thinking. */
  wantsThinkingFirst?(settings: WireSettings): boolean;
  /** Whether thinking goes back to the model that wrote it. `meta` is the vendor's data for the block. */
  takesThinking(meta: SharedV3ProviderMetadata, isOfThisTurn: boolean): boolean;
  /** Whether an image may be in a tool result; otherwise it follows in a user message. */
  imagesInResults: boolean;
  /** The image types that it takes, if fewer than usual. */
  imageTypes?: readonly string[];
  /** The largest image in characters of base64 and in pixels of a side; a larger one would be refused with every later request. */
  imageLimits?: { chars: number; pixels: number };
  /** The mark on the system prompt, the last tool and the last messages: the vendor caches the content up to it. */
  cacheMark?: SharedV3ProviderOptions;
  /** The mark must not be on a tool result. */
  noMarkOnResults?: boolean;
  /** Fits a tool's schema, where the vendor refuses more than usual (object-schema.ts). */
  toolSchema?(parameters: ToolSpec["parameters"]): LanguageModelV3FunctionTool["inputSchema"];
  /** The usage so far, from an event that the package only passes on; a broken answer has been paid for, too. */
  usageSoFar?(raw: unknown): Usage | undefined;
  /** The text of a refusal, from an event that the package only passes on; "" if there is none. */
  refusalIn?(raw: unknown): string;
  /** Whether an error of the package is about an event that must be ignored. */
  isHarmless?(error: unknown): boolean;
  /** Whether a warning of the package is expected. */
  isExpected?(warning: SharedV3Warning): boolean;
  /** The reason if the vendor's finish means a failed answer; a retry may succeed. */
  failedFinish?(raw: string): string | undefined;
  /** For a vendor whose package does not know which data must be sent back. */
  details?: Details;
}

/** Data beside the answer in a vendor's events, kept with its blocks and sent back with their message. */
export interface Details {
  /** Reads the data from an event that the package only passes on. */
  read(raw: unknown): JSONObject[];
  /** Converts them to the vendor's data of a block. */
  keep(pieces: readonly JSONObject[]): SharedV3ProviderMetadata;
  /** Converts the blocks' data to those of a message; the text of the thinking is then part of it. */
  replay(metas: readonly SharedV3ProviderMetadata[]): SharedV3ProviderOptions | undefined;
}
