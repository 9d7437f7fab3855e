/**
 * A program that speaks a dialect, as data: how it is started, recognised, configured and driven. The registry loads this data without
 * the dialect, so a `launch.ts` imports nothing heavy; its functions are pure and import other files only when called.
 */
import type { McpServer, SessionConfig } from "../../core/config.js";

export interface Program {
  /**
   * The name that hosts look for: `parley shims` writes a launcher of this name, and a start under this name takes the program's command line.
   * Programs with the same name share one command line: all their flags, short flags, words and variables.
   */
  readonly name?: string;
  /** The answer to `--version`; undefined: the name and the protocol's version. */
  readonly version?: string;
  /** Short flags, each with the long flag that it means. */
  readonly shortFlags?: Readonly<Record<string, string>>;
  /** Flags that our own command line lacks, or has with another meaning. */
  readonly flags?: readonly ForeignFlag[];
  /**
   * The program's own commands: such a word stands for these words of ours. A nested command is named with its parent, as in "exec resume".
   * The value of a flag that ends in "=" is the next plain word of the command line.
   */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** Commands of the program that are not served: the first word of its command line. */
  readonly lacks?: readonly string[];
  /** Environment variables that stand for absent flags, ours or those of `flags`. */
  readonly variables?: readonly (readonly [variable: string, flag: string])[];
  /** Exit codes of a failed start: by the code of the fault, or by the setting that the fault is about. */
  readonly exits?: Readonly<Record<string, number>>;
  /**
   * Command lines of `parley` itself that mean this program: each entry lists words that occur together. A word is
   * `--flag`, or `--flag=value`, which also matches `--flag value`.
   */
  readonly asks?: readonly (readonly string[])[];
  /**
   * Words of `parley` itself that only this dialect's wire can serve, written as in `asks`. The command line stays ours:
   * the program's flags are accepted, too, but flags of ours keep our meaning.
   */
  readonly wants?: readonly string[];

  /** The command `parley WORD` that serves this dialect. */
  readonly command?: ProgramCommand;
  /** `parley serve` speaks this dialect by default. One program of the registry sets it. */
  readonly servesByDefault?: true;
  /** The host opens all its sessions on the wire; otherwise the command line opens the session. */
  readonly opensOnWire?: true;
  /** Words by which a host asks its program for this protocol. A relay drops them, as it speaks the protocol anyway. */
  readonly hostWords?: HostWords;
  /** The choice of formats by flags. */
  readonly formats?: Formats;
  /** A process of this dialect is one turn, which may come in its environment. */
  readonly turn?: TurnInEnvironment;
  /** The MCP servers in the program's own settings. */
  readonly servers?: OwnServers;
  /** Our flags whose value is a JSON text of the session's config, in this program's form, or names a file with it. */
  readonly texts?: Readonly<Record<string, TextReader>>;
  /** Words of ours for flags of the program that its command line lacks. */
  readonly absent?: readonly (readonly [flag: string, words: readonly string[]])[];

  /** The way in which an agent of this dialect is driven. */
  readonly drive?: DrivenProgram;
}

/** `value`: the flag takes a value; `optional`: it may. `means`: our flags for it; a flag without a meaning is accepted and ignored. */
export interface ForeignFlag {
  readonly name: string;
  readonly value?: string;
  readonly optional?: true;
  readonly means?: (value: string) => readonly string[];
  /** Accepted without a message on stderr: the flag describes the host, or is always fulfilled. */
  readonly quiet?: true;
}

/** Rejects with the problem. */
export type TextReader = (json: string) => Promise<ReadText>;

/** `unused`: keys of the text that change nothing here. */
export interface ReadText {
  config: SessionConfig;
  unused?: readonly string[];
}

export interface ProgramCommand {
  readonly word: string;
  readonly summary: string;
  readonly details?: string;
  /** The command also serves WebSockets: `--ws HOST:PORT`. */
  readonly overWebSockets?: true;
}

interface HostWords {
  /** The program's command, as in `ante serve`. Default: the word of `command`. */
  readonly command?: string;
  readonly switches?: readonly string[];
  /** The program ignores words other than flags. */
  readonly ignoresWords?: true;
}

export interface Formats {
  /** Values of `--input-format` and `--output-format` that mean lines of this protocol; a relay accepts no others. */
  readonly lines: readonly string[];
  /** Values of `--output-format` that mean one document or value at the end; a failure is reported in that form, too. */
  readonly documents?: readonly string[];
  /** Further flags that influence this choice. */
  readonly flags: readonly string[];
  /** Without `--dialect`, an output format with this beginning means this dialect. One program of the registry sets it. */
  readonly unnamed?: string;
  /** The reason for refusing a choice; undefined for a valid one. */
  problem(choice: FormatChoice): string | undefined;
  /** The record for a prompt of the command line. */
  promptRecord(prompt: string): unknown;
  /** The text of a record that is a message of the agent, where a flag has the last one written to a file. */
  messageIn?(record: unknown): string | undefined;
}

export interface FormatChoice {
  /** "text" if the command line does not say. */
  readonly input: string;
  readonly output: string;
  /** `--dialect` is given. */
  readonly isNamed: boolean;
  /** The command line has a prompt. */
  readonly hasPrompt: boolean;
  has(flag: string): boolean;
}

export interface TurnInEnvironment {
  /** All variables of a turn. No agent that we start inherits them. */
  readonly variables: readonly string[];
  /** Any of these means that the environment has a turn. */
  readonly signs: readonly string[];
  /** The message to a person who starts it in a terminal. */
  readonly missing: string;
}

export interface OwnServers {
  /** The variable that names the folder of the program's settings, and its default folder in the user's home. */
  readonly variable: string;
  readonly folder: string;
  readonly file: string;
  /** `path` is for messages. An unreadable file gives a warning and no servers. */
  read(path: string, text: string): Promise<{ servers: Servers; warnings: string[] }>;
}

export type Servers = Record<string, Omit<McpServer, "type"> & { type?: "stdio" | "http" | "streamable-http" | "sse" }>;

interface DrivenProgram {
  /** The default command of a relay; the dialect adds its arguments to a given command. */
  readonly command?: readonly string[];
  /** The name under which a relay keeps the agent's sessions. Default: the dialect's id. */
  readonly sessions?: string;
  /** Revisions that a flag of `parley relay` may choose. */
  readonly revisions?: { readonly flag: string; readonly value: string; readonly names: readonly string[]; readonly help: string };
}
