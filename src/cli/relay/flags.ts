/** The flags of `parley relay`: its own, those that a session can be told, and those that only its hosts write. */
import { SHARED_FLAGS, type Flag } from "../command-line/flags.js";
import { STRUCTURED_FLAGS } from "../serve/structured-flags.js";

/** Nothing that a relay could pass on: COMMAND must say them itself. */
export const OF_THE_AGENT: readonly Flag[] = SHARED_FLAGS.filter(({ name }) =>
  ["base-url", "api-key", "trust-workspace", "no-session", "offline-model"].includes(name),
);

/** A host says on a command line to its own wire what it says to the agent that it thinks it starts. */
const OF_THE_WIRE: Readonly<Record<string, string>> = {
  "output-format": "with --as qwen: stream-json (default), or stream-chunk-json for pieces",
  "include-partial-messages": "with --as qwen-shipped: messages as they come, too",
};

const PROMPT: Flag = { name: "print", short: "p", value: "PROMPT", help: "", hidden: true };

export const RELAY_FLAGS: readonly Flag[] = [
  { name: "as", value: "A", help: "the dialect of the host" },
  {
    name: "drive",
    value: "B",
    help: "the dialect of the agent; behind it stand the flags of a host of A, in the words of A's own program",
  },
  { name: "url", value: "URL", help: "drive the agent that listens at this WebSocket address, instead of COMMAND" },
  { name: "token-file", value: "FILE", help: "with --url: the token, as in 'Authorization: Bearer TOKEN'" },
  { name: "wire", value: "W", help: "driving agentproc: 0.1, 0.2, 0.3, 0.4 or auto (the default), as the agent speaks" },
  { name: "check", help: "verify the grammar at the seam; a violation goes to stderr and makes the exit code 3" },
  { name: "report", value: "[json]", help: "at the end, tell on stderr what was exact, partly said, made up or lost" },
  ...STRUCTURED_FLAGS.map((flag): Flag => {
    const help = OF_THE_WIRE[flag.name];
    return help === undefined ? { ...flag, hidden: true } : { ...flag, help };
  }),
  PROMPT,
  { name: "allow-unheard", help: "allow what a host cannot be asked about, instead of denying it" },
  { name: "audit", value: "FILE", help: "append every message of both directions to FILE, redacted (docs/observability.md)" },
  ...SHARED_FLAGS.filter((flag) => !OF_THE_AGENT.includes(flag)),
];
