/** A wire: its own settings of a request and its own words in an answer, as far as its package does not make them alike. One file a wire. */
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
  /** Wishes that cannot be fulfilled here: told to the host. */
  notes?: string[];
}

export interface Wire {
  /** The settings of a request that are the wire's own. */
  settings(model: string, request: ModelRequest, facts: ModelFacts): WireSettings;
  /** Another try with these settings, where the vendor refused the others in these words; undefined where they are not to blame. */
  withoutRefused?(settings: WireSettings, message: string): WireSettings | undefined;
  /** With these settings the vendor wants every turn of the model to begin with its thinking. */
  wantsThinkingFirst?(settings: WireSettings): boolean;
  /** Whether thinking goes back to the model that thought it. `meta` is what it said of the block then. */
  takesThinking(meta: SharedV3ProviderMetadata, isOfThisTurn: boolean): boolean;
  /** Whether an image may stand in a tool result; else it follows in a user message. */
  imagesInResults: boolean;
  /** The kinds of images that it takes, where they are fewer than usual. */
  imageTypes?: readonly string[];
  /** The most characters of base64 and pixels a side of one image; more would be refused, with every later request. */
  imageLimits?: { chars: number; pixels: number };
  /** Set on the system prompt, the last tool and the last messages: the vendor keeps what stands up to there for the next request. */
  cacheMark?: SharedV3ProviderOptions;
  /** The mark may not stand behind a tool result. */
  noMarkOnResults?: boolean;
  /** A tool's schema without what the vendor would refuse, where that is more than usual (object-schema.ts). */
  toolSchema?(parameters: ToolSpec["parameters"]): LanguageModelV3FunctionTool["inputSchema"];
  /** The usage so far, out of an event that the package only passes on; an answer that is broken off has been paid for too. */
  usageSoFar?(raw: unknown): Usage | undefined;
  /** The words of a refusal, out of an event that the package only passes on; "" where there are none. */
  refusalIn?(raw: unknown): string;
  /** A complaint of the package about something that the vendor wants to be passed over. */
  isHarmless?(error: unknown): boolean;
  /** A warning of the package about something that is meant so. */
  isExpected?(warning: SharedV3Warning): boolean;
  /** The reason, where the vendor's word for the end means that the answer is none; another try may succeed. */
  failedFinish?(raw: string): string | undefined;
  /** For a vendor whose package does not know what has to go back. */
  details?: Details;
}

/** Data beside the answer in a vendor's events, kept with its blocks and given back with the message that they make. */
export interface Details {
  /** Out of an event that the package only passes on. */
  read(raw: unknown): JSONObject[];
  /** As what the vendor said of a block. */
  keep(pieces: readonly JSONObject[]): SharedV3ProviderMetadata;
  /** Out of what was kept with the blocks of a message, for the message; the text of the thinking is then a part of it. */
  replay(metas: readonly SharedV3ProviderMetadata[]): SharedV3ProviderOptions | undefined;
}
