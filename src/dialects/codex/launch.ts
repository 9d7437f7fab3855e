/** Codex as a program: its commands, the flags of its command lines, and our words for them. */
import type { FormatChoice, ForeignFlag, Program } from "../kit/program.js";

/** The lines of `codex exec --json`. */
export const EXEC_LINES = "jsonl";

const SHORT_FLAGS = {
  "-a": "--ask-for-approval",
  "-c": "--config",
  "-C": "--cd",
  "-i": "--image",
  "-m": "--model",
  "-o": "--output-last-message",
  "-p": "--profile",
  "-s": "--sandbox",
};

const as =
  (flag: string) =>
  (value: string): readonly string[] => [flag, value];

/** Modes for Codex's sandboxes. Parley has no sandbox, so it asks where the sandbox would stop a command; `exec` denies it. */
const MODES: ReadonlyMap<string, string> = new Map([
  ["read-only", "default"],
  ["workspace-write", "auto_edit"],
  ["danger-full-access", "yolo"],
]);

function sandboxFlags(name: string): readonly string[] {
  const mode = MODES.get(name);
  if (mode === undefined) return ["--refused", `--sandbox must be one of ${[...MODES.keys()].join(", ")}, not '${name}'`];
  return ["--approval-mode", mode];
}

/** The flags for an override `key=value`, whose value is TOML. */
function configFlags(assignment: string): readonly string[] {
  const [, key = "", text = ""] = /^([^=]+)=(.*)$/s.exec(assignment) ?? [];
  const value = plainValue(text.trim());
  switch (key.trim()) {
    case "openai_base_url":
      return ["--account", "openai", "--base-url", value];
    case "model":
      return ["--model", value];
    case "model_reasoning_effort":
      return THINKING.has(value) ? ["--thinking", THINKING.get(value) ?? value] : [];
    case "sandbox_mode":
      return sandboxFlags(value);
    case "approval_policy":
      return value === "untrusted" ? ["--refused", 'approval_policy = "untrusted" is no longer supported; remove this setting'] : [];
    default:
      return [];
  }
}

const THINKING: ReadonlyMap<string, string> = new Map([
  ["none", "disabled"],
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "max"],
  ["max", "max"],
]);

function plainValue(text: string): string {
  const [, quoted] = /^'([^']*)'$/s.exec(text) ?? [];
  if (quoted !== undefined) return quoted;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

const JSON_LINES = ["--dialect", "codex", "--output-format", EXEC_LINES];

const SAID: readonly ForeignFlag[] = [
  { name: "config", value: "KEY=VALUE", means: configFlags },
  { name: "experimental-json", means: () => JSON_LINES },
  { name: "json", means: () => JSON_LINES },
  { name: "sandbox", value: "MODE", means: sandboxFlags },
  { name: "full-auto", means: () => ["--approval-mode", "auto_edit"] },
  { name: "dangerously-bypass-approvals-and-sandbox", means: () => ["--approval-mode", "yolo"] },
  { name: "model", value: "MODEL", means: as("--model") },
  { name: "image", value: "A,B", means: (files) => files.split(",").flatMap((file) => ["--image", file]) },
  { name: "cd", value: "DIR", means: as("--workspace") },
  { name: "add-dir", value: "DIR", means: as("--include-directories") },
  { name: "output-last-message", value: "FILE", means: as("--last-message") },
  { name: "output-schema", value: "FILE", means: (file) => ["--json-schema", `@${file}`] },
  { name: "ephemeral", means: () => ["--no-session"] },
  { name: "last", means: () => ["latest"] },
  { name: "api-key-of-codex", value: "KEY", means: (key) => ["--account", "openai", "--api-key", key] },
  { name: "skip-git-repo-check", quiet: true },
  { name: "stdio", quiet: true },
  {
    name: "listen",
    value: "URL",
    means: (url) => (url === "stdio://" ? [] : ["--refused", `--listen ${url}: only stdio:// is served`]),
    quiet: true,
  },
  { name: "color", value: "WHEN", quiet: true },
  { name: "thread-source", value: "SOURCE", quiet: true },
  { name: "analytics-default-enabled", quiet: true },
  { name: "ignore-user-config", quiet: true },
  { name: "ignore-rules", quiet: true },
  { name: "strict-config", quiet: true },
];

/** Accepted, and without any effect here. */
const UNUSED: readonly ForeignFlag[] = [
  ...["profile", "enable", "disable", "local-provider", "cyber-access-program", "ask-for-approval"].map((name): ForeignFlag => ({
    name,
    value: "VALUE",
  })),
  ...["oss", "search", "worktree", "approve-for-me", "all", "dangerously-bypass-hook-trust"].map((name): ForeignFlag => ({ name })),
];

/** The commands of `codex exec`, by its name or its short name. */
function underExec(name: string): Record<string, readonly string[]> {
  return {
    [name]: ["--print=-"],
    [`${name} resume`]: ["--resume="],
    [`${name} fork`]: ["--fork-session", "--resume="],
    [`${name} review`]: ["--refused", "'codex exec review' is not served here: ask for a review in the prompt"],
  };
}

const LACKS =
  "agents apply a archive cloud debug delete exec-server features logout mcp-server plugin queue remote-control review sandbox unarchive update".split(
    " ",
  );

export const program: Program = {
  name: "codex",
  version: "codex-cli 0.166.0",
  shortFlags: SHORT_FLAGS,
  flags: [...SAID, ...UNUSED],
  words: { ...underExec("exec"), ...underExec("e") },
  lacks: LACKS,
  variables: [["CODEX_API_KEY", "--api-key-of-codex"]],
  command: {
    word: "app-server",
    summary: "Serves the agent to a client of Codex's app-server, over stdin and stdout.",
    details: "`codex exec --json` is served under the name `codex` (parley shims), or by --dialect codex --output-format jsonl.",
  },
  opensOnWire: true,
  formats: {
    lines: [EXEC_LINES],
    flags: ["json-schema"],
    problem,
    promptRecord: (prompt) => ({ prompt }),
    messageIn,
  },
  drive: { command: ["codex"] },
};

function messageIn(record: unknown): string | undefined {
  const item = fieldOf(record, "item");
  const text = fieldOf(item, "text");
  const isMessage = fieldOf(record, "type") === "item.completed" && fieldOf(item, "type") === "agent_message";
  return isMessage && typeof text === "string" ? text : undefined;
}

function fieldOf(record: unknown, name: string): unknown {
  return typeof record === "object" && record !== null ? Reflect.get(record, name) : undefined;
}

function problem({ input, output, has }: FormatChoice): string | undefined {
  if (input !== "text") return `codex exec takes a prompt, and no lines: --input-format ${input} is none of its own`;
  if (output !== "text" && output !== EXEC_LINES) return `--output-format is text or ${EXEC_LINES}, not '${output}'`;
  if (output === "text" && has("json-schema")) return "--output-schema needs --json";
  return undefined;
}
