/** What a wire wants of a request, and says in an answer, beyond what its package makes alike. One file a wire. */
import type { LanguageModelV3FunctionTool, SharedV3ProviderMetadata, SharedV3ProviderOptions, SharedV3Warning } from "@ai-sdk/provider";
import type { Usage } from "../../../core/event.js";
import type { ModelRequest } from "../model.js";

export interface WireSettings {
  maxOutputTokens: number | undefined;
  providerOptions: SharedV3ProviderOptions;
  /** The model would refuse a temperature and a topP. */
  noSampling?: boolean;
  /** What was asked for and cannot be had here: said to the host. */
  notes?: string[];
}

export interface Wire {
  /** The settings of a request that are the wire's own. */
  settings(model: string, request: ModelRequest): WireSettings;
  /** Whether thinking goes back to the model that thought it. `meta` is what it said of the block then. */
  takesThinking(meta: SharedV3ProviderMetadata, isOfThisTurn: boolean): boolean;
  /** Whether an image may stand in a tool result; else it follows in a user message. */
  imagesInResults: boolean;
  /** The kinds of images that it takes, where they are fewer than usual. */
  imageTypes?: readonly string[];
  /** Set on the system prompt, the last tool and the last messages: the vendor keeps what stands up to there for the next request. */
  cacheMark?: SharedV3ProviderOptions;
  /** The mark may not stand behind a tool result. */
  noMarkOnResults?: boolean;
  /** A tool's schema without what the vendor would refuse. */
  toolSchema?(parameters: LanguageModelV3FunctionTool["inputSchema"]): LanguageModelV3FunctionTool["inputSchema"];
  /** What was used so far, out of an event that the package only passes on; an answer that is broken off has been paid for too. */
  usageSoFar?(raw: unknown): Usage | undefined;
  /** A complaint of the package about something that the vendor wants to be passed over. */
  isHarmless?(error: unknown): boolean;
  /** A warning of the package about something that is meant so. */
  isExpected?(warning: SharedV3Warning): boolean;
  /** What went wrong, where the vendor's word for the end means that the answer is none; another try may succeed. */
  failedFinish?(raw: string): string | undefined;
}
