/** The providers that Parley knows by name: where their keys and addresses come from, and which model names are whose. */

export interface ProviderInfo {
  keyVariable?: string;
  /** Further variables that may hold the key; these do not choose the provider. */
  otherKeyVariables?: readonly string[];
  baseUrlVariable?: string;
  defaultModel?: string;
  /** The root of the API of a server that speaks OpenAI's chat completions: a provider with an address needs no code of its own. */
  address?: string;
}

/** The address of llama-server on this machine. */
export const LOCAL_SERVER = "http://127.0.0.1:8080";

/** The first provider in this order whose key is set is the default. */
const ROWS = {
  anthropic: {
    keyVariable: "ANTHROPIC_API_KEY",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    defaultModel: "claude-sonnet-4-6",
  },
  openai: { keyVariable: "OPENAI_API_KEY", baseUrlVariable: "OPENAI_BASE_URL", defaultModel: "gpt-5.4" },
  bedrock: {
    baseUrlVariable: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    defaultModel: "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
  },
  vertex: { defaultModel: "claude-sonnet-4-6" },
  gemini: {
    keyVariable: "GEMINI_API_KEY",
    otherKeyVariables: ["GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    defaultModel: "gemini-2.5-pro",
  },
  xai: { keyVariable: "XAI_API_KEY", defaultModel: "grok-4.5" },
  openrouter: { keyVariable: "OPENROUTER_API_KEY", defaultModel: "anthropic/claude-sonnet-4.6" },
  local: { address: LOCAL_SERVER },
  rehearsal: {},
} satisfies Record<string, ProviderInfo>;

export type ProviderName = keyof typeof ROWS;

export const PROVIDERS: Readonly<Record<ProviderName, ProviderInfo>> = ROWS;

export function isProviderName(name: string): name is ProviderName {
  return Object.hasOwn(PROVIDERS, name);
}

/** The variable that holds the key; the main variable if none does. */
export function keyVariableOf(
  { keyVariable, otherKeyVariables = [] }: ProviderInfo,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (keyVariable === undefined || env[keyVariable]) return keyVariable;
  return otherKeyVariables.find((name) => env[name]) ?? keyVariable;
}

const OWNERS: readonly [RegExp, ProviderName][] = [
  [/\.(ya?ml|json)$/i, "rehearsal"],
  [/^claude-/, "anthropic"],
  [/^(gpt-|o[0-9])/, "openai"],
  [/^gemini-/, "gemini"],
  [/^grok-/, "xai"],
  [/^arn:aws[\w-]*:bedrock:/, "bedrock"],
  [/^([a-z-]+\.)?(amazon|anthropic|cohere|deepseek|meta|mistral|openai|qwen)\.[a-z]/, "bedrock"],
];

/** The provider to which a model's name belongs, if its pattern tells. A script file belongs to the rehearsal. */
export function ownerOfModel(model: string): ProviderName | undefined {
  return OWNERS.find(([pattern]) => pattern.test(model))?.[1];
}

/** Whether the text can be the root of a provider's API. */
export function isApiRoot(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
