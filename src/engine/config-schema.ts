/**
 * What may stand in a config file. Every message is what a value must do ("be a list"), since core/value-issues.ts makes the sentence.
 * `${VAR}` in an MCP server's args, env, url and headers and in a provider's headers stays as written: whoever uses such a value
 * expands it, so nothing of a workspace is expanded before that workspace is trusted.
 */
import * as v from "valibot";
import { Mode, OutputCompaction, Thinking, type Rule as CoreRule } from "../core/config.js";
import { isMatch } from "./extensions/hooks/match.js";
import { isApiRoot, isProviderName } from "./models/catalogue.js";
import { isRule } from "./rule-text.js";

const anyText = v.string("be a text");
const text = v.pipe(anyText, v.nonEmpty("be a text that is not empty"));
const texts = v.array(text, "be a list of texts");
const rule = v.pipe(text, v.check(isRule, "be Tool or Tool(pattern)"));
const toolList = v.array(rule, "be a list of texts");
const yesOrNo = v.boolean("be true or false");
const textByName = v.record(text, anyText, "be a mapping of texts");
const variable = v.pipe(anyText, v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "be the name of an environment variable"));
const apiRoot = v.pipe(anyText, v.check(isApiRoot, "be an http or https URL"));

/** No more than setTimeout can wait for. */
const MAX_MILLISECONDS = 2_147_483_647;
/** The longest string that every supported Node can hold. */
const MAX_BYTES = 536_870_888;

/** Levels of sub-agents; each multiplies what one prompt can start. */
const MAX_NESTING = 5;

const count = wholeNumber(1, Number.MAX_SAFE_INTEGER, "be a whole number from 1");
const milliseconds = between(1, MAX_MILLISECONDS);
const seconds = between(1, Math.floor(MAX_MILLISECONDS / 1000));

const Rule = v.pipe(
  v.strictObject({ deny: v.optional(rule), ask: v.optional(rule), allow: v.optional(rule) }, "be a mapping with deny, ask or allow"),
  v.rawTransform(({ dataset, addIssue, NEVER }): CoreRule => {
    const { deny, ask, allow } = dataset.value;
    const given = [deny, ask, allow].filter((rule) => rule !== undefined);
    if (given.length === 1) {
      if (deny !== undefined) return { deny };
      if (ask !== undefined) return { ask };
      if (allow !== undefined) return { allow };
    }
    addIssue({ message: "have exactly one of deny, ask and allow" });
    return NEVER;
  }),
);

const McpServer = v.pipe(
  v.strictObject(
    {
      type: v.optional(oneOf(["stdio", "http", "streamable-http", "sse"])),
      command: v.optional(text),
      args: v.optional(v.array(anyText, "be a list of texts")),
      env: v.optional(textByName),
      url: v.optional(text),
      headers: v.optional(textByName),
      enabledTools: v.optional(texts),
      timeoutMs: v.optional(milliseconds),
    },
    "be a mapping",
  ),
  v.check((server) => (server.command === undefined) !== (server.url === undefined), "have either a command or a url"),
);
export type McpServer = v.InferOutput<typeof McpServer>;

const hookEntries = {
  command: v.pipe(texts, v.nonEmpty("be a list with the program first")),
  timeoutMs: v.optional(milliseconds),
};
const Hooks = v.optional(v.array(v.strictObject(hookEntries, "be a mapping"), "be a list of hooks"));

/** Only a hook about a tool can choose which. */
const ToolHook = v.strictObject(
  { match: v.optional(v.pipe(text, v.check(isMatch, "be Tool or Tool(pattern), or several of them joined by |"))), ...hookEntries },
  "be a mapping",
);
export type Hook = v.InferOutput<typeof ToolHook>;
const ToolHooks = v.optional(v.array(ToolHook, "be a list of hooks"));

/** The wires that a server of the user's own may speak. */
const KINDS = ["openai-compatible", "anthropic", "openai", "gemini"] as const;

const OwnModel = v.strictObject(
  { context: v.optional(count), output: v.optional(count), thinking: v.optional(yesOrNo), images: v.optional(yesOrNo) },
  "be a mapping",
);

/** Where servers of the kind openai-compatible differ. */
const Compat = v.strictObject(
  {
    /** Some refuse `stream_options`, without which others count no tokens. */
    includeUsage: v.optional(yesOrNo),
    maxTokensField: v.optional(oneOf(["max_tokens", "max_completion_tokens"])),
    /** Some refuse `reasoning_effort`. */
    reasoningEffort: v.optional(yesOrNo),
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

const OwnProviders = v.pipe(
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

/** Those that we know by name are complete without these. */
function incompleteness(name: string, provider: OwnProvider): string | undefined {
  if (isProviderName(name)) return undefined;
  if (provider.kind === undefined) return `have a kind: ${KINDS.join(", ")}`;
  return provider.baseUrl === undefined ? "have a baseUrl" : undefined;
}

export const Config = v.strictObject(
  {
    provider: v.optional(text),
    model: v.optional(text),
    baseUrl: v.optional(apiRoot),
    maxTokens: v.optional(count),
    maxTurns: v.optional(count),
    systemPrompt: v.optional(anyText),
    appendSystemPrompt: v.optional(anyText),
    approval: v.optional(oneOf(Mode.options)),
    allowTools: v.optional(toolList),
    rules: v.optional(v.array(Rule, "be a list of rules")),
    allowedTools: v.optional(toolList),
    disallowedTools: v.optional(toolList),
    thinking: v.optional(oneOf(Thinking.options)),
    outputCompaction: v.optional(oneOf(OutputCompaction.options)),
    capabilities: v.optional(texts),
    theme: v.optional(oneOf(["dark", "light", "plain"])),
    mcpServers: v.optional(v.record(text, McpServer, "be a mapping of servers")),
    hooks: v.optional(
      v.strictObject(
        { pre_tool_use: ToolHooks, post_tool_use: ToolHooks, prompt: Hooks, stop: Hooks, session_start: Hooks, session_end: Hooks },
        "be a mapping of lists of hooks",
      ),
    ),
    sessions: v.optional(v.strictObject({ enabled: v.optional(yesOrNo), keep: v.optional(count) }, "be a mapping")),
    limits: v.optional(
      v.strictObject(
        {
          contextTokens: v.optional(count),
          lineBytes: v.optional(between(1024, MAX_BYTES)),
          approvalSeconds: v.optional(seconds),
          connectSeconds: v.optional(seconds),
          firstByteSeconds: v.optional(seconds),
          idleSeconds: v.optional(seconds),
          outputChars: v.optional(between(1, MAX_BYTES)),
          nesting: v.optional(between(1, MAX_NESTING)),
        },
        "be a mapping",
      ),
    ),
    providers: v.optional(OwnProviders),
    llamaServer: v.optional(text),
  },
  "be a mapping of settings",
);
export type Config = v.InferOutput<typeof Config>;

function oneOf<const T extends readonly string[]>(options: T) {
  return v.picklist(options, options.length === 1 ? `be ${options.join()}` : `be one of ${options.join(", ")}`);
}

function between(min: number, max: number) {
  return wholeNumber(min, max, `be a whole number from ${min} to ${max}`);
}

function wholeNumber(min: number, max: number, message: string) {
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message));
}
