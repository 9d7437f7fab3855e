/** Claude Code as a program: the flags of its command line and their meaning as ours. */
import type { FormatChoice, ForeignFlag, Program } from "../kit/program.js";
import { formatProblem, promptProblem, STREAM_JSON } from "../kit/stream-json/formats.js";
import { EFFORT_NAMES, thinkingFor } from "../kit/stream-json/efforts.js";
import { MODE_NAMES, modelNamed, modeNamed, WIRE_VERSION } from "./wire/names.js";
import { toolEntries } from "./wire/tool-entries.js";

const SHORT_FLAGS = { "-c": "--continue", "-d": "--debug", "-n": "--name", "-r": "--resume", "-v": "--version", "-w": "--worktree" };

/** Refuses a value in the program's own words. */
function refused(flag: string, takes: string, value: string): readonly string[] {
  return ["--refused", `option '--${flag}' argument '${value}' is invalid. Allowed choices are ${takes}.`];
}

function modeFlags(name: string): readonly string[] {
  const mode = modeNamed(name);
  if (mode === undefined) return refused("permission-mode", MODE_NAMES.join(", "), name);
  return ["--approval-mode", mode, "--mode-name", name === "manual" ? "default" : name];
}

function modelFlags(name: string): readonly string[] {
  const model = modelNamed(name);
  return model === undefined ? [] : ["--model", model];
}

function fallbackFlags(names: string): readonly string[] {
  const models = names.split(",").flatMap((name) => modelNamed(name) ?? []);
  return models.length === 0 ? [] : ["--fallback-model", models.join(",")];
}

function effortFlags(effort: string): readonly string[] {
  const level = thinkingFor(effort);
  return level === undefined ? refused("effort", EFFORT_NAMES.join(", "), effort) : ["--thinking", level];
}

function thinkingFlags(how: string): readonly string[] {
  return how === "disabled" ? ["--thinking", "disabled"] : ["--thinking", "enabled"];
}

function budgetFlags(tokens: string): readonly string[] {
  return tokens === "0" ? ["--thinking", "disabled"] : ["--thinking", "enabled", "--thinking-budget", tokens];
}

function turnFlags(turns: string): readonly string[] {
  return turns === "0" ? [] : ["--max-turns", turns];
}

function budgetInDollars(dollars: string): readonly string[] {
  const amount = Number(dollars);
  if (amount > 0 && Number.isFinite(amount)) return ["--max-cost", String(amount)];
  return ["--refused", `option '--max-budget-usd <amount>' argument '${dollars}' is invalid. It must be a number greater than 0.`];
}

/** `stdio` asks the host itself. A tool of a server cannot be asked: what would be asked is denied. */
function askedHow(tool: string): readonly string[] {
  return tool === "stdio" ? [] : ["--asks-nobody"];
}

/** The flags for `--tools`: `default` is the usual set, an empty list allows no tool. */
function toolSetFlags(list: string): readonly string[] {
  return list === "default" ? [] : ["--tools", toolEntries(list).join(",")];
}

const tools =
  (flag: string) =>
  (list: string): readonly string[] => [flag, toolEntries(list).join(",")];

const SAID: readonly ForeignFlag[] = [
  { name: "permission-mode", value: "MODE", means: modeFlags },
  { name: "dangerously-skip-permissions", means: () => modeFlags("bypassPermissions") },
  { name: "allow-dangerously-skip-permissions", quiet: true },
  { name: "allowedTools", value: "A,B", means: tools("--unasked") },
  { name: "allowed-tools", value: "A,B", means: tools("--unasked") },
  { name: "disallowedTools", value: "A,B", means: tools("--disallowed-tools") },
  { name: "disallowed-tools", value: "A,B", means: tools("--disallowed-tools") },
  { name: "tools", value: "A,B", means: toolSetFlags, quiet: true },
  { name: "model", value: "MODEL", means: modelFlags, quiet: true },
  { name: "fallback-model", value: "A,B", means: fallbackFlags },
  { name: "effort", value: "LEVEL", means: effortFlags },
  { name: "thinking", value: "HOW", means: thinkingFlags },
  { name: "max-thinking-tokens", value: "N", means: budgetFlags },
  { name: "max-turns", value: "N", means: turnFlags, quiet: true },
  { name: "max-budget-usd", value: "USD", means: budgetInDollars },
  { name: "add-dir", value: "DIR", means: (directory) => ["--include-directories", directory] },
  { name: "continue", means: () => ["--resume", "latest"] },
  { name: "no-session-persistence", means: () => ["--no-session"] },
  { name: "managed-settings", value: "JSON", means: (json) => ["--settings", json] },
  { name: "permission-prompt-tool", value: "TOOL", means: askedHow, quiet: true },
  { name: "verbose", quiet: true },
  { name: "setting-sources", value: "A,B", quiet: true },
  { name: "forward-subagent-text", quiet: true },
  {
    name: "emit-session-states",
    value: "HOW",
    means: (how) => (/^(|0|false|no|off)$/i.test(how) ? [] : ["--session-states", "all"]),
    quiet: true,
  },
];

/** Accepted, and without any effect here. */
const UNUSED = [
  "agent",
  "autocompact",
  "betas",
  "channels",
  "debug-file",
  "file",
  "name",
  "permission-prompts",
  "plugin-dir",
  "plugin-dir-no-mcp",
  "plugin-url",
  "project-config-root",
  "resume-drops-turn",
  "resume-session-at",
  "system-prompt-snapshot",
  "task-budget",
  "thinking-display",
].map((name): ForeignFlag => ({ name, value: "VALUE" }));

const UNUSED_SWITCHES = [
  "await-initialize",
  "bare",
  "brief",
  "chrome",
  "debug-to-stderr",
  "disable-slash-commands",
  "exclude-dynamic-system-prompt-sections",
  "ide",
  "include-hook-events",
  "managed-settings-in-initialize",
  "mcp-debug",
  "no-chrome",
  "restricted",
  "safe-mode",
  "session-mirror",
  "strict-mcp-config",
].map((name): ForeignFlag => ({ name }));

const OPTIONAL = ["debug", "prompt-suggestions", "worktree"].map((name): ForeignFlag => ({ name, optional: true }));

const LACKS =
  "agents attach auth auto-mode gateway import install kill logs plugin plugins purge respawn rm setup-token stop update upgrade".split(
    " ",
  );

export const program: Program = {
  name: "claude",
  version: `${WIRE_VERSION} (Claude Code)`,
  lacks: LACKS,
  shortFlags: SHORT_FLAGS,
  flags: [...SAID, ...UNUSED, ...UNUSED_SWITCHES, ...OPTIONAL],
  variables: [
    ["ANTHROPIC_MODEL", "--model"],
    ["MAX_THINKING_TOKENS", "--thinking-budget"],
    ["CLAUDE_CODE_MAX_OUTPUT_TOKENS", "--max-tokens"],
    ["CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "--emit-session-states"],
  ],
  exits: { usage: 1, sandbox: 1 },
  asks: [["--dialect=claude"], ["--permission-prompt-tool=stdio"]],
  formats: { ...STREAM_JSON, problem },
  texts: {
    "mcp-config": async (json) => ({ config: { mcpServers: (await import("./wire/servers.js")).readMcpConfig(json) } }),
    agents: async (json) => ({ config: { subagents: (await import("./wire/agents.js")).readAgents(json) } }),
    settings: async (json) => (await import("./wire/settings.js")).readSettings(json),
  },
  absent: [["permission-prompt-tool", ["--asks-nobody"]]],
  drive: { command: ["claude"] },
};

function problem(choice: FormatChoice): string | undefined {
  return formatProblem(choice) ?? promptProblem(choice);
}
