/** Facts about models by their names: window, output, thinking, images. The config may override them. */

export interface ModelFacts {
  /** The model's window in tokens, if known. */
  context?: number;
  /** The most tokens of one answer, when known. */
  output?: number;
  thinking: boolean;
  /** The model is unknown: whether it thinks is a guess. */
  unknown?: true;
  /** The words for its efforts, from little to much; none if unknown. */
  efforts?: readonly string[];
  images: boolean;
  /** The model was trained to change files by `apply_patch`. */
  patches?: true;
}

/** The facts about a model in the config. */
export type KnownFacts = { [K in keyof Omit<ModelFacts, "efforts" | "unknown" | "patches">]?: ModelFacts[K] | undefined };

/** An unknown model gets everything: the server reports what it does not take. */
const UNKNOWN: ModelFacts = { thinking: true, images: true, unknown: true };

const M = 1_000_000;
const MI = 1_048_576;
const LOW_TO_HIGH = ["low", "medium", "high"] as const;
const LOW_TO_XHIGH = [...LOW_TO_HIGH, "xhigh"] as const;
const NONE_TO_XHIGH = ["none", ...LOW_TO_XHIGH] as const;

/**
 * The first that matches counts. Names are compared without what clouds and routers put around them: `us.anthropic.`, `anthropic/`,
 * `models/`, `-v1:0`, `@20250929`, `:free`.
 */
const TABLE: readonly [RegExp, ModelFacts][] = [
  [/^claude-([a-z]+-)?([5-9]|\d\d)\b/, { context: M, output: 128_000, thinking: true, efforts: [...LOW_TO_XHIGH, "max"], images: true }],
  [/^claude-[a-z]+-4[-.][789]/, { context: M, output: 128_000, thinking: true, efforts: [...LOW_TO_XHIGH, "max"], images: true }],
  [/^claude-[a-z]+-4[-.]6/, { context: M, output: 128_000, thinking: true, efforts: [...LOW_TO_HIGH, "max"], images: true }],
  [/^claude-opus-4[-.]5/, { context: 200_000, output: 64_000, thinking: true, efforts: LOW_TO_HIGH, images: true }],
  [/^claude-opus-4/, { context: 200_000, output: 32_000, thinking: true, images: true }],
  [/^claude-([a-z]+-4|3[-.]7)/, { context: 200_000, output: 64_000, thinking: true, images: true }],
  [/^claude-3[-.]5/, { context: 200_000, output: 8_192, thinking: false, images: true }],
  [/^claude-3/, { context: 200_000, output: 4_096, thinking: false, images: true }],

  [/^gpt-5-chat/, { context: 128_000, output: 16_384, thinking: false, images: true }],
  [/^gpt-5\.[4-9]-(mini|nano|luna)/, { context: 400_000, output: 128_000, thinking: true, efforts: NONE_TO_XHIGH, images: true }],
  [/^gpt-5\.[4-9]/, { context: 1_050_000, output: 128_000, thinking: true, efforts: NONE_TO_XHIGH, images: true }],
  [/^gpt-5\.[23]/, { context: 400_000, output: 128_000, thinking: true, efforts: NONE_TO_XHIGH, images: true }],
  [/^gpt-5\.1/, { context: 400_000, output: 128_000, thinking: true, efforts: ["none", ...LOW_TO_HIGH], images: true }],
  [/^gpt-5/, { context: 400_000, output: 128_000, thinking: true, efforts: ["minimal", ...LOW_TO_HIGH], images: true }],
  [/^gpt-[6-9]/, { context: 400_000, output: 128_000, thinking: true, efforts: [...LOW_TO_XHIGH, "max"], images: true }],
  [/^gpt-4\.1/, { context: 1_047_576, output: 32_768, thinking: false, images: true }],
  [/^(gpt-4o|chatgpt-4o)/, { context: 128_000, output: 16_384, thinking: false, images: true }],
  [/^gpt-4-turbo/, { context: 128_000, output: 4_096, thinking: false, images: true }],
  [/^gpt-4/, { context: 8_192, output: 8_192, thinking: false, images: false }],
  [/^gpt-3\.5/, { context: 16_385, output: 4_096, thinking: false, images: false }],
  [/^gpt-oss/, { context: 131_072, thinking: true, efforts: LOW_TO_HIGH, images: false }],
  [/^o[13]-mini/, { context: 200_000, output: 100_000, thinking: true, efforts: LOW_TO_HIGH, images: false }],
  [/^o\d/, { context: 200_000, output: 100_000, thinking: true, efforts: LOW_TO_HIGH, images: true }],

  [/^gemini-(1|2\.0)/, { context: MI, output: 8_192, thinking: false, images: true }],
  [/^gemini-2\.5/, { context: MI, output: 65_536, thinking: true, images: true }],
  [/^gemini-/, { context: MI, output: 65_536, thinking: true, efforts: LOW_TO_HIGH, images: true }],
  [/^gemma-3/, { context: 131_072, output: 8_192, thinking: false, images: true }],

  [/^grok-4\.[67]/, { context: 500_000, thinking: true, efforts: LOW_TO_XHIGH, images: true }],
  [/^grok-4\.5/, { context: 500_000, thinking: true, efforts: LOW_TO_HIGH, images: true }],
  [/^grok-4\.3/, { context: M, thinking: true, efforts: ["none", ...LOW_TO_HIGH], images: true }],
  [/^grok-4.*non-reasoning/, { context: M, thinking: false, images: true }],
  [/^grok-4\.20-multi-agent/, { context: M, thinking: true, efforts: LOW_TO_HIGH, images: true }],
  [/^grok-4[-.](20|1|fast)/, { context: M, thinking: true, images: true }],
  [/^grok-(4|build|code)/, { context: 256_000, thinking: true, images: true }],
  [/^grok-3-mini/, { context: 131_072, thinking: true, efforts: ["low", "high"], images: false }],
  [/^grok-[23]/, { context: 131_072, thinking: false, images: false }],

  [/^nova-2/, { context: M, output: 64_000, thinking: true, images: true }],
  [/^nova-micro/, { context: 128_000, output: 10_000, thinking: false, images: false }],
  [/^nova-(lite|pro)/, { context: 300_000, output: 10_000, thinking: false, images: true }],
  [/^nova-premier/, { context: M, output: 10_000, thinking: false, images: true }],
  [/^llama-?3[-.]2-(11|90)b/, { context: 128_000, thinking: false, images: true }],
  [/^llama-?3[-.][123]/, { context: 128_000, thinking: false, images: false }],
  [/^llama-?3/, { context: 8_192, thinking: false, images: false }],
  [/^deepseek-/, { context: 128_000, thinking: true, images: false }],
];

/** Families trained on the patch format. */
const PATCHES = /^(?:gpt-(?:4\.1|[5-9]|oss)|o[3-9]\b|codex)/;

/** Never an error: a model may be newer than this file. */
export function factsOf(id: string, known: KnownFacts = {}): ModelFacts {
  const name = bareName(id);
  const facts = TABLE.find(([pattern]) => pattern.test(name))?.[1] ?? UNKNOWN;
  const { unknown, ...found } = facts;
  const patches = PATCHES.test(name) ? { patches: true as const } : {};
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { ...found, ...patches, ...given, ...(unknown === true && known.thinking === undefined && { unknown }) };
}

const MAKERS = /^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|openai|deepseek|mistral|xai|google)\./;

function bareName(id: string): string {
  const last = id.toLowerCase().slice(id.lastIndexOf("/") + 1);
  return last.replace(MAKERS, "");
}
