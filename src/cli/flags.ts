/** Flags as data: parsed, explained and suggested from the same table. */
import { parseArgs } from "node:util";
import { ParleyError } from "../core/errors.js";
import type { Flags } from "../engine/config.js";
import { PROVIDERS } from "../engine/models/catalogue.js";
import { nearest } from "../core/nearest.js";

export interface Flag {
  /** Without the dashes. */
  name: string;
  short?: string;
  alias?: string;
  /** What stands for the value in the help; a flag without it is a switch. */
  value?: string;
  help: string;
  /** The heading that the help lists it under, where that is not "Flags". */
  group?: string;
  /** For nobody to write: what other programs' flags mean in our words, and what is only refused with a better sentence. */
  hidden?: true;
}

const AGENT_FLAGS: readonly Flag[] = [
  { name: "provider", value: "NAME", help: `${Object.keys(PROVIDERS).join(", ")}, or one of the config's own` },
  { name: "model", short: "m", value: "ID", help: "the model; for rehearsal a script file" },
  { name: "base-url", value: "URL", help: "the provider's API root" },
  { name: "api-key", value: "KEY", help: "the provider's key (better: its environment variable)" },
  { name: "max-tokens", value: "N", help: "the most tokens of one response" },
  { name: "max-turns", value: "N", help: "the most model calls of one turn (default 200)" },
  { name: "system-prompt", value: "TEXT", help: "replaces the system prompt" },
  { name: "append-system-prompt", value: "TEXT", help: "is added to the system prompt" },
  { name: "approval-mode", value: "MODE", help: "default, auto_edit, plan or yolo" },
  { name: "auto-approve", alias: "yolo", help: "run every tool unasked, except what rules deny or ask" },
  { name: "approve-tools", value: "A,B", help: "run these unasked: Tool or Tool(pattern)" },
  { name: "allowed-tools", value: "A,B", help: "the only tools there are" },
  { name: "disallowed-tools", value: "A,B", help: "tools that there are not" },
  { name: "workspace", value: "DIR", help: "the folder to work in (default: this one)" },
  { name: "trust-workspace", help: "believe the workspace's own configuration" },
  { name: "session-id", value: "ID", help: "the id of the new session (refused if there is one of that id)" },
  { name: "resume", value: "ID", help: "go on with a stored session; latest is the last one used in this folder" },
  { name: "no-session", help: "keep nothing of this session" },
  { name: "offline-model", value: "FILE", help: "start llama-server with this GGUF file and use it as the provider local" },
  { name: "thinking", value: "LEVEL", help: "disabled, enabled, low, medium, high, deep or max" },
  { name: "thinking-budget", value: "N", help: "the most tokens of thinking, for models that take a number" },
  { name: "compaction", value: "LEVEL", help: "how much of a tool's output is folded: off, safe or full" },
  { name: "capability", value: "NAME", help: "switch on a capability of the protocol that is off by default" },
];

export const SHARED_FLAGS: readonly Flag[] = AGENT_FLAGS.map((flag) => ({ ...flag, group: "Flags of the agent" }));

export const COMMON_FLAGS: readonly Flag[] = [
  { name: "help", short: "h", help: "this text" },
  { name: "version", short: "V", help: "the version" },
];

export interface Parsed {
  /** By name; lists of values where a flag was given more than once. */
  values: ReadonlyMap<string, readonly (string | true)[]>;
  positionals: string[];
}

export function parseFlags(argv: readonly string[], table: readonly Flag[]): Parsed {
  const options = Object.fromEntries(
    table.flatMap(({ name, short, alias, value }) => {
      const option = { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: true as const };
      const named: [string, typeof option & { short?: string }][] = [[name, { ...option, ...(short !== undefined && { short }) }]];
      return alias === undefined ? named : [...named, [alias, option] as const];
    }),
  );
  const { tokens, positionals } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const values = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const flag = table.find(({ name, alias }) => name === token.name || alias === token.name);
    if (flag === undefined) throw unknownFlag(token.rawName, table);
    if (flag.value === undefined && token.value !== undefined) throw usage(`${token.rawName} takes no value, but got '${token.value}'`);
    if (flag.value !== undefined && token.value === undefined)
      throw usage(`${token.rawName} needs a value: ${token.rawName} ${flag.value}`);
    values.set(flag.name, [...(values.get(flag.name) ?? []), token.value ?? true]);
  }
  return { values, positionals };
}

export function text(parsed: Parsed, name: string): string | undefined {
  const last = parsed.values.get(name)?.at(-1);
  return typeof last === "string" ? last : undefined;
}

export function given(parsed: Parsed, name: string): boolean {
  return parsed.values.has(name);
}

/** The shared flags as settings. */
export function settingsFlags(parsed: Parsed): Flags {
  const flags: Flags = {
    provider: text(parsed, "provider") ?? text(parsed, "account"),
    model: text(parsed, "model"),
    baseUrl: text(parsed, "base-url"),
    apiKey: text(parsed, "api-key"),
    maxTokens: count(parsed, "max-tokens"),
    maxTurns: count(parsed, "max-turns"),
    systemPrompt: text(parsed, "system-prompt"),
    appendSystemPrompt: text(parsed, "append-system-prompt"),
    approveTools: list(parsed, "approve-tools"),
    allowedTools: list(parsed, "allowed-tools"),
    disallowedTools: list(parsed, "disallowed-tools"),
    workspace: text(parsed, "workspace"),
    thinking: text(parsed, "thinking"),
    thinkingBudget: count(parsed, "thinking-budget"),
    outputCompaction: text(parsed, "compaction"),
    capabilities: list(parsed, "capability"),
    mode: text(parsed, "approval-mode"),
    sessionId: text(parsed, "session-id"),
    resume: text(parsed, "resume"),
    offlineModel: text(parsed, "offline-model"),
  };
  if (given(parsed, "no-session")) flags.noSession = true;
  if (given(parsed, "auto-approve")) flags.autoApprove = true;
  if (given(parsed, "trust-workspace")) flags.trustWorkspace = true;
  return flags;
}

/** What cannot be a number stays for the settings to refuse, with the flag's name. */
export function count(parsed: Parsed, name: string): number | undefined {
  const value = text(parsed, name);
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) throw usage(`--${name} must be a whole number, not '${value}'`);
  return Number(value);
}

/** Comma-separated, and repeated; commas inside parentheses belong to a pattern. */
export function list(parsed: Parsed, name: string): string[] | undefined {
  const values = parsed.values.get(name)?.filter((value) => value !== true);
  return values
    ?.flatMap((value) => value.split(/,(?![^(]*\))/))
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The prompt on the command line: that of `-p`, or the word beside the flags, also where `-p` stands alone. `-` is what stdin says. */
export function promptWords(parsed: Parsed): string | undefined {
  const [printed, [word]] = [text(parsed, "print"), parsed.positionals];
  if (printed === undefined || word === undefined) return printed ?? word;
  if (printed !== "-") throw usage(`Unexpected argument '${word}': -p has the prompt already`);
  return word;
}

/** What stands behind `--` is meant for somebody else. */
export function beforeDashes(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

function unknownFlag(rawName: string, table: readonly Flag[]): ParleyError {
  const known = table.flatMap(({ name, alias }) => (alias === undefined ? [`--${name}`] : [`--${name}`, `--${alias}`]));
  const meant = nearest(rawName, known);
  return usage(`Unknown flag '${rawName}'${meant === undefined ? "" : `; did you mean '${meant}'?`} (see --help)`);
}

export function usage(message: string): ParleyError {
  return new ParleyError({ code: "usage", message, retryable: false });
}
