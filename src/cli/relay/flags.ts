/** The flags of `parley relay`: its own, flags of the session, and flags that only hosts write. */
import { ROWS, SWITCH_ROWS } from "../../settings/table.js";
import { SHARED_FLAGS, TAPE, type Flag } from "../command-line/flags.js";
import { programs } from "../../dialects/index.js";
import { dialectsWith, lineFormats, STRUCTURED_FLAGS } from "../serve/structured-flags.js";

/** Flags that a relay cannot pass on: COMMAND must say them itself. */
export const OF_THE_AGENT: readonly Flag[] = SHARED_FLAGS.filter((flag) => {
  const isFlag = ({ name }: { name: string }): boolean => name === flag.name;
  return (
    ROWS.some(([, row]) => row.ofAgent === true && row.flag !== undefined && isFlag(row.flag)) ||
    SWITCH_ROWS.some(([, row]) => row.ofAgent === true && isFlag(row))
  );
});

/** Flags for the wire itself: the host writes them for the agent that it believes to start. */
const OF_THE_WIRE: Readonly<Record<string, string>> = {
  "output-format": `the format of the host's wire: ${lineFormats(", ")} (default: stream-json)`,
  "include-partial-messages": `with --as ${dialectsWith("include-partial-messages")}: messages as they come, too`,
};

const PROMPT: Flag = { name: "print", short: "p", value: "PROMPT", help: "", hidden: true };

export const RELAY_FLAGS: readonly Flag[] = [
  { name: "as", value: "A", help: "the dialect of the host" },
  {
    name: "drive",
    value: "B",
    help: "the dialect of the agent; the words behind it are the flags of A's own program",
  },
  { name: "url", value: "URL", help: "drive the agent that listens at this WebSocket address, instead of COMMAND" },
  { name: "token-file", value: "FILE", help: "with --url: the token, as in 'Authorization: Bearer TOKEN'" },
  ...revisionFlags(),
  { name: "check", help: "verify the grammar at the seam; a violation goes to stderr and makes the exit code 3" },
  { name: "report", value: "[json]", help: "at the end, report on stderr which messages were exact, partly said, made up or lost" },
  ...STRUCTURED_FLAGS.map((flag): Flag => {
    const help = OF_THE_WIRE[flag.name];
    return help === undefined ? { ...flag, hidden: true } : { ...flag, help };
  }),
  PROMPT,
  { name: "allow-unheard", help: "allow calls that the host cannot be asked about, instead of denying them" },
  TAPE,
  ...SHARED_FLAGS.filter((flag) => !OF_THE_AGENT.includes(flag)),
];

function revisionFlags(): Flag[] {
  return programs.flatMap(({ program: { drive } }) => {
    if (drive?.revisions === undefined) return [];
    const { flag, value, help } = drive.revisions;
    return [{ name: flag, value, help }];
  });
}
