/**
 * A program that speaks a dialect, as data: how it is started, recognised, configured and driven. The registry reads these values without
 * loading the dialect, so a `launch.ts` imports nothing heavy; functions in it are pure, and load other files only when they are called.
 */
import type { McpServer } from "../../core/config.js";

export interface Program {
  /**
   * The name that hosts look for: `parley shims` writes a launcher of this name, and a start under it takes this program's command line.
   * Programs of one name share one command line: the flags, short flags, words and variables of all of them.
   */
  readonly name?: string;
  /** The answer to `--version`, where it is not the name and the version of the protocol. */
  readonly version?: string;
  /** Short flags, each with the long flag that it means. */
  readonly shortFlags?: Readonly<Record<string, string>>;
  /** Flags that this program has and our command line has not, or has with another meaning. */
  readonly flags?: readonly ForeignFlag[];
  /** The program's own commands: such a word of its command line becomes these words of ours. A command below another is named with it, as in "exec resume". */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Environment variables that stand for flags which are not given: flags of ours, or of `flags`. */
  readonly variables?: readonly (readonly [variable: string, flag: string])[];
  /** Exit codes of a start that fails: by the code of the fault, or by the setting that the fault is about. */
  readonly exits?: Readonly<Record<string, number>>;
  /**
   * Command lines under the name `parley` that are written for this program: one entry lists the words that stand together. A word is
   * `--flag`, or `--flag=value`, which `--flag value` matches, too.
   */
  readonly asks?: readonly (readonly string[])[];
  /**
   * Words under the name `parley` that only the wire of this dialect can fulfil. They are written as in `asks`. The command line stays ours:
   * this program's flags are taken, too, but a flag that we have means what it means to us.
   */
  readonly wants?: readonly string[];

  /** The command `parley WORD` that serves this dialect. */
  readonly command?: ProgramCommand;
  /** `parley serve` speaks this dialect where none is named. One program of the registry says so. */
  readonly servesByDefault?: true;
  /** The host opens its sessions on the wire and says there all of them; otherwise the command line opens the session. */
  readonly opensOnWire?: true;
  /** Words by which a host asks its program for the protocol. A relay speaks the protocol anyway, and drops them. */
  readonly hostWords?: HostWords;
  /** The choice of formats on the command line. */
  readonly formats?: Formats;
  /** A process of this dialect is one turn, and its environment may bring that turn. */
  readonly turn?: TurnInEnvironment;
  /** MCP servers that the program's own settings name. */
  readonly servers?: OwnServers;
  /** Reads the JSON of `--mcp-config`. Rejects with the problem. */
  readonly mcpConfig?: (json: string) => Promise<Record<string, McpServer>>;

  /** How an agent of this dialect is driven. */
  readonly drive?: DrivenProgram;
}

/** `value`: the flag takes one; `optional`: it may. `means`: our words for it; a flag without a meaning is accepted and changes nothing. */
export interface ForeignFlag {
  readonly name: string;
  readonly value?: string;
  readonly optional?: true;
  readonly means?: (value: string) => readonly string[];
  /** Accepted without a word on stderr: the flag describes the host, or its wish is always fulfilled. */
  readonly quiet?: true;
}

export interface ProgramCommand {
  readonly word: string;
  readonly summary: string;
  readonly details?: string;
  /** The command also serves over WebSockets: `--ws HOST:PORT`. */
  readonly overWebSockets?: true;
}

interface HostWords {
  /** The program's command, as in `ante serve`. Default: the word of `command`. */
  readonly command?: string;
  readonly switches?: readonly string[];
  /** The program ignores words beside its flags. */
  readonly ignoresWords?: true;
}

export interface Formats {
  /** Values of `--input-format` and `--output-format` that are lines of this protocol; a relay accepts no others. */
  readonly lines: readonly string[];
  /** Values of `--output-format` that are one document or value at the end; a failure is reported in that form, too. */
  readonly documents?: readonly string[];
  /** Flags that this choice looks at, beside the two formats. */
  readonly flags: readonly string[];
  /** Without `--dialect`, an output format with this beginning means this dialect. One program of the registry says so. */
  readonly unnamed?: string;
  /** The reason why a choice is refused; undefined where it is right. */
  problem(choice: FormatChoice): string | undefined;
  /** The record of a prompt that the command line brings. */
  promptRecord(prompt: string): unknown;
}

export interface FormatChoice {
  /** "text" where the command line does not say. */
  readonly input: string;
  readonly output: string;
  /** `--dialect` is there. */
  readonly isNamed: boolean;
  /** The command line brings a prompt. */
  readonly hasPrompt: boolean;
  has(flag: string): boolean;
}

export interface TurnInEnvironment {
  /** Every variable that belongs to a turn. No agent that we start inherits them. */
  readonly variables: readonly string[];
  /** Any of these tells that a turn is there. */
  readonly signs: readonly string[];
  /** The answer to a person who starts it in a terminal. */
  readonly missing: string;
}

export interface OwnServers {
  /** The variable that names the folder of the program's settings, and the folder in the user's home without it. */
  readonly variable: string;
  readonly folder: string;
  readonly file: string;
  /** `path` is for messages. A file that cannot be used is a warning and no servers. */
  read(path: string, text: string): Promise<{ servers: Servers; warnings: string[] }>;
}

export type Servers = Record<string, Omit<McpServer, "type"> & { type?: "stdio" | "http" | "streamable-http" | "sse" }>;

interface DrivenProgram {
  /** The command of a relay that names none. Where one is named, the dialect adds its arguments to that. */
  readonly command?: readonly string[];
  /** The name under which a relay keeps the agent's sessions. Default: the dialect's id. */
  readonly sessions?: string;
  /** Revisions that a user may choose by a flag of `parley relay`. */
  readonly revisions?: { readonly flag: string; readonly value: string; readonly names: readonly string[]; readonly help: string };
}
