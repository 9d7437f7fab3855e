/**
 * The Agent Client Protocol as a program. Each of its agents has a name and a flag of its own, so a relay names its command. The name under
 * which hosts of this protocol find Parley is that of Gemini CLI, whose hosts start `gemini --acp`.
 */
import type { ForeignFlag, Program } from "../kit/program.js";

const SPEAK: readonly ForeignFlag[] = ["acp", "experimental-acp"].map((name) => ({ name, means: () => ["--dialect", "acp"] }));

const SAID: readonly ForeignFlag[] = [
  { name: "prompt", value: "PROMPT", means: (prompt) => ["--print", prompt] },
  { name: "prompt-interactive", value: "PROMPT", means: (prompt) => [prompt] },
  { name: "skip-trust", means: () => ["--trust-workspace"] },
];

/** Accepted, and without any effect here. */
const UNUSED: readonly ForeignFlag[] = [
  ...["extensions", "session-file", "output-dir"].map((name) => ({ name, value: "VALUE" })),
  ...["debug", "screen-reader", "list-extensions", "raw-output", "accept-raw-output-risk"].map((name) => ({ name })),
];

/** Programs that speak the protocol when they are asked to; adapters like `codex-acp` speak nothing else. */
export const AGENT_WORDS: Readonly<Record<string, readonly string[]>> = {
  gemini: ["--acp"],
  qwen: ["--acp"],
  opencode: ["acp"],
  reasonix: ["acp"],
  parley: ["acp"],
};

export const program: Program = {
  name: "gemini",
  // The version of Gemini CLI whose command line this is.
  version: "0.61.0",
  shortFlags: {
    "-m": "--model",
    "-p": "--prompt",
    "-i": "--prompt-interactive",
    "-y": "--yolo",
    "-r": "--resume",
    "-d": "--debug",
    "-e": "--extensions",
  },
  flags: [...SPEAK, ...SAID, ...UNUSED],
  variables: [
    ["GEMINI_MODEL", "--model"],
    ["GOOGLE_GEMINI_BASE_URL", "--base-url"],
  ],
  command: {
    word: "acp",
    summary: "Serves the agent to an editor in the Agent Client Protocol, over stdin and stdout or over WebSockets.",
    details:
      "Zed, JetBrains, Neovim and others start it. They open their sessions themselves: folder, MCP servers and modes come over the protocol.",
    overWebSockets: true,
  },
  opensOnWire: true,
  hostWords: { switches: ["--acp", "--experimental-acp"] },
};
