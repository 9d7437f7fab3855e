/** A model server that a config file describes: its wire, its address, where its key is, and its models. */
import * as v from "valibot";
import { isApiRoot, isProviderName } from "./providers.js";
import { anyText, count, oneOf, text, textByName, yesOrNo } from "../values/value-schemas.js";

const variable = v.pipe(anyText, v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "be the name of an environment variable"));
export const apiRoot = v.pipe(anyText, v.check(isApiRoot, "be an http or https URL"));

/** The wires that a server of the user's own may speak. */
const KINDS = ["openai-compatible", "anthropic", "openai", "gemini"] as const;

const price = v.pipe(v.number("be a number"), v.minValue(0, "be a number from 0"));

const OwnModel = v.strictObject(
  {
    context: v.optional(count),
    output: v.optional(count),
    thinking: v.optional(yesOrNo),
    images: v.optional(yesOrNo),
    /** US dollars for a million tokens. */
    prices: v.optional(
      v.strictObject(
        { input: price, output: price, cacheRead: v.optional(price), cacheWrite: v.optional(price) },
        "be a mapping of prices",
      ),
    ),
  },
  "be a mapping",
);

/** Differences between servers of the kind openai-compatible. */
const Compat = v.strictObject(
  {
    /** Some servers refuse `stream_options`; others count no tokens without it. */
    includeUsage: v.optional(yesOrNo),
    maxTokensField: v.optional(oneOf(["max_tokens", "max_completion_tokens"])),
    /** Some servers refuse `reasoning_effort`. */
    reasoningEffort: v.optional(yesOrNo),
    /** Some servers use `prompt_cache_key` to route the requests of one conversation to the same cache. */
    promptCacheKey: v.optional(yesOrNo),
    /** Some servers pass on the vendor's own web search. */
    webSearch: v.optional(yesOrNo),
  },
  "be a mapping",
);
export type Compat = v.InferOutput<typeof Compat>;

const OwnProvider = v.strictObject(
  {
    kind: v.optional(oneOf(KINDS)),
    api: v.optional(oneOf(["chat", "responses"])),
    baseUrl: v.optional(apiRoot),
    apiKeyEnv: v.optional(variable),
    headers: v.optional(textByName),
    models: v.optional(v.record(text, OwnModel, "be a mapping of models")),
    compat: v.optional(Compat),
  },
  "be a mapping",
);
export type OwnProvider = v.InferOutput<typeof OwnProvider>;

export const OwnProviders = v.pipe(
  v.record(text, OwnProvider, "be a mapping of providers"),
  v.rawCheck(({ dataset, addIssue }) => {
    const complained = new Set(dataset.issues?.map((issue) => issue.path?.[0]?.key));
    const input = v.is(v.record(v.string(), v.unknown()), dataset.value) ? dataset.value : {};
    for (const [key, value] of Object.entries(input)) {
      const message = complained.has(key) || !v.is(OwnProvider, value) ? undefined : incompleteness(key, value);
      if (message !== undefined) addIssue({ message, path: [{ type: "object", origin: "value", input, key, value }] });
    }
  }),
);

/** A provider that Parley knows by name may leave these fields out. */
function incompleteness(name: string, provider: OwnProvider): string | undefined {
  if (isProviderName(name)) return undefined;
  if (provider.kind === undefined) return `have a kind: ${KINDS.join(", ")}`;
  return provider.baseUrl === undefined ? "have a baseUrl" : undefined;
}
