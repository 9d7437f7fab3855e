/** The flags of structured input and output, and whether a command line asks for that. */
import type { SessionConfig } from "../../core/config.js";
import { programOf, programs } from "../../dialects/index.js";
import type { FormatChoice, Formats } from "../../dialects/kit/program.js";
import { amount, count, given, list, text, usage, type Flag, type Parsed } from "../command-line/flags.js";

/** The dialects that have a choice of formats. */
const CHOICES = programs.flatMap(({ dialect, program: { formats } }) => (formats === undefined ? [] : [{ dialect, formats }]));
/** The choice of formats for a command line without a dialect, and for dialects that have no choice. */
const UNNAMED = CHOICES.find(({ formats }) => formats.unnamed !== undefined);

/** Flags that say a key of the session's configuration and no setting. */
export const SESSION_ROWS = [
  { name: "include-directories", value: "A,B", as: list, session: "directories", help: "folders that belong to the workspace, too" },
  {
    name: "fallback-model",
    value: "A,B",
    as: list,
    session: "fallbackModels",
    help: "models to ask when the server of the first is overloaded",
  },
  { name: "max-tool-calls", value: "N", as: count, session: "maxToolCalls", help: "the most tool calls of one turn" },
  { name: "max-seconds", value: "N", as: count, session: "maxSeconds", help: "the most seconds of one turn" },
  { name: "max-cost", value: "USD", as: amount, session: "maxCost", help: "the most US dollars that the session may cost" },
  { name: "subagent-depth", value: "N", as: count, session: "nesting", help: "how deep sub-agents may start others" },
] as const satisfies readonly (Flag & { session: keyof SessionConfig; as: typeof list | typeof count | typeof amount })[];

/** Flags whose value is JSON, or a file with it, in the form of the dialect's own program. */
export const TEXT_FLAGS: readonly Flag[] = [
  { name: "mcp-config", value: "JSON", help: "MCP servers of this session, as JSON or a file" },
  { name: "agents", value: "JSON", help: "sub-agents of this session, as JSON or a file" },
  { name: "settings", value: "JSON", help: "permission rules of this session: a file of settings with permissions, or its JSON" },
];

export const STRUCTURED_FLAGS: readonly Flag[] = [
  { name: "input-format", value: "FORMAT", help: `structured input: ${lineFormats(", ")} (default: text, one prompt)` },
  {
    name: "output-format",
    short: "o",
    value: "FORMAT",
    help: `structured output: ${lineFormats(", ")}, or json for one document (default: text)`,
  },
  { name: "heartbeat", value: "SECONDS", help: "with structured output: seconds between two signs of life" },
  {
    name: "include-partial-messages",
    help: `with --output-format stream-json: pieces of messages as they come, too (--dialect ${dialectsWith("include-partial-messages")})`,
  },
  {
    name: "json-schema",
    value: "JSON",
    help: `one prompt whose result has this schema; @FILE reads it (--dialect ${dialectsWith("json-schema")})`,
  },
  ...SESSION_ROWS.map(({ name, value, help }) => ({ name, value, help })),
  ...TEXT_FLAGS,
  { name: "allowed-mcp-server-names", value: "A,B", help: "the only MCP servers of the configuration to use" },
  { name: "unasked", value: "A,B", help: "further calls that run unasked: Tool or Tool(pattern)" },
  { name: "account", value: "PROVIDER", help: "", hidden: true },
  { name: "refused", value: "WHY", help: "", hidden: true },
  { name: "mode-name", value: "NAME", help: "", hidden: true },
  { name: "replay-user-messages", help: "", hidden: true },
  { name: "session-states", value: "HOW", help: "", hidden: true },
  { name: "last-message", value: "FILE", help: "", hidden: true },
  { name: "asks-nobody", help: "", hidden: true },
];

/** The dialects whose choice of formats looks at this flag. */
export function dialectsWith(flag: string): string {
  const having = CHOICES.filter(({ formats }) => formats.flags.includes(flag)).map(({ dialect }) => dialect);
  return having.join(" or ");
}

/** The formats of each dialect that are lines of its protocol. */
export function lineFormats(apart: string): string {
  return CHOICES.map(({ dialect, formats }) => `${formats.lines.join(apart)} (${dialect})`).join(apart);
}

/** The choice of formats of a command line: its dialect's, else the one without a name. */
export function choiceMeant(dialect: string | undefined): { dialect: string; formats: Formats } | undefined {
  const own = dialect === undefined ? undefined : programOf(dialect)?.formats;
  if (dialect === undefined) return UNNAMED;
  const formats = own ?? UNNAMED?.formats;
  return formats === undefined ? undefined : { dialect, formats };
}

/** The dialect that an output format means where the command line names none. */
export function unnamedDialect(format: string): string | undefined {
  return UNNAMED?.formats.unnamed !== undefined && format.startsWith(UNNAMED.formats.unnamed) ? UNNAMED.dialect : undefined;
}

/** Whether the command line asks for structured output or input. Throws where it asks for formats that do not go together. */
export function asksStructured(parsed: Parsed, { flags, problem }: Formats): boolean {
  const has = (flag: string): boolean => given(parsed, flag);
  if (![...FORMATS, ...flags].some(has)) return false;
  const choice = choiceOf(parsed);
  const refused = problem(choice);
  if (refused !== undefined) throw usage(refused);
  return choice.output !== "text" || flags.some(has);
}

function choiceOf(parsed: Parsed): FormatChoice {
  return {
    input: text(parsed, "input-format") ?? "text",
    output: text(parsed, "output-format") ?? "text",
    isNamed: given(parsed, "dialect"),
    hasPrompt: given(parsed, "print") || parsed.positionals.length > 0,
    has: (flag) => given(parsed, flag),
  };
}

/** The words of a command line that are for the wire itself. */
export function formatSwitches(parsed: Parsed): string[] {
  const named = FORMATS.flatMap((flag) => [`--${flag}`, text(parsed, flag) ?? "text"]);
  return [...named, ...wireSwitches(parsed)];
}

/** The same words for a relay, whose host may leave the formats out. */
export function relayedSwitches(parsed: Parsed): string[] {
  const named = FORMATS.flatMap((flag) => {
    const format = text(parsed, flag);
    return format === undefined ? [] : [`--${flag}`, format];
  });
  return [...named, ...wireSwitches(parsed)];
}

const WIRE_SWITCHES = ["include-partial-messages", "replay-user-messages", "session-states", "asks-nobody"];

function wireSwitches(parsed: Parsed): string[] {
  const mode = text(parsed, "mode-name");
  return [
    ...WIRE_SWITCHES.filter((flag) => given(parsed, flag)).map((flag) => `--${flag}`),
    ...(mode === undefined ? [] : ["--approval-mode", mode]),
  ];
}

/** Seconds between two signs of life. */
export function beatSecondsOf(parsed: Parsed): number | undefined {
  const every = text(parsed, "heartbeat");
  if (every === undefined) return undefined;
  const seconds = Number(every);
  if (every.trim() === "" || !(seconds > 0)) throw usage(`--heartbeat takes a number of seconds, not '${every}'`);
  return seconds;
}

/** Flags of a session that a program drives. */
export const SESSION_FLAGS: readonly string[] = [...SESSION_ROWS, ...TEXT_FLAGS].map(({ name }) => name);

/** The session flags as a session's configuration. Their reader is loaded only where one of them is given. */
export async function sessionFlags(parsed: Parsed, dialect: string): Promise<SessionConfig> {
  if (!SESSION_FLAGS.some((flag) => given(parsed, flag))) return {};
  const { askedConfig } = await import("../command-line/asked-config.js");
  return askedConfig(parsed, dialect);
}

/** Whether the command line names text for input and output: text is for people, whatever dialect is named. */
export function asksText(parsed: Parsed): boolean {
  return FORMATS.some((flag) => given(parsed, flag)) && FORMATS.every((flag) => isText(parsed, flag));
}

const FORMATS = ["input-format", "output-format"];

function isText(parsed: Parsed, flag: string): boolean {
  return !given(parsed, flag) || text(parsed, flag) === "text";
}
