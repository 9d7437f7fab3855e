/** aionrs as a program: its command line, read as its hosts write it and written for a session. */
import type { OpOf } from "../../core/op.js";
import type { Launch } from "../../core/wire.js";
import type { ForeignFlag, Program } from "../kit/program.js";
import type { AgentState } from "./agent/state.js";
import type { Revision } from "./wire/revision.js";

/** aionrs's `-p` is the provider. */
const SHORT_FLAGS = { "-p": "--provider", "-m": "--model", "-k": "--api-key", "-b": "--base-url" };

const FLAGS: readonly ForeignFlag[] = [
  { name: "max-tool-call-malformed-turns", value: "N" },
  { name: "max-tool-call-failure-turns", value: "N" },
  { name: "profile", value: "NAME" },
  { name: "project-dir", value: "DIR" },
  { name: "no-color" },
  { name: "toon" },
  { name: "log-dir", value: "DIR" },
  { name: "log-level", value: "LEVEL" },
];

const VARIABLES: readonly (readonly [variable: string, flag: string])[] = [
  ["PROVIDER", "--provider"],
  ["MODEL", "--model"],
  ["BASE_URL", "--base-url"],
  ["API_KEY", "--api-key"],
];

export const program = {
  name: "aionrs",
  shortFlags: SHORT_FLAGS,
  flags: FLAGS,
  variables: VARIABLES,
  asks: [["--json-stream"]],
  hostWords: { switches: ["--json-stream"], ignoresWords: true },
  drive: { command: ["aionrs"] },
} as const satisfies Program;

export function writeLaunch(op: OpOf<"session.open">, { hasWorkspaceFlag }: Revision): Launch {
  const { config = {} } = op;
  const flags: [string, string | number | undefined][] = [
    ["--provider", config.provider],
    ["--model", config.model],
    ["--max-tokens", config.maxTokens],
    ["--max-turns", config.maxTurns],
    ["--system-prompt", config.system],
    ["--workspace", hasWorkspaceFlag ? config.cwd : undefined],
    op.open === "new" ? ["--session-id", op.sessionId] : ["--resume", op.sessionId ?? op.session],
  ];
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
  const yolo = config.mode === "yolo" ? ["--auto-approve"] : [];
  return { argv: ["--json-stream", ...given, ...yolo], env: {}, ...(config.cwd !== undefined && { cwd: config.cwd }) };
}

/**
 * Reads the capabilities that a command line switches on. An unknown name is reported once the host listens. A revision without
 * capabilities ignores the flag.
 */
export function readSwitches(argv: readonly string[], { revision, switched, early }: AgentState): void {
  const { switches } = revision;
  const named = argv.filter((_, at) => argv[at - 1] === "--capability");
  for (const name of switches.length === 0 ? [] : named) {
    if (switches.includes(name)) switched.add(name);
    else
      early.push({
        type: "notice",
        level: "warning",
        text: `There is no capability '${name}' to switch on; there are ${switches.join(", ")}`,
      });
  }
}
