/** The flags of structured input and output, and whether a command line asks for that. */
import type { SessionConfig } from "../../core/config.js";
import { given, text, usage, type Flag, type Parsed } from "../command-line/flags.js";

export const STRUCTURED_FLAGS: readonly Flag[] = [
  { name: "input-format", value: "FORMAT", help: "Qwen's structured input: stream-json or stream-chunk-json (default: text, one prompt)" },
  {
    name: "output-format",
    short: "o",
    value: "FORMAT",
    help: "Qwen's structured output: stream-json, stream-chunk-json for pieces, or json (default: text)",
  },
  { name: "heartbeat", value: "SECONDS", help: "with structured output: a sign of life every so often" },
  { name: "include-partial-messages", help: "with --output-format stream-json: messages as they come, too (--dialect qwen-shipped)" },
  { name: "json-schema", value: "JSON", help: "one prompt whose result has this schema; @FILE reads it (--dialect qwen-shipped)" },
  { name: "fork-session", help: "with --resume: go on with a copy, and leave the stored session alone" },
  { name: "include-directories", value: "A,B", help: "folders that belong to the workspace, too" },
  { name: "fallback-model", value: "A,B", help: "models to ask when the server of the first is overloaded" },
  { name: "max-tool-calls", value: "N", help: "the most tool calls of one turn" },
  { name: "max-seconds", value: "N", help: "the most time of one turn" },
  { name: "subagent-depth", value: "N", help: "how deep sub-agents may start others" },
  { name: "mcp-config", value: "JSON", help: "MCP servers of this session, or the file that has them" },
  { name: "allowed-mcp-server-names", value: "A,B", help: "the only MCP servers of the configuration to use" },
  { name: "unasked", value: "A,B", help: "calls that run unasked, beside those that do anyway: Tool or Tool(pattern)" },
  { name: "account", value: "PROVIDER", help: "", hidden: true },
  { name: "refused", value: "WHY", help: "", hidden: true },
  { name: "mode-name", value: "NAME", help: "", hidden: true },
  { name: "in-sandbox", help: "", hidden: true },
];

/** What a relay's host says on a command line to its own wire. */
export function relayedSwitches(parsed: Parsed): string[] {
  const named = FORMATS.flatMap((flag) => {
    const format = text(parsed, flag);
    return format === undefined ? [] : [`--${flag}`, format];
  });
  const mode = text(parsed, "mode-name");
  return [
    ...named,
    ...(given(parsed, "include-partial-messages") ? ["--include-partial-messages"] : []),
    ...(mode === undefined ? [] : ["--approval-mode", mode]),
  ];
}

/** A sign of life every so many seconds. */
export function beatSecondsOf(parsed: Parsed): number | undefined {
  const every = text(parsed, "heartbeat");
  if (every === undefined) return undefined;
  const seconds = Number(every);
  if (every.trim() === "" || !(seconds > 0)) throw usage(`--heartbeat takes a number of seconds, not '${every}'`);
  return seconds;
}

/** Of a session that a program drives. */
export const SESSION_FLAGS = [
  "fork-session",
  "include-directories",
  "fallback-model",
  "max-tool-calls",
  "max-seconds",
  "subagent-depth",
  "mcp-config",
];

/** What they say; most command lines say nothing of it, and then it is not loaded what reads it. */
export async function sessionFlags(parsed: Parsed): Promise<SessionConfig> {
  if (!SESSION_FLAGS.some((flag) => given(parsed, flag))) return {};
  const { askedConfig } = await import("../command-line/asked-config.js");
  return askedConfig(parsed);
}

/** Whether it is the wire that Qwen Code shipped, and something of it is asked for. */
export function asksShipped(parsed: Parsed): boolean {
  if (text(parsed, "dialect") !== "qwen-shipped") return false;
  return FORMATS.some((flag) => !isText(parsed, flag)) || given(parsed, "json-schema") || given(parsed, "include-partial-messages");
}

/** Text in and text out, in so many words: that is for people, whatever dialect is named. */
export function asksText(parsed: Parsed): boolean {
  return FORMATS.some((flag) => given(parsed, flag)) && FORMATS.every((flag) => isText(parsed, flag));
}

const FORMATS = ["input-format", "output-format"];

function isText(parsed: Parsed, flag: string): boolean {
  return !given(parsed, flag) || text(parsed, flag) === "text";
}
