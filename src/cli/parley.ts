/** The entry of the command: finds the command, parses its flags, and sets the exit code. Other code is loaded when it is needed. */
import { type Fault, ParleyError, systemCode, toFault } from "../core/errors.js";
import { systemTrouble, withRemedy } from "../core/remedies.js";
import { dialectIds, loadDialect, programOf } from "../dialects/index.js";
import { RESUME, type Command } from "./command-line/commands.js";
import { exitCode } from "./command-line/exit-code.js";
import { commandOf, commandsBelow, helpTopic, isAccepted, isCommand, isFlag, misspelt, withCommand } from "./command-line/find-command.js";
import { beforeDashes, COMMON_FLAGS, given, parseFlags, usage, withBareValues } from "./command-line/flags.js";
import { inOurWords, hostProgramAsked, hostProgramNamed } from "./command-line/host-program.js";
import { formatIn } from "./one-shot/flags.js";
import { relayedProgram, relayWords } from "./relay/words.js";
import { unnamedDialect } from "./serve/structured-flags.js";
import { telemetryOf } from "./compose/telemetry.js";
import { VERSION } from "./version.js";
import { homeOf } from "../os/files/home.js";
import { watchOutput } from "./compose/watch-output.js";

async function main(argv: readonly string[]): Promise<number> {
  const topic = helpTopic(argv);
  if (topic !== undefined) return say(await help(topic));
  const { command, words: rest } = commandOf(argv);
  const parsed = parseFlags(prepared(command, rest), [...command.flags, ...COMMON_FLAGS], command);
  if (given(parsed, "help")) return say(await help(command));
  if (given(parsed, "version")) return say(`${await versionText()}\n`);
  const meant = misspelt(command, parsed);
  if (meant !== undefined && (await isAccepted(meant, parsed))) return main(withCommand(argv, meant));
  const extra = parsed.positionals[command.positionals];
  if (extra !== undefined && command.ignoresOthers !== true)
    throw usage(`Unexpected argument '${extra}'${command.name === "" ? ": quote a prompt of several words" : ""} (see --help)`);
  return command.run(parsed, telemetry);
}

/** Translates the command line of another program, under whose name or with whose words we were started. */
function ownWords(argv: readonly string[]): string[] {
  if (argv[0] === "relay") return relayWords(argv, changesNothing);
  const asked = hostProgramAsked(argv, program, isCommand);
  if (asked === undefined) return [...argv];
  return inOurWords(argv, asked, process.env, isCommand, changesNothing, isFlag);
}

function changesNothing(flag: string): void {
  process.stderr.write(`parley: ${flag} changes nothing here\n`);
}

/** The version text: in the original's form under its name. */
async function versionText(): Promise<string> {
  const named = program ?? (words[0] === "relay" ? relayedProgram(words) : undefined);
  if (named === undefined) return `parley ${VERSION}`;
  if (named.version !== undefined) return named.version;
  return `${named.name} ${(await loadDialect(named.dialect)).version}`;
}

/** Some flags may stand without a value. */
function prepared(command: Command, argv: readonly string[]): string[] {
  const ours = beforeDashes(argv).length;
  if (command.name === "relay") {
    return argv.map((arg, index) => (arg === "--report" && index < ours && argv[index + 1] !== "json" ? "--report=text" : arg));
  }
  return argv.includes("--json-stream") ? [...argv] : withBareValues(argv, command.flags);
}

async function help(command: Command): Promise<string> {
  const { helpText } = await import("./command-line/help.js");
  return helpText({ ...command, flags: [...command.flags, ...COMMON_FLAGS] }, commandsBelow(command), process.stdout.columns);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Reports a wrong command line to a host in its own protocol. */
async function report(error: unknown): Promise<number> {
  const fault = toFault(error);
  const format = ["", RESUME].includes(commandOf(words).command.name) ? formatIn(beforeDashes(words)) : undefined;
  if (format !== undefined) (await import("./one-shot/output.js")).writeRefusal(format, fault);
  const dialect = format === undefined ? spokenDialect(words) : undefined;
  if (dialect !== undefined) {
    const { refuseToStart } = await import("./compose/protocol-stdout.js");
    const loaded = await loadDialect(dialect);
    const own = await refuseToStart(loaded.startedIn?.(process.env) ?? loaded, fault, spokenSwitches(words, dialect));
    return own ?? exitCode(fault);
  }
  process.stderr.write(`parley: ${told(error, fault)}\n`);
  if (!(error instanceof ParleyError) && systemCode(error) === undefined && error instanceof Error && error.stack !== undefined)
    process.stderr.write(`${error.stack}\n`);
  return exitCode(fault, program?.exits);
}

/** The words for people. An error of the system that no room has explained gets its path and its remedy. */
function told(error: unknown, fault: Fault): string {
  if (error instanceof ParleyError || !(error instanceof Error) || systemCode(error) === undefined) return withRemedy(fault);
  return systemTrouble(error, home());
}

/** Undefined where the environment names none, or the working folder is gone. */
function home(): string | undefined {
  try {
    return homeOf(process.env, process.cwd());
  } catch {
    return undefined;
  }
}

/** The dialect of the host that started us, read off a command line that may be wrong elsewhere; undefined for people. */
function spokenDialect(argv: readonly string[]): string | undefined {
  const { command, words: rest } = commandOf(argv);
  const ours = beforeDashes(rest);
  if (command.name === "relay") return knownDialect(lastValue(ours, "--as"));
  if (command.name !== "" && command.dialect === undefined) return undefined;
  const has = (flag: string): boolean => command.flags.some(({ name }) => name === flag);
  if (has("ws") && ours.some((word) => word === "--ws" || word.startsWith("--ws="))) return undefined;
  const named = has("dialect") ? lastValue(ours, "--dialect") : undefined;
  if (named !== undefined) return knownDialect(named);
  return command.dialect ?? unnamedDialect(lastValue(ours, "--output-format") ?? "");
}

function knownDialect(id: string | undefined): string | undefined {
  return id !== undefined && dialectIds.includes(id) ? id : undefined;
}

/** The time that a finished command has to close its handles. */
const FORGOTTEN_MS = 2000;

/** Runs the command until all its output is written. */
async function run(): Promise<void> {
  process.exitCode = await main(words).catch(report);
  const isSent = await telemetry.end();
  // After the output is read, a handle that was not closed must not keep the process alive.
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write("", resolve))));
  if (!isSent) process.exit();
  setTimeout(() => process.exit(), FORGOTTEN_MS).unref();
  // We exit at once: Node would take its heap apart piece by piece.
  process.once("beforeExit", () => process.exit());
}

/** A run whose output is one document or value reports a failure in that form, too: a document, or no output at all where it is a text. */
function spokenSwitches(argv: readonly string[], dialect: string): string[] | undefined {
  const documents = programOf(dialect)?.formats?.documents ?? [];
  const ours = beforeDashes(argv);
  const format = lastValue(ours, "--output-format") ?? lastValue(ours, "-o") ?? "text";
  if (commandOf(argv).command.name !== "" || !documents.includes(format)) return undefined;
  const isOnePrompt = (lastValue(ours, "--input-format") ?? "text") === "text";
  return format !== "text" || isOnePrompt ? ["--output-format", format] : undefined;
}

function lastValue(argv: readonly string[], flag: string): string | undefined {
  return argv
    .flatMap((word, at) => (word === flag ? [argv[at + 1] ?? ""] : word.startsWith(`${flag}=`) ? [word.slice(flag.length + 1)] : []))
    .at(-1);
}

watchOutput();
const program = hostProgramNamed(process.argv[1]);
const words = ownWords(process.argv.slice(2));
const telemetry = telemetryOf(process.env, (line) => process.stderr.write(`parley: ${line}\n`));
void run();
