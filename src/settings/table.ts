/**
 * The settings, one row each: the values that it takes, the places that may name it, its default and one line about it. The config file's
 * schema, the flags, `parley config`, the help and docs/configuration.md are made from these rows. The schemas of LISTS are in config-schema.ts.
 */
import * as v from "valibot";
import { Mode, OutputCompaction, Thinking, type SessionConfig } from "../core/config.js";
import { HOOK_EVENTS } from "../core/hooks.js";
import { isRecord } from "../core/values/json-object.js";
import { ANSWER_MIB, LINE_CAP, RETRIES, RETRY_SECONDS, STUCK_SECONDS, TIME_LIMITS } from "../core/limits.js";
import { apiRoot } from "../core/providers/own-provider.js";
import { PROVIDERS } from "../core/providers/providers.js";
import { isHostPattern } from "../core/text/host-pattern.js";
import { isRule } from "../core/text/rule-text.js";
import { anyText, between, count, oneOf, text, texts, wholeNumber, yesOrNo } from "../core/values/value-schemas.js";

interface Row {
  readonly schema: v.GenericSchema;
  /** The key path in a config file; without it no file may say it. */
  readonly file?: string;
  readonly flag?: SettingFlag;
  /** The environment variable of the provider that says it, as PROVIDERS names it. */
  readonly variable?: "keyVariable" | "baseUrlVariable";
  /** The default. */
  readonly preset?: string | number | boolean;
  /** The key of a session's configuration that takes this value. */
  readonly session?: keyof SessionConfig;
  /** Each source's values count, not only the highest source's. */
  readonly adds?: true;
  /** A workspace's file loses this key: it would decide where prompts and keys are sent. */
  readonly userOnly?: true;
  /** A relay cannot pass it on: the command of the driven agent says it. */
  readonly ofAgent?: true;
  readonly doc: string;
}

interface SettingFlag {
  readonly name: string;
  readonly short?: string;
  readonly alias?: string;
  /** The placeholder of the value in the help. */
  readonly value: string;
  /** `choice` and `count` are checked by the row's schema; a list has commas. */
  readonly as: "text" | "choice" | "count" | "list";
  /** Another flag that says it where this one is absent; only other programs' command lines become this flag. */
  readonly else?: string;
  /** An empty value counts as none: a host may have nothing to pass. */
  readonly mayBeEmpty?: true;
}

export const ruleText = v.pipe(text, v.check(isRule, "be Tool or Tool(pattern)"));
const toolList = v.array(ruleText, "be a list of texts");
/** The whole environment cannot be named: `*` alone has no beginning. */
const variableNames = v.array(
  v.pipe(text, v.regex(/^[A-Za-z_]\w*\*?$/, "be the name of a variable, or its beginning and *")),
  "be a list of texts",
);
/** The longest wait that a timer can hold. */
const seconds = between(1, 2_147_483);
/** The longest string that every supported Node can hold. */
const MAX_BYTES = 536_870_888;

export const TABLE = {
  provider: {
    schema: text,
    file: "provider",
    flag: { name: "provider", value: "NAME", as: "text", else: "account", mayBeEmpty: true },
    session: "provider",
    doc: `${Object.keys(PROVIDERS).join(", ")}, or one of the config's own`,
  },
  model: {
    schema: text,
    file: "model",
    flag: { name: "model", short: "m", value: "ID", as: "text", mayBeEmpty: true },
    session: "model",
    doc: "the model; for rehearsal a script file",
  },
  baseUrl: {
    schema: apiRoot,
    file: "baseUrl",
    flag: { name: "base-url", value: "URL", as: "text", mayBeEmpty: true },
    variable: "baseUrlVariable",
    userOnly: true,
    ofAgent: true,
    doc: "the provider's API root",
  },
  apiKey: {
    schema: text,
    flag: { name: "api-key", value: "KEY", as: "text", mayBeEmpty: true },
    variable: "keyVariable",
    userOnly: true,
    ofAgent: true,
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
    doc: "the most model calls of one turn",
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
    doc: "added to the system prompt",
  },
  approveTools: {
    schema: toolList,
    file: "allowTools",
    flag: { name: "approve-tools", alias: "allowed-tools", value: "A,B", as: "list" },
    session: "approveTools",
    doc: "run these calls unasked: Tool or Tool(pattern)",
  },
  allowedTools: {
    schema: toolList,
    file: "allowedTools",
    flag: { name: "tools", value: "A,B", as: "list" },
    session: "allowedTools",
    doc: "the only tools that there are",
  },
  disallowedTools: {
    schema: toolList,
    file: "disallowedTools",
    flag: { name: "disallowed-tools", value: "A,B", as: "list" },
    session: "disallowedTools",
    adds: true,
    doc: "remove these tools",
  },
  sessionId: {
    schema: anyText,
    flag: { name: "session-id", value: "ID", as: "text" },
    doc: "the id of the new session (refused if there is one of that id)",
  },
  resume: {
    schema: anyText,
    flag: { name: "resume", short: "r", value: "ID", as: "text" },
    doc: "continue a stored session; latest is the one last used in this folder",
  },
  offlineModel: {
    schema: text,
    flag: { name: "offline-model", value: "FILE", as: "text" },
    ofAgent: true,
    doc: "start llama-server with this GGUF file and use it as the provider local",
  },
  llamaServer: {
    schema: text,
    file: "llamaServer",
    userOnly: true,
    doc: "the program that serves --offline-model (default: llama-server on the PATH)",
  },
  thinking: {
    schema: v.pipe(
      oneOf([...Thinking.options, "off"]),
      v.transform((level) => (level === "off" ? "disabled" : level)),
    ),
    file: "thinking",
    flag: { name: "thinking", value: "LEVEL", as: "choice" },
    session: "thinking",
    doc: "how much the model thinks; off is disabled",
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
    doc: "how much of a tool's output is folded",
  },
  mode: {
    schema: v.pipe(
      v.unknown(),
      v.transform((mode) => (mode === "auto-edit" ? "auto_edit" : mode)),
      oneOf(Mode.options),
    ),
    file: "approval",
    flag: { name: "approval-mode", value: "MODE", as: "choice" },
    session: "mode",
    preset: "default",
    doc: "which calls run unasked; auto-edit is auto_edit; sandboxed: edits, and commands in the sandbox",
  },
  capabilities: {
    schema: texts,
    file: "capabilities",
    flag: { name: "capability", value: "NAME", as: "list" },
    doc: "switch on a capability of the protocol that is off by default",
  },
  "sandbox.mode": {
    schema: oneOf(["auto", "required", "off"]),
    file: "sandbox.mode",
    flag: { name: "sandbox", value: "MODE", as: "choice" },
    preset: "off",
    userOnly: true,
    doc: "run commands in a sandbox of the operating system; auto: if there is one",
  },
  "sandbox.network": {
    schema: v.union(
      [
        oneOf(["off", "loopback"]),
        v.array(v.pipe(text, v.check(isHostPattern, "be a host such as example.com, *.example.com or example.com:8443"))),
      ],
      "be off, loopback, or a list of hosts",
    ),
    file: "sandbox.network",
    preset: "off",
    userOnly: true,
    doc: "what commands in the sandbox reach: nothing, each other, or these hosts by https (`example.com`, `*.example.com`, `example.com:8443`)",
  },
  "sandbox.write": {
    schema: texts,
    file: "sandbox.write",
    userOnly: true,
    doc: "further files and folders that commands in the sandbox may write",
  },
  "sandbox.read": {
    schema: texts,
    file: "sandbox.read",
    userOnly: true,
    doc: "files and folders that commands in the sandbox may read although they are hidden",
  },
  "sandbox.hide": {
    schema: texts,
    file: "sandbox.hide",
    userOnly: true,
    doc: "further files and folders that commands in the sandbox do not see",
  },
  "sandbox.hooks": { schema: yesOrNo, file: "sandbox.hooks", preset: true, userOnly: true, doc: "run hooks in the sandbox, too" },
  "sandbox.mcpServers": {
    schema: texts,
    file: "sandbox.mcpServers",
    userOnly: true,
    doc: "MCP servers that are started in the sandbox, by name; `*` means all",
  },
  theme: { schema: oneOf(["dark", "light", "plain"]), file: "theme", doc: "the colours of the chat" },
  "sessions.enabled": { schema: yesOrNo, file: "sessions.enabled", preset: true, doc: "keep sessions, so that they can be resumed" },
  "sessions.keep": { schema: count, file: "sessions.keep", preset: 200, doc: "the most stored sessions; the oldest are removed" },
  "sessions.undoMiB": {
    schema: between(0, 1024 * 1024),
    file: "sessions.undoMiB",
    doc: "megabytes of copies of changed files that each session keeps, so that a turn can be undone (256 unless told); 0 keeps none",
  },
  "env.pass": {
    schema: variableNames,
    file: "env.pass",
    userOnly: true,
    doc: "variables that tools get although they are secret: a name, or its beginning and `*`; what they hold is masked all the same",
  },
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
  "limits.retries": {
    schema: between(0, 100),
    file: "limits.retries",
    preset: RETRIES,
    doc: "how often a model is asked again after a failure that may pass",
  },
  "limits.retrySeconds": {
    schema: seconds,
    file: "limits.retrySeconds",
    preset: RETRY_SECONDS,
    doc: "how long the waits between such tries may take in all",
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

/** The values of one source. */
export type Values = { [K in SettingKey]?: RowValue<K> | undefined };

type Settled<K extends SettingKey> = Table[K] extends { preset: unknown } ? RowValue<K> : RowValue<K> | undefined;
type Group<G extends string> = { [K in SettingKey as K extends `${G}.${infer Name}` ? Name : never]: Settled<K> };

/** The values that count, by key; `limits.x` is `limits: {x}`. */
export type SettledValues = { [K in SettingKey as K extends `${string}.${string}` ? never : K]: Settled<K> } & {
  sandbox: Group<"sandbox">;
  sessions: Group<"sessions">;
  env: Group<"env">;
  limits: Group<"limits">;
};

/** The value that counts for a key. */
export function valueOf(settled: SettledValues, key: SettingKey): unknown {
  const [first = "", name] = key.split(".");
  const value: unknown = Object.entries(settled).find(([found]) => found === first)?.[1];
  return name === undefined || !isRecord(value) ? value : value[name];
}

export const ROWS: readonly (readonly [SettingKey, Row])[] = Object.entries(TABLE).map(([key, row]) => [key as SettingKey, row]);

/**
 * Flags of one run that no key holds. `sets`: the flag says this value of a row, and beats every other source; a flag without it is read by
 * settings.ts.
 */
export const SWITCHES = {
  autoApprove: {
    name: "auto-approve",
    alias: "yolo",
    sets: ["mode", "yolo"],
    doc: "run every tool unasked, except what rules deny or ask",
  },
  continueLast: {
    name: "continue",
    short: "c",
    sets: ["resume", "latest"],
    doc: "continue the session last used in this folder",
  },
  fork: { name: "fork", alias: "fork-session", doc: "with --continue or --resume: continue a copy, and keep the stored session as it is" },
  workspace: { name: "workspace", value: "DIR", doc: "the folder to work in (default: this one)" },
  trustWorkspace: { name: "trust-workspace", ofAgent: true, doc: "use the workspace's own configuration" },
  noSession: { name: "no-session", sets: ["sessions.enabled", false], ofAgent: true, doc: "keep nothing of this session" },
} as const satisfies Readonly<Record<string, Switch>>;

interface Switch {
  readonly name: string;
  readonly short?: string;
  readonly alias?: string;
  readonly value?: string;
  readonly sets?: readonly [SettingKey, unknown];
  readonly ofAgent?: true;
  readonly doc: string;
}

export const SWITCH_ROWS: readonly (readonly [keyof typeof SWITCHES, Switch])[] = Object.entries(SWITCHES).map(([key, row]) => [
  key as keyof typeof SWITCHES,
  row,
]);

/** Keys of a config file that hold lists and mappings. The entries of a trusted workspace's file join the user's. */
export const LISTS: Readonly<Record<"rules" | "mcpServers" | "hooks" | "providers", ListRow>> = {
  rules: {
    doc: "calls that are denied, asked about or allowed: a list of `deny`, `ask` or `allow` with a pattern; deny beats ask, and ask beats allow",
  },
  mcpServers: { doc: "MCP servers by name: `command`, `args`, `env`, or `url`, `headers`; `enabledTools`, `timeoutMs`" },
  hooks: { doc: `commands that run at an event: ${HOOK_EVENTS.map((event) => `\`${event}\``).join(", ")}` },
  providers: { doc: "providers of your own, and overrides: `kind`, `baseUrl`, `apiKeyEnv`, `headers`, `models`", userOnly: true },
};

type ListRow = Pick<Row, "doc" | "userOnly">;

/** The values of a choice; empty for other schemas. */
export function optionsOf(schema: object): string[] {
  if ("options" in schema && Array.isArray(schema.options)) return schema.options.map(String);
  const steps: unknown = "pipe" in schema ? schema.pipe : [];
  return Array.isArray(steps) ? steps.flatMap((step: unknown) => (isRecord(step) && step !== schema ? optionsOf(step) : [])) : [];
}

/** The name in a config file, or the key itself where no file may say it. */
export function fileNameOf(key: string): string {
  return ROWS.find(([name]) => name === key)?.[1].file ?? key;
}
