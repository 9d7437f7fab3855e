/** The commands as data; the code of each is loaded when it runs. */
import type { Rule } from "../../core/config.js";
import { ParleyError } from "../../core/errors.js";
import type { Loaded } from "../../settings/settings.js";
import { dialectIds, programOf, programs, VOCABULARY } from "../../dialects/index.js";
import type { ProgramCommand } from "../../dialects/kit/program.js";
import { ACCOUNT_COMMANDS } from "../account/commands.js";
import { BRIDGE_COMMANDS } from "../bridge/commands.js";
import { commandSettings } from "./command-settings.js";
import { given, list, promptWords, SHARED_FLAGS, TAPE, text, usage, type Flag, type Parsed } from "./flags.js";
import { formatAsked, ONE_SHOT_FLAGS, refuseAttachments } from "../one-shot/flags.js";
import { MCP_COMMANDS } from "../mcp/commands.js";
import { INSPECT_COMMANDS } from "../inspect/commands.js";
import { KIT_COMMANDS } from "../kit/commands.js";
import { idleSessionFlags } from "./opening.js";
import { programNames } from "./host-program.js";
import { RELAY_FLAGS } from "../relay/flags.js";
import { serveStdio } from "../serve/stdio.js";
import type { Onlookers } from "../serve/serving.js";
import { asksStructured, asksText, choiceMeant, SESSION_FLAGS, STRUCTURED_FLAGS } from "../serve/structured-flags.js";
import type { Telemetry } from "../compose/telemetry.js";

export interface Command {
  /** One word or more; "" for the command without a name. */
  name: string;
  usage: string;
  summary: string;
  details?: string;
  /** The most words beside the flags. */
  positionals: number;
  /** A word like -1 is no flag. */
  counts?: true;
  /** Words that it does not know change nothing. */
  ignoresOthers?: true;
  flags: readonly Flag[];
  /** The dialect that it speaks with a host, where none is named. */
  dialect?: string;
  run(parsed: Parsed, telemetry: Telemetry): Promise<number>;
}

const DIALECT: Flag = { name: "dialect", value: "ID", help: `the protocol to speak on stdin and stdout: ${dialectIds.join(", ")}` };
/** The dialect that `--json-stream` alone asks for. */
const STREAMED = programs.find(({ program }) => program.asks?.some((words) => words.join() === "--json-stream"))?.dialect;
const TOKEN_FILE: Flag = {
  name: "token-file",
  value: "FILE",
  help: "over WebSockets: the token, as in 'Authorization: Bearer TOKEN'; a server takes several lines of NAME:TOKEN",
};
/** The command, and the flag. */
export const RESUME = "resume";
const JSON_OUTPUT: Flag = { name: "json", help: "JSON output, for programs" };

/** Programs that start `serve` say --allowed-tools for the only tools that there are. */
const SERVED_FLAGS = SHARED_FLAGS.map(({ alias, ...flag }): Flag => {
  if (flag.name === "tools") return { ...flag, alias: "allowed-tools" };
  return alias === undefined || alias === "allowed-tools" ? flag : { ...flag, alias };
});
/** The dialect of `parley serve`. */
const SERVED = programs.find(({ program }) => program.servesByDefault === true)?.dialect ?? VOCABULARY;
const OVER_WEBSOCKETS =
  "With --ws each connection has an agent of its own; port 0 picks a free one, and stderr tells which. Off this machine a token is asked for.";
const WEBSOCKET_FLAGS: readonly Flag[] = [
  { name: "stdio", help: "over stdin and stdout (the default)" },
  { name: "ws", value: "HOST:PORT", help: "over WebSockets, for several clients at once" },
  TOKEN_FILE,
  {
    name: "allow-origin",
    value: "ORIGIN",
    help: "with --ws: an origin that may connect, as in https://example.com or chrome-extension://ID; may be repeated",
  },
  {
    name: "keep-alive",
    value: "SECONDS",
    help: "with --ws: how often a client of another machine is asked whether it is there (default: 30)",
  },
];
/** The flag exists to be refused with a better sentence. */
const PROMPT: Flag = { name: "prompt", short: "p", value: "TEXT", help: "", hidden: true };

/** A conversation may be asked for without a name: it is picked from a list. */
const CONVERSATION_FLAGS = SHARED_FLAGS.map((flag): Flag => (flag.name === RESUME ? { ...flag, value: "[ID]", bare: "" } : flag));

export const COMMANDS: readonly Command[] = [
  {
    name: "",
    usage: "parley [PROMPT] [flags]",
    summary: "A coding agent for the terminal, and for any program that hosts agents.",
    details:
      "Starts a chat, with PROMPT as its first message. In the chat /help lists the commands, and Tab completes commands and @files.\n" +
      "With -p, or without a terminal: runs one prompt, prints the answer and exits. Piped input is part of the prompt.\n" +
      "Without a key the offline rehearsal model answers. 'parley help COMMAND' explains a command.\n\n" +
      "Keys are read from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, …), or 'parley login' keeps them; 'parley doctor' looks for them. Settings, sessions and trust are in ~/.parley, or in the folder PARLEY_HOME.\n" +
      "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 a check found something, 124 timeout, 130 SIGINT, 143 SIGTERM. " +
      "--input-format and --output-format are Qwen Code's, and so are their exit codes: 41 no key, 42 wrong usage, 52 wrong configuration, 53 limit of turns.",
    positionals: 1,
    flags: [
      ...ONE_SHOT_FLAGS,
      {
        name: "json-stream",
        help: `speak JSON lines on stdin and stdout: ${STREAMED}, or the --dialect given; flags of its own program are taken then`,
      },
      DIALECT,
      TAPE,
      ...CONVERSATION_FLAGS,
      ...STRUCTURED_FLAGS.map((flag) => ({ ...flag, group: "Flags of structured input and output, which are Qwen Code's" })),
    ],
    run: runDefault,
  },
  {
    name: RESUME,
    usage: "parley resume [ID] [flags]",
    summary: "Continues a stored session: the same as --resume. Without ID at a terminal it is picked from a list.",
    positionals: 1,
    flags: [...ONE_SHOT_FLAGS, ...CONVERSATION_FLAGS],
    run: ({ values, positionals: [id = ""] }, telemetry) =>
      runDefault({ values: new Map([...values, [RESUME, [id]]]), positionals: [] }, telemetry),
  },
  {
    name: "serve",
    usage: "parley serve [--stdio | --ws HOST:PORT] [flags]",
    summary: `Serves the agent to a host, over stdin and stdout or over WebSockets; in the protocol ${SERVED}, unless --dialect says otherwise.`,
    details: OVER_WEBSOCKETS,
    positionals: 0,
    flags: [
      { ...DIALECT, help: `the protocol to speak: ${dialectIds.join(", ")} (default: ${SERVED})` },
      ...WEBSOCKET_FLAGS,
      PROMPT,
      TAPE,
      ...SERVED_FLAGS,
    ],
    dialect: SERVED,
    run: (parsed, telemetry) => runServe(text(parsed, "dialect") ?? SERVED, parsed, telemetry),
  },
  ...programs.flatMap(({ dialect, program: { command } }) => (command === undefined ? [] : [commandServing(dialect, command)])),
  {
    name: "schema",
    usage: "parley schema [DIALECT]",
    summary: `Prints the JSON Schema of every message of a dialect, both directions (default: ${VOCABULARY}).`,
    positionals: 1,
    flags: [],
    async run({ positionals: [id = VOCABULARY] }) {
      const { schemaOf } = await import("../inspect/schema.js");
      return print(`${JSON.stringify(await schemaOf(id), null, 2)}\n`);
    },
  },
  {
    name: "config",
    usage: "parley config [flags]",
    summary: "Shows the effective configuration, and the source of each value.",
    positionals: 0,
    flags: [JSON_OUTPUT, ...SHARED_FLAGS],
    async run(parsed) {
      const loaded = await load(parsed);
      const { showConfig } = await import("../inspect/show-config.js");
      for (const warning of loaded.warnings) process.stderr.write(`parley: ${warning}\n`);
      return print(showConfig(loaded, given(parsed, "json") ? "json" : "text", process.env));
    },
  },
  {
    name: "doctor",
    usage: "parley doctor [flags]",
    summary: "Reports the keys, servers and tools of this machine, and how to get missing ones.",
    positionals: 0,
    flags: SHARED_FLAGS,
    async run(parsed) {
      const { doctor } = await import("../inspect/run-doctor.js");
      return doctor(() => load(parsed));
    },
  },
  {
    name: "relay",
    usage: "parley relay --as A --drive B [flags] [-- COMMAND… | --url ws://HOST:PORT]",
    summary:
      "Speaks dialect A to the host on stdin and stdout, and drives an agent of dialect B: COMMAND, or an agent that listens at --url.",
    details:
      "COMMAND gets the flags that its dialect puts on a command line; a shared flag here is meant for it. " +
      "Without COMMAND the relay starts the program that B is named after.",
    positionals: Infinity,
    flags: RELAY_FLAGS,
    async run(parsed, telemetry) {
      if ((text(parsed, "sandbox") ?? "off") !== "off") throw noSandboxHere();
      const { runRelay } = await import("../relay/relay.js");
      return runRelay(parsed, () => load(parsed), process.env, { telemetry, tape: text(parsed, "tape") });
    },
  },
  ...ACCOUNT_COMMANDS,
  ...MCP_COMMANDS,
  ...BRIDGE_COMMANDS,
  ...KIT_COMMANDS,
  {
    name: "sessions",
    usage: "parley sessions [list | show ID | rm ID | rewind ID TURN]",
    summary: "Lists the stored sessions, shows one, removes one, or takes back a turn of one and all behind it.",
    details:
      "TURN is the id of a turn, or -1 for the last one, -2 for the one before it, and so on. " +
      "Its files and the conversation are as they were before it then; with --files or --conversation only these. " +
      "A file that was changed since by others is left as it is, and makes the exit code 1; --force takes it back, too.",
    positionals: 3,
    counts: true,
    flags: [
      JSON_OUTPUT,
      { name: "files", help: "with rewind: take back the files" },
      { name: "conversation", help: "with rewind: take back the conversation" },
      { name: "force", help: "with rewind: also files that were changed since, and those that are asked about" },
      { name: "owner", value: "NAME", help: "sessions of clients of 'serve --ws' whose token has this name" },
    ],
    async run(parsed) {
      const { runSessions } = await import("../inspect/sessions.js");
      return runSessions(parsed, process.env);
    },
  },
  {
    name: "permissions",
    usage: "parley permissions [list | remove RULE] [--all]",
    summary: "Lists the calls that run unasked in this folder because of a yes for always in this project, or takes one back.",
    positionals: 2,
    flags: [
      { name: "all", help: "of every folder, and not of this one alone" },
      JSON_OUTPUT,
      { name: "owner", value: "NAME", help: "those of clients of 'serve --ws' whose token has this name" },
    ],
    async run(parsed) {
      const { runPermissions } = await import("../inspect/permissions.js");
      return runPermissions(parsed, process.env);
    },
  },
  ...INSPECT_COMMANDS,
  {
    name: "shims",
    usage: "parley shims DIR",
    summary: `Writes launchers ${programNames.join(", ")} into DIR, so that a host that looks for those names finds Parley.`,
    details: "Started under such a name, Parley takes that program's flags and variables.",
    positionals: 1,
    flags: [],
    async run({ positionals: [dir] }) {
      if (dir === undefined) throw usage("Into which folder? parley shims DIR");
      const { writeShims } = await import("../serve/shims.js");
      return print(await writeShims(dir, process.argv[1] ?? "", process.execPath));
    },
  },
  {
    name: "demo",
    usage: "parley demo",
    summary: "Shows a small real task, offline: the rehearsal model works with the real tools in a scratch folder.",
    positionals: 0,
    flags: [],
    async run() {
      const { runDemo } = await import("../inspect/demo.js");
      return runDemo();
    },
  },
];

async function runDefault(asked: Parsed, telemetry: Telemetry): Promise<number> {
  return runWith(await withPickedSession(asked), telemetry);
}

/** A session that was not named is picked from a list. */
async function withPickedSession(parsed: Parsed): Promise<Parsed> {
  if (text(parsed, RESUME) !== "") return parsed;
  const { pickSession } = await import("./pick-session.js");
  const id = await pickSession(process.env, text(parsed, "workspace"));
  return { ...parsed, values: new Map([...parsed.values, [RESUME, [id]]]) };
}

async function runWith(parsed: Parsed, telemetry: Telemetry): Promise<number> {
  const refused = text(parsed, "refused");
  if (refused !== undefined) throw usage(refused);
  const format = formatAsked(parsed);
  const id = text(parsed, "dialect") ?? (given(parsed, "json-stream") ? STREAMED : undefined);
  const choice = choiceMeant(id);
  if (choice !== undefined && asksStructured(parsed, choice.formats)) {
    const { runStructured } = await import("../serve/structured.js");
    return runStructured(choice.dialect, choice.formats, parsed, () => load(parsed), process.env, onlookersOf(parsed, telemetry));
  }
  if (id !== undefined && (given(parsed, "json-stream") || !asksText(parsed))) return runServe(id, parsed, telemetry);
  if (given(parsed, "tape")) throw usage("--tape goes with a protocol: --json-stream, --output-format, --dialect, serve or relay");
  const prompt = promptWords(parsed);
  const loaded = await load(parsed);
  if (format !== undefined || given(parsed, "print") || !process.stdin.isTTY || !process.stdout.isTTY) {
    const { runOneShot } = await import("../one-shot/run.js");
    return runOneShot(parsed, loaded, { format, env: process.env, telemetry });
  }
  refuseSessionFlags(parsed);
  refuseAttachments(parsed, "in the chat @FILE attaches a file");
  const { runChat } = await import("../chat/index.js");
  return runChat(loaded, () => load(parsed), process.env, prompt, telemetry);
}

function refuseSessionFlags(parsed: Parsed): void {
  for (const flag of SESSION_FLAGS)
    if (given(parsed, flag)) throw usage(`--${flag} goes with one prompt (-p) or structured output (--output-format)`);
}

/** The command `parley WORD` of a dialect. */
function commandServing(dialect: string, { word, summary, details, overWebSockets }: ProgramCommand): Command {
  const isOver = overWebSockets === true;
  return {
    name: word,
    usage: isOver ? `parley ${word} [--stdio | --ws HOST:PORT] [flags]` : `parley ${word} [flags]`,
    summary,
    ...((details !== undefined || isOver) && { details: [details, isOver ? OVER_WEBSOCKETS : undefined].filter(Boolean).join("\n") }),
    positionals: 0,
    flags: [...(isOver ? [...WEBSOCKET_FLAGS, PROMPT] : []), TAPE, ...SHARED_FLAGS],
    dialect,
    run: (parsed, telemetry) => runServe(dialect, parsed, telemetry),
  };
}

async function runServe(id: string, parsed: Parsed, telemetry: Telemetry): Promise<number> {
  refuseSessionFlags(parsed);
  refuseAttachments(parsed, "over the protocol files come with their prompts");
  if (parsed.positionals.length > 0) throw usage(`Unexpected argument '${parsed.positionals[0] ?? ""}': prompts come over the protocol`);
  if (given(parsed, "prompt"))
    throw usage("--prompt (-p) does not go with serve: prompts come over the protocol; 'parley -p PROMPT' runs one");
  for (const words of idleSessionFlags(parsed, id)) process.stderr.write(`parley: ${words}\n`);
  const onlookers = onlookersOf(parsed, telemetry);
  const turn = programOf(id)?.turn;
  if (turn !== undefined) {
    if (given(parsed, "ws")) throw usage(`--ws does not go with ${id}: it has a process a turn`);
    const { serveTurn } = await import("../serve/turn.js");
    return serveTurn(id, turn, () => load(parsed), process.env, onlookers);
  }
  if (given(parsed, "ws")) {
    if (given(parsed, "stdio")) throw usage("--stdio and --ws exclude each other; give one of them");
    const { serveWs } = await import("../serve/websocket.js");
    return serveWs(id, parsed, () => load(parsed), process.env, onlookers);
  }
  for (const flag of ["token-file", "allow-origin", "keep-alive"])
    if (given(parsed, flag)) throw usage(`--${flag} means nothing without --ws`);
  return serveStdio(id, () => load(parsed), process.env, onlookers);
}

function onlookersOf(parsed: Parsed, telemetry: Telemetry): Onlookers {
  return { telemetry, tape: text(parsed, "tape") };
}

async function load(parsed: Parsed): Promise<Loaded> {
  return limited(await commandSettings(parsed), parsed);
}

/** Adds the calls of `--unasked` to the rules, and keeps only the servers of `--allowed-mcp-server-names`. */
function limited(loaded: Loaded, parsed: Parsed): Loaded {
  const rules = (list(parsed, "unasked") ?? []).map((allow): Rule => ({ allow }));
  const servers = list(parsed, "allowed-mcp-server-names");
  if (rules.length === 0 && servers === undefined) return loaded;
  const { settings } = loaded;
  const mcpServers = Object.fromEntries(Object.entries(settings.mcpServers).filter(([name]) => servers?.includes(name) !== false));
  return { ...loaded, settings: { ...settings, mcpServers, rules: [...settings.rules, ...rules] } };
}

/** A driven agent runs its commands by itself. */
function noSandboxHere(): ParleyError {
  const message = "A relay has no sandbox: the driven agent runs its commands by itself; give COMMAND a flag of its own for that";
  return new ParleyError({ code: "sandbox", message, retryable: false, param: "sandbox" });
}

function print(output: string): number {
  process.stdout.write(output);
  return 0;
}
