/** Qwen Code as a program: the flags of its command line and their meaning as ours. */
import { toolNamed } from "../../core/names.js";
import type { FormatChoice, ForeignFlag, Program } from "../kit/program.js";
import { formatProblem, promptProblem, STREAM_JSON } from "../kit/stream-json/formats.js";
import { MODE_NAMES, modeNamed, WIRE_VERSION } from "./wire/names.js";

const SHORT_FLAGS = {
  "-c": "--continue",
  "-d": "--debug",
  "-e": "--extensions",
  "-i": "--prompt-interactive",
  "-r": "--resume",
  "-s": "--sandbox",
  "-v": "--version",
  "-y": "--yolo",
};

/** Providers by Qwen Code's names of accounts. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["openai", "openai"],
  ["anthropic", "anthropic"],
  ["gemini", "gemini"],
  ["vertex-ai", "vertex"],
]);

function providerFlag(type: string): readonly string[] {
  const provider = PROVIDERS.get(type);
  return provider === undefined ? [] : ["--account", provider];
}

/** An error uses Qwen Code's names of flags, not ours. */
function refused(flag: string, takes: string, value: string): readonly string[] {
  return ["--refused", `--${flag} must be ${takes}, not '${value}'`];
}

/** Our own names of modes are accepted, too. */
function modeFlags(given: string): readonly string[] {
  const name = given === "auto_edit" ? "auto-edit" : given;
  const mode = modeNamed(name);
  if (mode === undefined) return refused("approval-mode", `one of ${MODE_NAMES.join(", ")}`, name);
  return ["--approval-mode", mode, "--mode-name", name];
}

/** A negative number means no limit, as in Qwen Code. */
function turnFlags(turns: string): readonly string[] {
  if (/^-\d+$/.test(turns)) return [];
  return /^0*[1-9]\d*$/.test(turns)
    ? ["--max-turns", turns]
    : refused("max-session-turns", "a whole number from 1, or -1 for no limit", turns);
}

function timeFlags(time: string): readonly string[] {
  const seconds = secondsOf(time);
  if (seconds === undefined) return refused("max-wall-time", "seconds, or a number with s, m or h", time);
  return ["--max-seconds", String(seconds)];
}

function depthFlags(depth: string): readonly string[] {
  return /^\d+$/.test(depth) ? ["--subagent-depth", depth] : refused("max-subagent-depth", "a whole number", depth);
}

const as =
  (flag: string) =>
  (value: string): readonly string[] => [flag, value];
const tools =
  (flag: string) =>
  (value: string): readonly string[] => [flag, toolEntries(value).join(",")];

const SAID: readonly ForeignFlag[] = [
  { name: "approval-mode", value: "MODE", means: modeFlags },
  { name: "core-tools", value: "A,B", means: tools("--tools") },
  { name: "exclude-tools", value: "A,B", means: tools("--disallowed-tools") },
  { name: "allowed-tools", value: "A,B", means: tools("--unasked") },
  { name: "max-session-turns", value: "N", means: turnFlags },
  { name: "max-wall-time", value: "TIME", means: timeFlags },
  { name: "max-subagent-depth", value: "N", means: depthFlags },
  { name: "auth-type", value: "TYPE", means: providerFlag },
  { name: "openai-api-key", value: "KEY", means: as("--api-key") },
  { name: "openai-base-url", value: "URL", means: as("--base-url") },
  { name: "continue", means: () => ["--resume", "latest"] },
  { name: "prompt", value: "PROMPT", means: as("--print") },
  { name: "prompt-interactive", value: "PROMPT", means: (prompt) => [prompt] },
  { name: "sandbox", optional: true, means: (value) => ["--sandbox", value === "false" ? "off" : "required"] },
  {
    name: "sandbox-image",
    value: "IMAGE",
    means: () => ["--refused", "--sandbox-image names a container, and the sandbox is none: --sandbox"],
  },
  { name: "no-sandbox", quiet: true },
  { name: "channel", value: "NAME", quiet: true },
];

/** Accepted, and without any effect here. */
const UNUSED = [
  "extensions",
  "disabled-slash-commands",
  "proxy",
  "json-fd",
  "json-file",
  "input-file",
  "telemetry-target",
  "telemetry-outfile",
  "telemetry-otlp-endpoint",
  "telemetry-otlp-protocol",
  "openai-logging-dir",
  "web-search-default",
  "tavily-api-key",
].map((name): ForeignFlag => ({ name, value: "VALUE" }));

const UNUSED_SWITCHES = [
  "safe-mode",
  "insecure",
  "bare",
  "debug",
  "telemetry",
  "telemetry-log-prompts",
  "checkpointing",
  "chat-recording",
  "all-files",
  "show-memory-usage",
  "screen-reader",
  "openai-logging",
  "experimental-skills",
  "experimental-lsp",
].map((name): ForeignFlag => ({ name }));

const FLAGS: readonly ForeignFlag[] = [...SAID, ...UNUSED, ...UNUSED_SWITCHES, { name: "worktree", optional: true }];

export const program: Program = {
  name: "qwen",
  version: WIRE_VERSION,
  shortFlags: SHORT_FLAGS,
  flags: FLAGS,
  variables: [
    ["OPENAI_MODEL", "--model"],
    ["QWEN_MODEL", "--model"],
  ],
  exits: { usage: 42, apiKey: 41 },
  asks: [["--channel=SDK"], ["--dialect=qwen-shipped"]],
  wants: ["--include-partial-messages", "--json-schema", "--output-format=json", "-o=json"],
  formats: { ...STREAM_JSON, problem },
  texts: { "mcp-config": async (json) => ({ config: { mcpServers: (await import("./wire/servers.js")).readMcpConfig(json) } }) },
  drive: { command: ["qwen"] },
};

function problem(choice: FormatChoice): string | undefined {
  const isSchemaOfLines = choice.input !== "text" && choice.has("json-schema");
  const refused = isSchemaOfLines ? "--json-schema is for one prompt; it does not go with --input-format stream-json" : undefined;
  return formatProblem(choice) ?? refused ?? promptProblem(choice);
}

/** Qwen Code's shell patterns name the beginning of a command: `run_shell_command(git)` covers `git` alone and with any arguments. */
function toolEntries(list: string): string[] {
  return list
    .split(/,(?![^(]*\))/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .flatMap((entry) => {
      const [, name = entry, pattern] = /^([^(]+)\((.*)\)$/s.exec(entry) ?? [];
      const tool = toolNamed(name.trim());
      if (pattern === undefined) return [tool];
      return tool === "Bash" && !pattern.includes("*") ? [`Bash(${pattern})`, `Bash(${pattern} *)`] : [`${tool}(${pattern})`];
    });
}

/** A number of seconds, or one with a unit: 90, 90s, 30m, 1h. */
function secondsOf(time: string): number | undefined {
  const [, number, unit = "s"] = /^0*([1-9]\d*)([smh]?)$/.exec(time) ?? [];
  return number === undefined ? undefined : Number(number) * (UNITS[unit] ?? 1);
}

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600 };
