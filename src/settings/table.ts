/**
 * The settings, one row each: what a value may be, where it may stand, its default and one line about it. The config file's schema, the
 * flags, `parley config`, the help and docs/configuration.md are made from these rows. Lists that add up (rules, hooks, servers,
 * providers) are in config-schema.ts.
 */
import * as v from "valibot";
import { Mode, OutputCompaction, Thinking, type SessionConfig } from "../core/config.js";
import { isRecord } from "../core/json-object.js";
import { ANSWER_MIB, LINE_CAP, STUCK_SECONDS, TIME_LIMITS } from "../core/limits.js";
import { apiRoot } from "../core/own-provider.js";
import { PROVIDERS } from "../core/providers.js";
import { isRule } from "../core/rule-text.js";
import { anyText, between, count, oneOf, text, texts, wholeNumber, yesOrNo } from "../core/value-schemas.js";

interface Row {
  readonly schema: v.GenericSchema;
  /** The key path in a config file; absent: no file may say it. */
  readonly file?: string;
  readonly flag?: SettingFlag;
  readonly preset?: unknown;
  /** The key of a session's configuration that takes this value. */
  readonly session?: keyof SessionConfig;
  /** Each source's values count, not only the highest source's. */
  readonly adds?: true;
  readonly doc: string;
}

interface SettingFlag {
  readonly name: string;
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value: string;
  /** `choice` and `count` are checked by the row's schema; a list has commas. */
  readonly as: "text" | "choice" | "count" | "list";
  /** Another name that programs of others have for it. */
  readonly else?: string;
}

export const ruleText = v.pipe(text, v.check(isRule, "be Tool or Tool(pattern)"));
const toolList = v.array(ruleText, "be a list of texts");
/** The longest wait that a timer can hold. */
const seconds = between(1, 2_147_483);
/** The longest string that every supported Node can hold. */
const MAX_BYTES = 536_870_888;

export const TABLE = {
  provider: {
    schema: text,
    file: "provider",
    flag: { name: "provider", value: "NAME", as: "text", else: "account" },
    session: "provider",
    doc: `${Object.keys(PROVIDERS).join(", ")}, or one of the config's own`,
  },
  model: {
    schema: text,
    file: "model",
    flag: { name: "model", short: "m", value: "ID", as: "text" },
    session: "model",
    doc: "the model; for rehearsal a script file",
  },
  baseUrl: { schema: apiRoot, file: "baseUrl", flag: { name: "base-url", value: "URL", as: "text" }, doc: "the provider's API root" },
  apiKey: {
    schema: text,
    flag: { name: "api-key", value: "KEY", as: "text" },
    doc: "the provider's key (better: its environment variable)",
  },
  maxTokens: {
    schema: count,
    file: "maxTokens",
    flag: { name: "max-tokens", value: "N", as: "count" },
    session: "maxTokens",
    doc: "the most tokens of one response",
  },
  maxTurns: {
    schema: count,
    file: "maxTurns",
    flag: { name: "max-turns", value: "N", as: "count" },
    session: "maxTurns",
    preset: 200,
    doc: "the most model calls of one turn (default 200)",
  },
  system: {
    schema: anyText,
    file: "systemPrompt",
    flag: { name: "system-prompt", value: "TEXT", as: "text" },
    session: "system",
    doc: "replaces the system prompt",
  },
  appendSystem: {
    schema: anyText,
    file: "appendSystemPrompt",
    flag: { name: "append-system-prompt", value: "TEXT", as: "text" },
    session: "appendSystem",
    doc: "is added to the system prompt",
  },
  approveTools: {
    schema: toolList,
    file: "allowTools",
    flag: { name: "approve-tools", value: "A,B", as: "list" },
    session: "approveTools",
    doc: "run these unasked: Tool or Tool(pattern)",
  },
  allowedTools: {
    schema: toolList,
    file: "allowedTools",
    flag: { name: "allowed-tools", value: "A,B", as: "list" },
    session: "allowedTools",
    doc: "the only tools there are",
  },
  disallowedTools: {
    schema: toolList,
    file: "disallowedTools",
    flag: { name: "disallowed-tools", value: "A,B", as: "list" },
    session: "disallowedTools",
    adds: true,
    doc: "tools that there are not",
  },
  sessionId: {
    schema: anyText,
    flag: { name: "session-id", value: "ID", as: "text" },
    doc: "the id of the new session (refused if there is one of that id)",
  },
  resume: {
    schema: anyText,
    flag: { name: "resume", value: "ID", as: "text" },
    doc: "go on with a stored session; latest is the last one used in this folder",
  },
  offlineModel: {
    schema: text,
    flag: { name: "offline-model", value: "FILE", as: "text" },
    doc: "start llama-server with this GGUF file and use it as the provider local",
  },
  llamaServer: { schema: text, file: "llamaServer", doc: "the program that serves --offline-model (default: llama-server on the PATH)" },
  thinking: {
    schema: oneOf(Thinking.options),
    file: "thinking",
    flag: { name: "thinking", value: "LEVEL", as: "choice" },
    session: "thinking",
    doc: "disabled, enabled, low, medium, high, deep or max",
  },
  thinkingBudget: {
    schema: wholeNumber(0, Number.MAX_SAFE_INTEGER, "be a whole number"),
    flag: { name: "thinking-budget", value: "N", as: "count" },
    session: "thinkingBudget",
    doc: "the most tokens of thinking, for models that take a number",
  },
  outputCompaction: {
    schema: oneOf(OutputCompaction.options),
    file: "outputCompaction",
    flag: { name: "compaction", value: "LEVEL", as: "choice" },
    session: "outputCompaction",
    doc: "how much of a tool's output is folded: off, safe or full",
  },
  mode: {
    schema: oneOf(Mode.options),
    file: "approval",
    flag: { name: "approval-mode", value: "MODE", as: "choice" },
    session: "mode",
    preset: "default",
    doc: "default, auto_edit, plan or yolo",
  },
  capabilities: {
    schema: texts,
    file: "capabilities",
    flag: { name: "capability", value: "NAME", as: "list" },
    doc: "switch on a capability of the protocol that is off by default",
  },
  theme: { schema: oneOf(["dark", "light", "plain"]), file: "theme", doc: "the colours of the chat" },
  "sessions.enabled": { schema: yesOrNo, file: "sessions.enabled", preset: true, doc: "keep sessions, so that they can be resumed" },
  "sessions.keep": { schema: count, file: "sessions.keep", preset: 200, doc: "so many stored sessions; the oldest go" },
  "limits.contextTokens": {
    schema: count,
    file: "limits.contextTokens",
    session: "contextLimit",
    preset: 200_000,
    doc: "tokens of a conversation before it is compacted",
  },
  "limits.lineBytes": {
    schema: between(1024, MAX_BYTES),
    file: "limits.lineBytes",
    preset: LINE_CAP,
    doc: "bytes of one line of a protocol",
  },
  "limits.approvalSeconds": {
    schema: seconds,
    file: "limits.approvalSeconds",
    session: "answerSeconds",
    preset: 300,
    doc: "how long an approval waits before it is denied",
  },
  "limits.connectSeconds": {
    schema: seconds,
    file: "limits.connectSeconds",
    preset: TIME_LIMITS.connectSeconds,
    doc: "how long a connection to a provider may take",
  },
  "limits.firstByteSeconds": {
    schema: seconds,
    file: "limits.firstByteSeconds",
    preset: TIME_LIMITS.firstByteSeconds,
    doc: "how long a provider may take to begin its answer",
  },
  "limits.idleSeconds": {
    schema: seconds,
    file: "limits.idleSeconds",
    preset: TIME_LIMITS.idleSeconds,
    doc: "how long a provider may fall silent within its answer",
  },
  "limits.outputChars": {
    schema: between(1, MAX_BYTES),
    file: "limits.outputChars",
    preset: 50_000,
    doc: "characters of a tool's output that reach the model",
  },
  "limits.nesting": { schema: between(1, 5), file: "limits.nesting", session: "nesting", preset: 1, doc: "levels of sub-agents" },
  "limits.answerMiB": { schema: between(1, 64), file: "limits.answerMiB", preset: ANSWER_MIB, doc: "MiB of one answer of a model" },
  "limits.memoryMiB": {
    schema: between(1, 1_048_576),
    file: "limits.memoryMiB",
    doc: "MiB of memory above which new turns wait (default: a share of Node's heap)",
  },
  "limits.stuckSeconds": {
    schema: between(1, 86_400),
    file: "limits.stuckSeconds",
    preset: STUCK_SECONDS,
    doc: "how long the process may stand still before it is ended",
  },
} as const satisfies Readonly<Record<string, Row>>;

type Table = typeof TABLE;
export type SettingKey = keyof Table;
type RowValue<K extends SettingKey> = v.InferOutput<Table[K]["schema"]>;

/** What one source says. */
export type Values = { [K in SettingKey]?: RowValue<K> | undefined };

type Settled<K extends SettingKey> = Table[K] extends { preset: unknown } ? RowValue<K> : RowValue<K> | undefined;
type Group<G extends string> = { [K in SettingKey as K extends `${G}.${infer Name}` ? Name : never]: Settled<K> };

/** What counts, by key; `limits.x` is `limits: {x}`. */
export type SettledValues = { [K in SettingKey as K extends `${string}.${string}` ? never : K]: Settled<K> } & {
  sessions: Group<"sessions">;
  limits: Group<"limits">;
};

/** What counts for a key. */
export function valueOf(settled: SettledValues, key: SettingKey): unknown {
  const [first = "", name] = key.split(".");
  const value: unknown = Object.entries(settled).find(([found]) => found === first)?.[1];
  return name === undefined || !isRecord(value) ? value : value[name];
}

export const ROWS: readonly (readonly [SettingKey, Row])[] = Object.entries(TABLE).map(([key, row]) => [key as SettingKey, row]);

/** The name in a config file, or the key itself where no file may say it. */
export function fileNameOf(key: string): string {
  return ROWS.find(([name]) => name === key)?.[1].file ?? key;
}
