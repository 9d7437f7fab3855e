/** How an aionrs is started for a session: the flags of its command line, and what they cannot say. */
import type { SessionConfig } from "../../core/config.js";
import type { OpOf } from "../../core/op.js";
import type { Launch } from "../../core/wire.js";

export function writeLaunch(op: OpOf<"session.open">): Launch {
  const { config = {} } = op;
  const flags: [string, string | number | undefined][] = [
    ["--provider", config.provider],
    ["--model", config.model],
    ["--max-tokens", config.maxTokens],
    ["--max-turns", config.maxTurns],
    ["--system-prompt", config.system],
    ["--workspace", config.cwd],
    op.open === "new" ? ["--session-id", op.sessionId] : ["--resume", op.sessionId ?? op.session],
  ];
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
  const yolo = config.mode === "yolo" ? ["--auto-approve"] : [];
  return { argv: ["--json-stream", ...given, ...yolo], env: {}, ...(config.cwd !== undefined && { cwd: config.cwd }) };
}

/** What changes how the agent works or what it may do, and has no flag. */
const UNSAID = [
  "thinking",
  "thinkingBudget",
  "effort",
  "temperature",
  "topP",
  "stop",
  "appendSystem",
  "allowedTools",
  "disallowedTools",
  "approveTools",
  "rules",
  "hostTools",
  "mcpServers",
] as const satisfies readonly (keyof SessionConfig)[];

export function unsaid(config: SessionConfig): string[] {
  return UNSAID.filter((key) => config[key] !== undefined);
}
