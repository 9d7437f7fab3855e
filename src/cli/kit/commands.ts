/** The commands for people who write hosts and agents, as data. */
import type { Command } from "../command-line/commands.js";
import { usage } from "../command-line/flags.js";

export const KIT_COMMANDS: readonly Command[] = [
  {
    name: "check",
    usage: "parley check --dialect D [flags] -- COMMAND…",
    summary: "Grades an agent by the requirements of its dialect. Exit code 3 when it breaks one that is a must.",
    details:
      "It starts the agent with the flags of the dialect, once for each requirement, in a folder and a HOME of its own, and plays a host. " +
      "A scripted model server on this machine is named to the agent in ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL, with keys for it. " +
      "A requirement passes, fails, is unknown where the agent lacks what it needs, or is skipped where it cannot be checked yet.",
    positionals: Number.POSITIVE_INFINITY,
    flags: [
      { name: "dialect", value: "D", help: "the protocol of the agent" },
      { name: "only", value: "IDS", help: "these requirements alone, with commas" },
      {
        name: "model-flags",
        value: "TEXT",
        help: "more words for the agent's command line, as a shell splits them; {url} is the model server",
      },
      { name: "timeout", value: "SECONDS", help: "the longest time for a requirement (default: 30)" },
      { name: "tape", value: "DIR", help: "record each requirement in a file of DIR" },
      { name: "strict", help: "exit with code 3 for a must that is unknown, too" },
      { name: "json", help: "JSON output, for programs" },
    ],
    async run(parsed) {
      const [{ runCheck }, { commandSettings }] = await Promise.all([import("./check.js"), import("../command-line/command-settings.js")]);
      return runCheck(parsed, () => commandSettings(parsed), process.env);
    },
  },
  {
    name: "replay",
    usage: "parley replay TAPE --as DIALECT [--pace PACE] [--strict]",
    summary: "Lets a recorded agent play again, in any dialect, on stdin and stdout.",
    details:
      "It says what was recorded and waits where the recording waited for its host. Flags of the dialect's own programs are taken and change nothing. " +
      "What the host says otherwise than in the recording is on stderr with its line.",
    positionals: 1,
    ignoresOthers: true,
    flags: [
      { name: "as", value: "DIALECT", help: "the protocol to speak" },
      { name: "pace", value: "PACE", help: "instant (the default), original, or how many times as fast" },
      { name: "strict", help: "end with exit code 3 where the host says something else than in the recording" },
    ],
    async run(parsed) {
      const { runReplay } = await import("./replay.js");
      return runReplay(parsed, process.env);
    },
  },
  {
    name: "tape",
    usage: "parley tape show | diff | check",
    summary: "Shows, compares and checks what --tape recorded.",
    positionals: 1,
    flags: [],
    async run({ positionals: [word] }) {
      throw usage(`${word === undefined ? "What?" : `There is no 'tape ${word}'.`} parley tape show, diff or check`);
    },
  },
  {
    name: "tape show",
    usage: "parley tape show FILE [--as text|jsonl|html]",
    summary: "Shows a tape: a transcript for people, the ops and events as JSON lines, or a page with the wire beside them.",
    positionals: 1,
    flags: [{ name: "as", value: "FORMAT", help: "text, jsonl or html (default: text)" }],
    async run(parsed) {
      const { showTape } = await import("./tape.js");
      return showTape(parsed);
    },
  },
  {
    name: "tape diff",
    usage: "parley tape diff A B [--ignore LIST]",
    summary: "Tells the events in which two tapes differ; ids, times, durations and token counts never count. Exit code 3 when they do.",
    positionals: 2,
    flags: [{ name: "ignore", value: "LIST", help: "leave out more: text, thinking, args, output, notice" }],
    async run(parsed) {
      const { diffTapes } = await import("./tape.js");
      return diffTapes(parsed);
    },
  },
  {
    name: "tape check",
    usage: "parley tape check FILE",
    summary: "Tells each line of a tape that breaks the grammar or the schemas. Exit code 3 when one does.",
    positionals: 1,
    flags: [],
    async run(parsed) {
      const { checkTape } = await import("./tape.js");
      return checkTape(parsed);
    },
  },
];
